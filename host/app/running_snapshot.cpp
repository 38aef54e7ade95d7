#include "app/running_snapshot.hpp"

#include <utility>

namespace patchbay::app {

registry::KnownTools listed_tools(connection::ConnectionManager& connections) {
    registry::KnownTools known;
    for (const auto& id : connections.ids()) {
        const auto& connection = connections.find(id).value().get();
        if (connection.state() != connection::State::Ready || connection.tools_error()) continue;
        auto& names = known[id];
        for (const auto& tool : connection.tools()) names.push_back(tool.name);
    }
    return known;
}

RunningSnapshot::RunningSnapshot(connection::ConnectionManager& connections, policy::Policy& policy,
                                 router::Router& router, Pointer first)
    : connections_(connections), policy_(policy), router_(router), now_(std::move(first)) {}

registry::Plan RunningSnapshot::plan(const registry::Snapshot& wanted) const {
    return registry::plan(*now_, wanted, listed_tools(connections_));
}

Result<registry::Plan> RunningSnapshot::apply(Pointer wanted) {
    // A broken enterprise file denies everything, here too.
    if (!wanted->config.stop.empty() && !wanted->config.deny_all)
        return Error{ErrorCode::Invalid, wanted->config.stop};
    return move_to(std::move(wanted));
}

Result<registry::Plan> RunningSnapshot::rollback() {
    if (!before_) return Error{ErrorCode::NotFound, "there is no configuration to go back to"};
    return move_to(before_);
}

registry::Plan RunningSnapshot::move_to(Pointer wanted) {
    auto planned = plan(*wanted);
    policy_ = policy::Policy(wanted->config.permissions);
    connections_.apply(wanted->specs);
    // It points at connections that are gone, and holds verdicts of the old rules.
    router_.forget_index();
    before_ = std::exchange(now_, std::move(wanted));
    return planned;
}

}  // namespace patchbay::app
