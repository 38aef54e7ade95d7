// Tools by their public names: which server to bring up for one, and why there is none. Internal to
// this room.
//
// Owns:    the index. Borrows pool, policy and catalogue.
// Threads: [loop].
#pragma once

#include "connection/connection_pool.hpp"
#include "policy/policy.hpp"
#include "router/router.hpp"
#include "router/tool_index.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::router {

class ToolFinder {
public:
    using Entry = ToolIndex::Entry;
    // Good within the call.
    using Located = std::function<void(Result<const Entry*>)>;

    ToolFinder(const connection::Callers& callers, connection::ConnectionPool& pool,
               const policy::Policy& policy, const catalogue::Catalogue& catalogue,
               pins::Pins* pins = nullptr)
        : callers_(callers), pool_(pool), policy_(policy), index_(catalogue, pool, pins) {}
    ~ToolFinder() { *alive_ = false; }
    ToolFinder(const ToolFinder&) = delete;

    ToolIndex& index() { return index_; }
    policy::Question question_about(const Entry& entry, core::Trust trust) const;

    // Brings up whoever may own `name` for that caller, who is shown it if it is there, then says
    // where it is. Who is known to own it is the only one, as long as it lists it.
    void locate(const connection::Caller& caller, const std::string& name, Located located);
    // The same, for a person to see, and only for as long as `timeout`; 0: as long as it takes.
    void find(const connection::Caller& caller, const std::string& name,
              std::chrono::milliseconds timeout, std::function<void(Result<ListedTool>)> found);

    // `sight` null: all there is.
    std::vector<ListedTool> listed(core::Trust trust, const connection::Sight* sight);
    // Null: it is not listed for them.
    const protocol::Tool* known(const std::string& name, const connection::Caller& caller);
    Ruling ruling(core::Trust trust, const connection::Sight* sight, const std::string& name);
    // That the caller is shown no tool of that name, whether there is one or not; nothing: it is, if
    // there is one.
    std::optional<Error> not_shown(const connection::Caller& caller, const std::string& name);

    // A server that is not there for that caller hides what it has: that comes before "no such tool",
    // which would send the reader to the spelling.
    Error why_missing(connection::CallerNumber caller, const connection::Sight* sight,
                      const std::string& name, const std::vector<std::string>& servers);
    // The same of a tool of that server by its own name, for who asks by these.
    Error why_missing_at(connection::CallerNumber caller, const connection::Sight* sight,
                         const std::string& server, const std::string& tool);

    // Its server does not come up for that caller, though it is known what it had.
    bool is_down(const Entry& entry, connection::CallerNumber caller) const;

private:
    // `wanted`: as it is told. Nothing: all of them have listed their tools for that caller.
    std::optional<Error> why_unknown(connection::CallerNumber caller, const std::string& wanted,
                                     const std::vector<std::string>& servers);
    // Brings up these, one at least.
    void search(const connection::Caller& caller, const std::string& name,
                const std::vector<std::string>& servers, Located located);
    policy::Verdict judge(const Entry& entry, core::Trust trust) const;
    // With a stub in the place of a tool that is blocked: what its server says of it now nobody has approved.
    ListedTool shown(const Entry& entry, core::Trust trust, const policy::Verdict& verdict) const;
    std::vector<std::string> listed_names(const connection::Sight* sight);
    std::vector<std::string> names_or_prefixes();

    const connection::Callers& callers_;
    connection::ConnectionPool& pool_;
    const policy::Policy& policy_;
    ToolIndex index_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace patchbay::router
