// Outgoing JSON-RPC messages, spliced from raw parts; nothing that policy did not read is
// serialised again. Every function returns one compact object without newline.
//
// Threads: [value]. Errors: none; the raw parts must be valid JSON (they came from parse_envelope,
// split_params or a serializer).
#pragma once

#include "protocol/envelope.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::protocol {

// `meta` members follow those of `params.meta` and take the place of any of the same name; both may
// be empty. With neither members nor meta, `params` is left out.
std::string request(std::int64_t id, std::string_view method, const Params& params,
                    std::string_view meta = {});
std::string notification(std::string_view method, std::string_view members,
                         std::string_view meta = {});
std::string response(std::string_view raw_id, std::string_view raw_result);
std::string error_response(std::string_view raw_id, std::int64_t code, std::string_view message);

// JSON string literal with quotes.
std::string quoted(std::string_view text);
// `"a":1,"b":2` of an object, without the braces.
std::string members_of(const boost::json::object& object);
// `a,b`, leaving out what is empty.
std::string joined(std::string_view a, std::string_view b);
// Adds `"key":value` with its comma; many in a row cost no more than their bytes.
void append_member(std::string& members, std::string_view key, std::string_view raw_value);

// The members with that value of `key`, whatever they have of it.
std::string with_member(std::string_view members, std::string_view key, std::string_view raw_value);

// Raw newlines between tokens become spaces, for line-framed transports: inside a string they are
// a syntax error already.
void flatten(std::string& message);

}  // namespace patchbay::protocol
