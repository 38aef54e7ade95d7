// The snapshot that a host runs by, and the one before: moves configuration, policy and connections
// from one to the next within one turn of the loop, so that no call sees half of each.
//
// Owns:    the two snapshots. Borrows the rest, which must outlive it.
// Threads: [loop].
// Errors:  Invalid for a configuration that may not run, NotFound when there is none before; then
//          nothing has changed.
#pragma once

#include "connection/connection_pool.hpp"
#include "policy/policy.hpp"
#include "registry/plan.hpp"

#include <cstdint>
#include <memory>

namespace patchbay::app {

class RunningSnapshot {
public:
    using Pointer = std::shared_ptr<const registry::Snapshot>;

    // `config`: what the others were made of.
    RunningSnapshot(config::Config& config, policy::Policy& policy,
                    connection::ConnectionPool& connections);

    const Pointer& now() const { return now_; }
    std::uint64_t number() const { return number_; }  // counts the moves; the first one is 1
    // Tools as the servers have listed them.
    registry::Plan plan(const registry::Snapshot& wanted) const;
    Result<registry::Plan> apply(Pointer wanted);
    Result<registry::Plan> rollback();

private:
    registry::Plan move_to(Pointer wanted);

    config::Config& config_;
    policy::Policy& policy_;
    connection::ConnectionPool& connections_;
    Pointer now_, before_;
    std::uint64_t number_ = 1;
};

}  // namespace patchbay::app
