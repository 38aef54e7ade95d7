// `${param:NAME}` in an entry, and what stands there in the end.
//
// A text that is nothing but one takes the value as it is, be it text, a number or true; a list in a list is
// spliced in. Within other text a value is told as it is written. `${param:NAME:-TEXT}`: TEXT where none is given.
// What is filled in is not looked into again, and other `${...}` stay as they are; `$${` is none, as everywhere.
//
// Threads: [any], pure. Errors: the first that makes no sense, with its place.
#pragma once

#include "config/keys.hpp"
#include "config/node.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace patchbay::config {

using Parameters = std::map<std::string, Node, std::less<>>;

// "param:" within ${}.
inline constexpr std::string_view kParameter = "param:";

// Each value and each byte of text counts as one.
std::size_t weight(const Node& node);

// `left`: how much may be filled in yet, by weight(); what is goes off it.
std::optional<Complaint> fill_in(Node& body, const Parameters& given, std::size_t& left);
// The names that stand in `body`.
std::set<std::string> parameters_in(const Node& body);

}  // namespace patchbay::config
