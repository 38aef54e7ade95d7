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
    if (hold_key(wanted.key())) return true;
    if (wanted.method != "resources/subscribe") return false;
    auto more = wanted;
    more.method = "resources/read";
    return hold_key(more.key());
}

bool SessionApprovals::hold_key(const std::string& key) const {
    return std::find(given_.begin(), given_.end(), key) != given_.end();
}

void SessionApprovals::add(const Approvable& wanted) {
    auto key = wanted.key();
    if (hold_key(key)) return;
    given_.push_back(std::move(key));
    if (given_.size() > kMost) given_.pop_front();
}

}  // namespace patchbay::connection
