#include "app/host_approvals.hpp"

#include "app/host_silence.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "core/json.hpp"

#include <string>

namespace patchbay::app {

bool HostApprovals::take(std::string_view line) {
    if (!line.starts_with("{\"event\":\"approve\",")) return false;
    const auto told = core::parse_json_object(line);
    const auto number = core::integer_in(told ? &*told : nullptr, "approval");
    if (!number) return true;
    const auto text = core::text_in(&*told, "text");
    if (!text) {
        questions_.erase(*number);
        return true;
    }
    ApprovalQuestion question{std::string(*text), {}, {}};
    if (const auto* levels = core::array_in(&*told, "levels"))
        for (const auto& each : *levels)
            if (const auto level = config::level_from(core::text_of(each).value_or("")))
                question.levels.push_back(*level);
    question.key = core::text_in(&*told, "key").value_or("");
    if (!ask_) return answer(*number, connection::Approval::Refused), true;
    // It may be answered at once; a question that is kept is withdrawn with us.
    auto asked = ask_(std::move(question),
                      lifetime_.guard([this, number = *number](connection::Approval approval) {
                          answer(number, approval);
                      }));
    if (asked) questions_[*number] = std::move(asked);
    return true;
}

void HostApprovals::answer(std::int64_t number, connection::Approval approval) const {
    std::string members = ",\"approval\":" + std::to_string(number);
    if (connection::is_given(approval))
        members +=
            ",\"level\":\"" + std::string(config::name_of(connection::level_of(approval))) + "\"";
    if (!tell_guest(loop_, line_, "host/approve", members, kAlive))
        say("warning: " + lost_host(line_) + ", so the approval did not reach it");
}

}  // namespace patchbay::app
