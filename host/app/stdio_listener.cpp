#include "app/stdio_listener.hpp"

#include "core/log.hpp"

#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::chrono::seconds kLastWords{1};  // then nobody reads them

void tell_dropped(const std::string& from, std::size_t count) {
    core::log::warn("the client did not read: " + std::to_string(count) + " notifications of " +
                    from + " were dropped");
}

// A client that its user has configured asks that user itself before it calls a tool; what is denied
// stays denied.
core::Principal principal() {
    return {core::Principal::Kind::Client, {}, "stdio", core::Trust::Approves};
}

}  // namespace

StdioListener::StdioListener(Session& session, gateway::View view)
    : session_(session),
      input_(session.host().loop(), STDIN_FILENO, LineInput::Overlong::IsSkipped),
      output_(
          session.host().loop(), {nullptr, LineOutput::Unread::Waits, session.signals()},
          [this] { advance(); }, tell_dropped),
      client_({session.host().callers(), session.servers(), session.host().catalogue(), *this,
               std::move(view)},
              principal(), connection::Responder(session.host().config().client, {}),
              PATCHBAY_VERSION),
      last_answers_(session.host().loop()) {}

int StdioListener::run() {
    input_.begin([this] { advance(); });
    session_.wait([this] { return (done_ && output_.written()) || output_.lost(); },
                  [this] { hurry(); });
    client_.end_streams();
    output_.finish(kLastWords);
    session_.close();
    if (session_.was_interrupted()) return session_.code_of_end();
    return input_.failed() || output_.lost() ? kFailure : kOk;
}

void StdioListener::send(std::string message) {
    output_.put(std::move(message));
    // It may have been the last that the client waits for.
    if (input_.over()) session_.host().loop().defer(lifetime_.guard([this] { advance(); }));
}

void StdioListener::send_event(const std::string& from, std::string message, gateway::Route) {
    output_.put_event(from, std::move(message));
}

void StdioListener::advance() {
    while (!output_.crowded()) {
        const auto line = input_.next();
        if (!line) break;
        if (!*line)
            client_.take_unreadable(line->error());
        else if ((*line)->find_first_not_of(" \t\r") != std::string_view::npos)
            client_.take(**line);
    }
    input_.pause(output_.crowded());
    if (!input_.over()) return;
    done_ = client_.idle();
    if (!std::exchange(ending_, true)) last_answers_.start(kLastAnswers, [this] { hurry(); });
}

// What is not answered, or not read, by now is not waited for.
void StdioListener::hurry() {
    input_.stop();
    session_.host().interrupt();
}

}  // namespace patchbay::app
