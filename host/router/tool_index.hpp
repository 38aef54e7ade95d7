// Every tool that is there by its public name, judged for each principal. Internal to this room.
//
// Owns:    names and verdicts. Borrows the connections, whose tools it points at, and the policy.
// Threads: [loop].
#pragma once

#include "connection/connection_manager.hpp"
#include "policy/policy.hpp"
#include "protocol/qualified_name.hpp"
#include "protocol/tool.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace patchbay::router {

class ToolIndex {
public:
    struct Entry {
        std::string server;
        connection::Connection* connection;
        const protocol::Tool* tool;
        std::string quoted_name;  // the raw name as it goes on the wire
        policy::Verdict for_local, for_agent;

        const policy::Verdict& verdict(policy::Principal principal) const {
            return principal == policy::Principal::LocalUser ? for_local : for_agent;
        }
    };

    ToolIndex(connection::ConnectionManager& connections, const policy::Policy& policy)
        : connections_(connections), policy_(policy) {}

    // Null: nobody has told of it. Valid until forget().
    Entry* find(const std::string& public_name);
    Entry* find_raw(const std::string& server, const std::string& tool);
    const std::unordered_map<std::string, Entry>& entries();
    std::string public_name(const std::string& server, const std::string& tool);
    // What the user sees, sorted.
    std::vector<std::string> listed_names();
    // A server's tools have changed; what comes next is made anew.
    void forget() { valid_ = false; }

private:
    void build();

    connection::ConnectionManager& connections_;
    const policy::Policy& policy_;
    std::unordered_map<std::string, Entry> entries_;
    protocol::NameTable names_;  // of the entries
    bool valid_ = false;
};

}  // namespace patchbay::router
