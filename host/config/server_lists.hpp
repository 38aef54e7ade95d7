// Lists by which a file turns servers on and off outside of their entries: Gemini's `mcp.allowed` and
// `mcp.excluded`, and those of rules.hpp.
//
// Borrows the members that it took. Threads: [any]. Errors: none; what is no list of names is not taken.
#pragma once

#include "config/node.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace patchbay::config {

class ServerLists {
public:
    // `in_mcp`: of the table `mcp`.
    void take(const Member& member, bool in_mcp);
    bool taken(const Member& member) const { return taken_.contains(&member); }

    // What turns it on again; empty: no list turns it off.
    std::string left_out(const std::string& server) const;
    // Where that is said; of no list: nowhere.
    Mark place_of(const std::string& server) const;
    // All that are turned off by name, with the place of that.
    std::map<std::string, Mark> off() const;

private:
    // Of servers, by their names as written.
    struct List {
        std::string key;
        Mark mark;
        std::map<std::string, Mark> names;
        std::string place() const {
            return "\"" + key + "\" in line " + std::to_string(mark.line) + " of that file";
        }
    };

    std::set<const Member*> taken_;
    std::vector<List> off_ones_, only_;  // what is off, and what alone is not
};

}  // namespace patchbay::config
