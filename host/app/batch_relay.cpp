#include "app/batch_relay.hpp"

#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "core/json.hpp"

#include <string>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::string_view kLastLine = "{\"event\":\"end\",";

}  // namespace

BatchRelay::BatchRelay(Session& session, int input, HostLine& line)
    : session_(session),
      line_(line),
      input_(session.host().loop(), input),
      output_(session.host().loop(), {nullptr, LineOutput::Unread::Waits, session.signals()},
              [this] { advance(); }),
      last_answers_(session.host().loop()),
      silence_(session, line, [this] { fail(); }),
      approvals_(session.host().loop(), line, session.approval_asker()) {}

int BatchRelay::run() {
    line_.listen([this](std::string_view answer) { take(answer); }, [this] { advance(); });
    input_.begin([this] { advance(); });
    silence_.begin();
    session_.wait([this] { return over(); }, [this] { interrupt(); });
    session_.close();
    output_.finish(kLastWords);
    if (interrupted_) return kInterrupted;
    return failed_ || output_.told_errors() || input_.failed() || output_.lost() ? kFailure : kOk;
}

void BatchRelay::advance() {
    while (!line_.crowded() && !sent_all_) {
        const auto line = input_.next();
        if (!line) break;
        if (*line)
            line_.put(std::string(**line));
        else
            output_.line_error("null", line->error(), input_.line_number());
    }
    input_.pause(line_.crowded());
    line_.pause(output_.crowded());
    if (input_.over() && !std::exchange(sent_all_, true)) line_.end_input();
    if (line_.gone()) fail();
}

void BatchRelay::fail() {
    if (std::exchange(ended_, true)) return;
    failed_ = true;
    sent_all_ = true;
    input_.stop();
    say("error: " + lost_host(line_) +
        ", and what was not answered is lost; with --alone a batch needs none");
}

void BatchRelay::take(std::string_view answer) {
    silence_.heard();
    if (approvals_.take(answer)) return;
    if (!answer.starts_with(kLastLine)) return output_.line(std::string(answer));
    ended_ = true;
    const auto told = core::parse_json_object(answer);
    failed_ = !told || core::flag_in(&*told, "failed") != false;
    const auto* warnings = told ? core::array_in(&*told, "warnings") : nullptr;
    if (!warnings || interrupted_ || session_.global().quiet) return;
    for (const auto& each : *warnings) say(core::text_of(each).value_or(""));
}

// The host answers what is in flight; nothing more is read here.
void BatchRelay::interrupt() {
    if (std::exchange(interrupted_, true)) return;
    sent_all_ = true;
    input_.stop();
    interrupt_guest(session_, line_, "interrupted by the user");
    last_answers_.start(kLastAnswers, [this] { session_.host().interrupt(); });
}

}  // namespace patchbay::app
