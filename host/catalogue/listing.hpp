// What one server listed at one time: its tools, and apart from them what else it has lists of.
//
// Threads: [value].
#pragma once

#include "protocol/tool.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::catalogue {

// What servers have lists of.
enum class List { Tools, Resources, Templates, Prompts };
inline constexpr List kLists[] = {List::Tools, List::Resources, List::Templates, List::Prompts};
const char* name_of(List list);  // the member of its answer: "tools", "resourceTemplates", ...
const char* capability_of(
    List list);                 // what a server declares that has it: "resources" of templates, too
const char* key_of(List list);  // the member that tells one item from another: "name", "uri", ...

struct Listing {
    std::string definition;             // the key of the definition that it is of
    std::vector<protocol::Tool> tools;  // sorted by name, each once; rules not applied
    bool whole = true;                  // false: the list broke off, and there may be more
    std::string instructions = {};      // what the server says of itself as a whole
    // Of what besides tools it says that it has lists: "prompts", "resources". Nothing: nobody knows.
    std::optional<std::set<std::string>> others = {};
    // Of which capabilities the server was told (a digest; empty: of none): to whoever declares others it may list others,
    // and has changed nothing.
    std::string declared = {};
};

// Whose resources, templates or prompts: of another definition they may be others, and so they may of a program that is
// run where the command is (`folder`; empty: it makes no difference).
struct Origin {
    std::string definition, folder;
    bool operator==(const Origin&) const = default;
};

// All of them, in the order that their server has.
struct Items {
    Origin origin;
    std::vector<std::string> texts;  // raw JSON objects
    std::string declared = {};       // as Listing has it
};

}  // namespace patchbay::catalogue
