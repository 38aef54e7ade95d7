// What a server lists now, as pins have it: each item's canonical form and its digest.
//
// The canonical form is that of RFC 8785 but for numbers, which stay as they are written: sorted members, no spaces,
// no escape that is not needed. All members count, those that nobody here reads as well.
//
// Threads: [value]. Errors: none.
#pragma once

#include "catalogue/catalogue.hpp"
#include "pins/record.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace patchbay::pins {

std::string canonical_form(const protocol::Tool& tool);
std::string canonical_form(std::string_view item);  // raw JSON
std::string digest_of(std::string_view canonical);

struct Item {
    std::string digest, text, known_as;
};

// Of all that is known of a server.
struct Listed {
    std::set<Part> whole;  // which parts these are all of
    std::map<Name, Item> items;
};

// What a tool is called by those who call it.
using PublicName = std::function<std::string(const std::string& tool)>;

// `listing` null: its tools are not known. `items`: of the catalogue, each list that is known.
Listed listed_of(const catalogue::Listing* listing,
                 const std::map<catalogue::List, const catalogue::Items*>& items,
                 const PublicName& public_name);

// The name of an item of that list; empty: it has none.
std::string name_in(catalogue::List list, std::string_view item);

}  // namespace patchbay::pins
