// What a pattern of [permissions] means beside what it says. People name a server as it is written in
// its file (`mcp__My Server__x`, where the id is My-Server), a tool as its server calls it, a server
// alone, and put blanks around. A deny read too narrowly forbids nothing, so it is read widely; what
// allows is read so only where one thing can be meant (decisions/0019-a-rule-by-another-name.md).
//
// Threads: [value]. Errors: none; what means nothing has no reading.
#pragma once

#include "config/config.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::policy {

class Readings {
public:
    // Borrows `servers`.
    explicit Readings(const std::vector<config::Server>& servers);

    // More patterns, of public names, that `pattern` stands for.
    std::vector<std::string> of_deny(std::string_view pattern) const;
    std::vector<std::string> of_allow(std::string_view pattern) const;

private:
    struct Tools {  // of one server
        std::string_view server;
        std::string_view rest;  // behind mcp__SERVER__
    };
    std::vector<Tools> by_id(std::string_view begin) const;
    std::vector<Tools> by_written_name(std::string_view begin) const;

    std::set<std::string_view> ids_;
    struct Renamed {
        std::string beginning;  // mcp__NAME__, by the name as it is written
        std::string_view id;
    };
    std::vector<Renamed> renamed_;
};

// The beginning of a pattern before what stands for nothing here, though it does elsewhere: a `?`, or what
// makes a regular expression of it, or a blank that nobody sees; all of it: there is none.
std::string_view plain_beginning(std::string_view pattern);

// `echo` of mcp__SERVER__echo, which somebody may have written to the rules of SERVER itself, by its id
// or its written name; empty: `tool` is no such name.
std::string_view own_tool(const config::Server& server, std::string_view tool);

}  // namespace patchbay::policy
