// What an agent is given, as text in the words of a client, or in ours.
//
// Threads: the calling one; blocks where a secret is fetched for a client that cannot read it.
// Errors:  what concerns one server leaves it out, and is a warning with its place. Unsupported: the text cannot be made.
// Source:  decisions/0048-what-an-agent-is-given.md.
#pragma once

#include "app/known_clients.hpp"
#include "config/load.hpp"
#include "config/resolve.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

// Entries by the ids of their servers, and what is to be said of them.
struct GivenEntries {
    std::map<std::string, boost::json::object> entries;
    std::vector<config::Diagnostic>
        warnings;  // what is left out, and what a client has no word for
    // Where a value stands in place of its reference, by server: "env.TOKEN".
    std::map<std::string, std::vector<std::string>> expanded;
};

// `client`: in whose words; null: in ours.
GivenEntries entries_for(const KnownClient* client, const config::Given& given,
                         const config::Environment& environment);

// A file that holds nothing else.
Result<std::string> file_text(const KnownClient* client, const GivenEntries& given);

// In whose words it is to be: null of "patchbay"; Invalid with the nearest.
Result<const KnownClient*> format_named(const std::string& name);

}  // namespace patchbay::app
