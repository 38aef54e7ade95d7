#include "service/decisions.hpp"

#include "core/log.hpp"
#include "core/time_source.hpp"
#include "service/statuses.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::service {
using config::Level;

std::string subject_of(const core::Principal& asker) {
    using Kind = core::Principal::Kind;
    const bool typed = asker.kind == Kind::Person || asker.kind == Kind::Batch;
    if (typed) return "terminal";
    return std::string(core::name_of(asker.kind)) + (asker.id.empty() ? "" : " " + asker.id);
}

bool Decisions::counts_here(const Decision& decision) const {
    return decision.project.empty() || decision.project == project_;
}

bool Decisions::allow(const connection::Approvable& wanted, const core::Principal& asker) {
    const auto all = file_.all();
    if (!all) {
        if (std::exchange(told_, all.error().message) != all.error().message)
            core::log::warn(all.error().message);
        return false;
    }
    told_.clear();
    const auto subject = subject_of(asker);
    return std::any_of((*all)->begin(), (*all)->end(), [&](const Decision& each) {
        const bool same = wanted.tool.empty() ? each.request == wanted.method
                                              : each.tool == wanted.tool && each.request.empty();
        return same && each.server == wanted.server && each.subject == subject &&
               each.definition == wanted.definition && counts_here(each);
    });
}

std::vector<Level> Decisions::levels(const core::Principal&) const {
    if (!file_.can_keep()) return {};
    if (project_.empty()) return {Level::AllowAlways};
    return {Level::AllowProject, Level::AllowAlways};
}

Result<void> Decisions::keep(const connection::Approvable& wanted, Level level,
                             const core::Principal& asker) {
    Decision decision;
    decision.server = wanted.server;
    decision.tool = wanted.tool;
    if (wanted.tool.empty()) decision.request = wanted.method;
    decision.level = level;
    if (level == Level::AllowProject) decision.project = project_;
    decision.subject = subject_of(asker);
    decision.by = core::to_string(asker);
    decision.when = time_of(core::machine_time().date());
    decision.definition = wanted.definition;
    return file_.keep(std::move(decision));
}

}  // namespace patchbay::service
