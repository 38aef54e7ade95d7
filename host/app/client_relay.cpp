#include "app/client_relay.hpp"

#include "app/look_for_host.hpp"
#include "gateway/answers.hpp"

#include <string>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::chrono::seconds kLastWords{1};  // then nobody reads them

}  // namespace

ClientRelay::ClientRelay(Session& session, HostLine& line)
    : session_(session),
      line_(line),
      input_(session.host().loop(), STDIN_FILENO, LineInput::Overlong::IsSkipped),
      output_(
          session.host().loop(), {nullptr, LineOutput::Unread::Waits, session.signals()},
          [this] { advance(); }, [](const std::string&, std::size_t) {}),
      look_(session.host().loop()) {}

int ClientRelay::run() {
    line_.listen(
        [this](std::string_view message) {
            heard_ = true;
            output_.put(std::string(message));
            advance();
        },
        [this] { advance(); });
    input_.begin([this] { advance(); });
    look_later();
    session_.wait([this] { return over(); }, [this] { interrupted_ = true; });
    output_.finish(kLastWords);
    session_.close();
    if (interrupted_) return session_.code_of_end();
    if (input_.failed() || output_.lost()) return kFailure;
    if (sent_all_ && !silent_) return kOk;
    return session_.report({ErrorCode::Unavailable, "the running host (pid " +
                                                        std::to_string(line_.welcome().pid) + ") " +
                                                        (silent_ ? "does not answer" : "has gone") +
                                                        "; with --alone serve needs none"});
}

bool ClientRelay::over() const {
    return interrupted_ || silent_ || output_.lost() || (line_.gone() && output_.written());
}

void ClientRelay::advance() {
    while (!line_.crowded() && !sent_all_) {
        const auto message = input_.next();
        if (!message) break;
        if (*message)
            line_.put(std::string(**message));
        else
            output_.put(
                gateway::error_answer({}, gateway::kParseError, message->error().message).message);
    }
    input_.pause(line_.crowded());
    line_.pause(output_.crowded());
    if (input_.over() && !std::exchange(sent_all_, true)) line_.end_input();
}

// It may just have nothing to say.
void ClientRelay::look_later() {
    look_.start(kLook, [this] {
        if (!std::exchange(heard_, false) && !still_answers(session_, line_))
            silent_ = true;
        else
            look_later();
    });
}

}  // namespace patchbay::app
