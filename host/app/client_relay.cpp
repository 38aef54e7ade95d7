#include "app/client_relay.hpp"

#include "gateway/answers.hpp"

#include <string>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

ClientRelay::ClientRelay(Session& session, HostLine& line)
    : session_(session),
      line_(line),
      input_(session.host().loop(), STDIN_FILENO, LineInput::Overlong::IsSkipped),
      output_(
          session.host().loop(), {nullptr, LineOutput::Unread::Waits, session.signals()},
          [this] { advance(); }, [](const std::string&, std::size_t) {}),
      silence_(session, line, [] {}) {}

int ClientRelay::run() {
    line_.listen(
        [this](std::string_view message) {
            silence_.heard();
            output_.put(std::string(message));
            advance();
        },
        [this] { advance(); });
    input_.begin([this] { advance(); });
    silence_.begin();
    session_.wait([this] { return over(); }, [this] { interrupted_ = true; });
    output_.finish(kLastWords);
    session_.close();
    if (interrupted_) return session_.code_of_end();
    if (input_.failed() || output_.lost()) return kFailure;
    if (sent_all_ && !silence_.silent()) return kOk;
    return session_.report(
        {ErrorCode::Unavailable, lost_host(line_) + "; with --alone serve needs none"});
}

bool ClientRelay::over() const {
    return interrupted_ || silence_.silent() || output_.lost() ||
           (line_.gone() && output_.written());
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

}  // namespace patchbay::app
