// What a client gets, in the words of its era: results and errors of servers handed on as the bytes
// they are, with what that era asks for beside them, and our own errors.
//
// Threads: [value]. Errors: none; the raw parts must be valid JSON.
// Source:  MCP 2026-07-28 basic/index ("Error Codes", `_meta`), basic/versioning, server/utilities/caching; 2025-11-25 server/*.
#pragma once

#include "core/result.hpp"
#include "gateway/outward.hpp"
#include "protocol/versions.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

inline constexpr std::int64_t kParseError = -32700;
inline constexpr std::int64_t kInvalidRequest = -32600;
inline constexpr std::int64_t kMethodNotFound = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kInternalError = -32603;
inline constexpr std::int64_t kResourceNotFound = -32002;        // legacy
inline constexpr std::int64_t kUrlElicitationRequired = -32042;  // 2025-11-25 alone
inline constexpr std::int64_t kMissingCapability = -32021;
inline constexpr std::int64_t kUnsupportedVersion = -32022;

// How a request has ended: the raw member `"result":...` or `"error":...` in two parts, of which the
// second is what a server said and may be long.
struct Outcome {
    std::string begin;
    std::string_view rest = {};              // borrowed
    std::optional<std::int64_t> error = {};  // its code; none: a result

    std::string text() const { return std::string(begin).append(rest); }
};

// `raw_result`, an object, as the answer to a request of that method. Legacy: unchanged. `identity`: a member of
// `_meta` that says who answers, where nobody has said it; empty: none.
Outcome result_for(protocol::Era era, std::string_view method, std::string_view raw_result,
                   std::string_view identity = {});
// The error object that a server answered; a code that the client's era does not know becomes the
// one that stands for it there.
Outcome error_for(protocol::Era era, std::string_view raw_error);
// What could not be carried out. Of a tools/call what a model should read, and may do something about,
// is the result of the tool; the rest is an error.
Outcome refusal(protocol::Era era, std::string_view method, const Error& error,
                std::string_view identity = {});
// A call that its model may do something about, as the result of its tool.
Outcome tool_error(protocol::Era era, std::string_view message, std::string_view identity = {});
// What could not be carried out since its client, of the modern era, has not said that it can do that: raw, an
// object.
Outcome refusal_without(std::string_view raw_capabilities, const Error& error);

// What -32022 says beside its message, raw: what else there is. A revision that begins with `initialize` is
// refused only as one of a single request, and none of its kind is offered for that.
std::string other_versions(std::string_view requested);

Answer answer_with(std::string_view raw_id, const Outcome& outcome);
Answer error_answer(std::string_view raw_id, std::int64_t code, std::string_view message,
                    std::string_view raw_data = {});
std::string error_message(std::string_view raw_id, std::int64_t code, std::string_view message);

}  // namespace patchbay::gateway
