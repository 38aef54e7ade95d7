// What a name in a rule may mean beside what it says. People name a server as it is written in its
// file (`mcp__My Server__x`, where the id is My-Server), a tool as its server calls it, a server
// alone, put blanks around and write marks of other programs. What forbids and is read too narrowly
// forbids nothing, so one reader takes it widely wherever it stands: in `[permissions] deny`, and in
// the rules of a server itself. What allows is read so only where one thing can be meant
// (decisions/0019-a-rule-by-another-name.md).
//
// Threads: [value]. Errors: none; what means nothing has no reading.
// Limits:  the work grows with the length of the name and the number of servers, no faster.
#pragma once

#include "config/config.hpp"

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::policy {

// All that a name which forbids may mean.
struct Forbidden {
    // Nobody can tell what a name means, so all tools of the server are forbidden, unless it lists one
    // that is called just that: then `patterns` alone count.
    struct Doubt {
        std::string server;  // id
        std::string name;    // of a tool, as its server calls it
        bool open;           // one that begins so will do
        bool usual = false;  // many tools are called like it: one that is listed is meant
    };
    std::vector<std::string> patterns;  // of public names
    std::vector<Doubt> doubts;
    std::string cut;  // the beginning before a letter that stands for more; empty: none

    void add(Forbidden more);
};

class Readings {
public:
    // Borrows `servers`.
    explicit Readings(std::span<const config::Server> servers);

    Forbidden of_deny(std::string_view pattern) const;
    // Patterns of public names; none: it may be about two servers, and allows nothing.
    std::vector<std::string> of_allow(std::string_view pattern) const;

private:
    struct Tools {  // of one server
        std::string_view server;
        std::string_view rest;  // behind mcp__SERVER__
        bool operator==(const Tools&) const = default;
    };
    std::vector<Tools> by_id(std::string_view begin) const;
    std::vector<Tools> by_written_name(std::string_view begin) const;
    Forbidden of_one(std::string_view pattern) const;
    void read_without_prefix(std::string_view text, Forbidden& meant) const;
    void read_odd_server(std::string_view begin, bool open, Forbidden& meant) const;
    void forbid_all_that_begins(std::string_view begin, Forbidden& meant) const;

    std::set<std::string_view> ids_;
    struct Renamed {
        std::string beginning;  // mcp__NAME__, by the name as it is written
        std::string_view id;
    };
    std::vector<Renamed> renamed_;
};

// How much of it public names are made of, from its beginning on.
std::size_t plain_length(std::string_view text);

// What a name in the rules of that server itself may mean beside the tool of just that name: what it
// would in a deny, where that closes all but the server alone.
Forbidden forbidden_by(const config::Server& server, std::string_view name);
// Whether such a name is the beginning of tools' names and can mean nothing else: config/levels.hpp has it then.
bool is_plain_beginning(const config::Server& server, std::string_view name);

}  // namespace patchbay::policy
