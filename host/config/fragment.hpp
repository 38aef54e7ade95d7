// What one source says, in our own words whatever dialect it was written in: the servers with our
// key names, and the other tables. Nothing is judged yet but the shape of the file.
//
// A new key of a server or a table is a member in config.hpp and a row in a table of keys.hpp, which says
// how it is taken and told, who may set it and what a change of it does; a new limit is a member and a row
// in core/limits.hpp, a new time-out of a server a row of kTimeLimits. Beside it the JSON Schema in
// config/schema and config/defaults, which a test compares with them. For a new dialect touch
// dialects.hpp and what it names.
//
// Threads: [value].
#pragma once

#include "config/config.hpp"
#include "config/node.hpp"
#include "config/reader.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::config {

class ParsedTexts;

struct Source {
    Scope scope = Scope::User;
    // Orders the sources of the session scope (--config < PATCHBAY_CONFIG < ... < --set). Sources
    // of equal scope and rank are equals: there the first definition wins.
    unsigned rank = 0;
    std::string file;          // a path, or "--set", "PATCHBAY_CONFIG_JSON"
    std::string project = {};  // of project and local files: the folder they speak for, absolute

    bool is_flag() const { return place({}).is_flag(); }
    Place place(Mark mark) const { return {scope, file, mark.line, mark.column}; }
};

struct ServerEntry {
    std::string id;
    Mark mark;
    Node body;            // a Map with our keys; aliases of the dialect are gone
    std::string refused;  // not empty: why the entry cannot be used
    RuleId refused_by = RuleId::InvalidValue;  // what `refused` is about
    std::string written = {};  // by settle_ids(): the name in the file, when it is not the id
    // Nobody has approved this definition: it connects nothing and replaces nothing, it may only
    // forbid. Set by withhold().
    std::optional<Proposal> withheld = {};
    // Of a project or local file: see Server::program. Set by withhold().
    std::optional<std::string> program = {};
    // Of keys that the file calls otherwise: ours to its own. "enabled" is "disabled", turned round.
    std::map<std::string, std::string> aliases = {};
    std::string turn_on = {};  // what to do, where the file turns it off outside of the entry
    // By settle_ids(): it may mean this server too, and it allows nothing here.
    bool only_forbids = false;
    Words words = Words::Ours;
    std::string agent = {};  // in whose table it stands; empty: in none
    const std::string& as_written(const std::string& key) const {
        const auto it = aliases.find(key);
        return it == aliases.end() ? key : it->second;
    }
};

// A switch in a table that nobody knows. It turns off the servers that it names, and what else it is
// about is not ours: see names_beside_switches().
struct StraySwitch {
    Mark mark;
    std::string text;  // of the diagnostic
    std::vector<std::string> names;
};

struct Fragment {
    Source source;
    std::vector<ServerEntry> servers;
    std::vector<Member> tables;     // [client], [health], ... of our own files
    std::optional<bool> exclusive;  // enterprise files
    std::vector<StraySwitch> stray_switches = {};
    std::vector<Proposal> withheld_auth = {};  // [auth.*] tables that were taken out of `tables`
    // Of the tables that are approved: as Server::program. Set by withhold().
    std::map<std::string, std::optional<std::string>> auth_programs = {};
    std::vector<Diagnostic> diagnostics;
    bool broken = false;  // could not be read at all, or its shape is wrong
};

// Recognises the dialect of a parsed file and restates it in our words.
Fragment restate(Node root, Source source);

// parse() and restate(): a broken file is a Fragment with one diagnostic. `parsed`: see Environment.
Fragment read_fragment(std::string_view text, Format format, Source source,
                       ParsedTexts* parsed = nullptr);

}  // namespace patchbay::config
