// What one server listed at one time.
//
// Threads: [value].
#pragma once

#include "protocol/tool.hpp"

#include <string>
#include <vector>

namespace patchbay::catalogue {

// What servers have lists of.
enum class List { Tools, Resources, Templates, Prompts };
inline constexpr List kLists[] = {List::Tools, List::Resources, List::Templates, List::Prompts};
const char* name_of(List list);  // the member of its answer: "tools", "resourceTemplates", ...

struct Listing {
    std::string definition;             // the key of the definition that it is of
    std::vector<protocol::Tool> tools;  // sorted by name, each once; rules not applied
    bool whole = true;                  // false: the list broke off, and there may be more
    std::string instructions = {};      // what the server says of itself as a whole
};

}  // namespace patchbay::catalogue
