#include "connection/approval.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::connection {
using config::Level;

// With the definition: a tool that is described otherwise than when a person said yes is another one. The
// sign keeps a tool apart from a method of its name.
std::string Approvable::key() const {
    return server + "\n" + (tool.empty() ? method : "=" + tool) + "\n" + definition;
}

bool Approvable::may_set(Level level) const {
    return std::find(levels.begin(), levels.end(), level) != levels.end();
}

bool is_given(Approval approval) {
    return approval <= Approval::Always;
}

Level level_of(Approval approval) {
    switch (approval) {
        case Approval::ForSession:
            return Level::AllowSession;
        case Approval::ForProject:
            return Level::AllowProject;
        case Approval::Always:
            return Level::AllowAlways;
        default:
            return Level::AllowOnce;
    }
}

Approval approval_for(Level level) {
    switch (level) {
        case Level::AllowOnce:
            return Approval::Given;
        case Level::AllowSession:
            return Approval::ForSession;
        case Level::AllowProject:
            return Approval::ForProject;
        case Level::AllowAlways:
            return Approval::Always;
        default:
            return Approval::Refused;
    }
}

bool SessionApprovals::hold(const Approvable& wanted) const {
    if (hold(wanted, wanted.method)) return true;
    return wanted.method == "resources/subscribe" && hold(wanted, "resources/read");
}

// Of a tool there is one method, so that its name alone counts.
bool SessionApprovals::hold(const Approvable& wanted, const std::string& method) const {
    return std::any_of(given_.begin(), given_.end(), [&](const SessionApproval& each) {
        return each.server == wanted.server && each.tool == wanted.tool &&
               (!wanted.tool.empty() || each.method == method) &&
               each.definition == wanted.definition;
    });
}

void SessionApprovals::add(const Approvable& wanted) {
    if (hold(wanted, wanted.method)) return;
    given_.push_back({wanted.server, wanted.tool, wanted.method, wanted.definition,
                      core::machine_time().date()});
    if (given_.size() > kMost) given_.pop_front();
}

std::size_t SessionApprovals::forget(const std::function<bool(const SessionApproval&)>& these) {
    return std::erase_if(given_, these);
}

}  // namespace patchbay::connection
