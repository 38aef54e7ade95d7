// One pass over a JSON-RPC 2.0 message: full syntax and UTF-8 check, no tree, and the bounds of the
// members that routing needs. Everything else stays bytes that are handed on as they came.
//
// A top-level key that is escaped, or one of ours that repeats, is refused: two readers that take
// different members of one message is how requests are smuggled.
//
// Threads: [value]; an Envelope borrows the bytes it was parsed from.
// Errors:  Protocol, with the byte offset; Limit for nesting deeper than `depth`.
// Source:  https://www.jsonrpc.org/specification, MCP basic/index "Messages" of each revision.
#pragma once

#include "core/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::protocol {

enum class MessageKind { Request, Notification, Result, Error };

// What a result says of itself; a missing resultType is Complete (servers before 2026-07-28).
// Task is of the extension `io.modelcontextprotocol/tasks` (task_extension.hpp).
enum class ResultType { Complete, InputRequired, Task, Unknown };

struct Envelope {
    MessageKind kind = MessageKind::Notification;
    std::string_view id;                    // raw JSON, `7` or `"a"`; empty: none, or null
    std::optional<std::int64_t> number_id;  // when the id is an integer
    std::string method;
    std::string_view params, result, error;  // raw JSON values; empty: absent
    ResultType result_type = ResultType::Complete;
    bool is_error = false;  // result.isError is true (tools/call)
};

Result<Envelope> parse_envelope(std::string_view message, std::size_t depth = 128);

// The messages of a JSON-RPC batch, as raw bytes; stops at the first that is none. Limit for more
// than `most`.
Result<std::vector<std::string_view>> split_batch(std::string_view batch, std::size_t most,
                                                  std::size_t depth = 128);

// The members of one JSON object, as raw bytes, in order: for splicing params. `meta` is the inside
// of `_meta` without its braces, `members` all the others joined by commas.
struct Params {
    std::string members;  // `"name":"echo","arguments":{}`, or empty
    std::string meta;     // `"progressToken":1`, or empty
};
// Protocol error when `object` is not one JSON object, or has an escaped or repeated top key.
Result<Params> split_params(std::string_view object, std::size_t depth = 128);

// A message and what split_params() finds in its params, in one pass; empty where it has none.
struct WithParams {
    Envelope envelope;
    Result<Params> params = Params();
};
Result<WithParams> parse_with_params(std::string_view message, std::size_t depth = 128);

// The raw value of top-level member `key` among `members` (valid JSON, as in Params); empty:
// absent. Looks no further than the member, so put it first.
std::string_view raw_member(std::string_view members, std::string_view key);

// The members of one valid JSON object, in order: keys as text, values as the bytes that they are.
// None of what is no object. each_member() keeps nothing, and stops when `each` says so (false).
std::vector<std::pair<std::string, std::string_view>> members_in(std::string_view object);
void each_member(std::string_view object,
                 const std::function<bool(std::string_view key, std::string_view value)>& each);
// The items of one valid JSON array, to be taken one by one until none are left.
std::string_view items_in(std::string_view array);
std::string_view take_item(std::string_view& items);
// Valid JSON without the white space between its tokens.
std::string without_spaces(std::string_view text);

struct RpcError {
    std::int64_t code = 0;
    std::string message;
    std::string data;  // raw JSON; empty: none
};
Result<RpcError> parse_rpc_error(std::string_view error);

}  // namespace patchbay::protocol
