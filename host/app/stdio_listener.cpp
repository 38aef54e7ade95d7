#include "app/stdio_listener.hpp"

#include <chrono>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

StdioListener::StdioListener(Session& session, gateway::View view)
    : session_(session),
      input_(session.host().loop(), STDIN_FILENO, LineInput::Overlong::IsSkipped),
      last_answers_(session.host().loop()),
      client_({session.host(),
               input_,
               {nullptr, LineOutput::Unread::Waits, session.signals()},
               std::move(view),
               ClientLines::Others::None,
               [this] { look(); }}) {}

int StdioListener::run() {
    client_.begin();
    session_.wait([this] { return client_.over(); }, [this] { hurry(); });
    client_.end_streams();
    client_.finish(kLastWords);
    session_.close();
    if (session_.was_interrupted()) return session_.code_of_end();
    return client_.failed() ? kFailure : kOk;
}

void StdioListener::look() {
    if (input_.over() && !std::exchange(ending_, true))
        last_answers_.start(ClientLines::kLastAnswers, [this] { hurry(); });
}

// What is not answered, or not read, by now is not waited for.
void StdioListener::hurry() {
    input_.stop();
    session_.host().interrupt();
}

}  // namespace patchbay::app
