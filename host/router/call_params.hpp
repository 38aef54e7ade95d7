// The params of calls and requests: read, written and measured. Internal to this room.
//
// Threads: [any], pure. Errors: Invalid.
#pragma once

#include "router/router.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay::router {

Result<boost::json::object> read_params(const ServerRequest& request, std::size_t depth);
std::string text_member(const boost::json::object& object, std::string_view key);

// What a request that calls no tool is about: a prompt by its name, a resource by its URI, or the template that a
// completion names. Also a resource that is no longer subscribed to.
struct Subject {
    enum class Kind { None, Prompt, Resource, Template };
    Kind kind = Kind::None;
    std::string name{};  // empty: its params do not say
};
// None where its params cannot be read: its server will not understand them either.
Subject subject_of(const ServerRequest& request, std::size_t depth);

// A tools/call in the server's own words, whose name the call itself lacks. Moves on what it takes of
// `request`, unless it is an error.
struct RawCall {
    std::string tool;
    Call call;
};
Result<RawCall> read_raw_call(ServerRequest& request, std::size_t depth);

// The call as it is sent; moves on what `call` holds. `quoted_name`: the tool's, as JSON.
connection::Request request_of(std::string_view quoted_name, Call& call);

// Bytes that wait with it.
std::size_t size_of(const Call& call);
std::size_t size_of(const ServerRequest& request);

}  // namespace patchbay::router
