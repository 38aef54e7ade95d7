#include "app/running_snapshot.hpp"

#include "service/servers.hpp"

#include <utility>

namespace patchbay::app {

RunningSnapshot::RunningSnapshot(config::Config& config, policy::Policy& policy,
                                 connection::ConnectionPool& connections)
    : config_(config),
      policy_(policy),
      connections_(connections),
      now_(registry::snapshot_of(config)) {}

registry::Plan RunningSnapshot::plan(const registry::Snapshot& wanted) const {
    return registry::plan(*now_, wanted, service::listed_tools(connections_));
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
    // In place, and first: whoever borrows it looks at what the new connections are made of.
    config_ = wanted->config;
    policy_ = policy::Policy(config_.permissions, config_.servers);
    before_ = std::exchange(now_, wanted);
    ++number_;
    // Last: whoever hears of what that ends may move on from here.
    connections_.apply(wanted->specs);
    return planned;
}

}  // namespace patchbay::app
