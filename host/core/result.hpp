// Errors are values: every call that can meet expected trouble (bad config, dead server, denied
// tool) returns Result<T>. A broken invariant is an assert, never an Error. See decisions/0002.
//
// Threads: [value].
#pragma once

#include <boost/system/result.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace patchbay {

// For programs; people read Error::message. Translated once, at the edge, to JSON-RPC or exit
// codes.
enum class ErrorCode {
    Internal,     // a bug of ours, or of a plugin
    Invalid,      // the caller's input does not make sense
    NotFound,     // no such tool, server, plugin, file
    Unsupported,  // the other side cannot do it
    Unavailable,  // server is not ready, or went away
    Timeout,
    Cancelled,
    Denied,  // policy said no
    AuthRequired,
    Limit,     // a named bound was exceeded
    Protocol,  // the peer broke MCP or JSON-RPC
    Io,
    SessionLost,  // the server forgot the session; a new one may be opened
};

// Stable lower-case word for `--json` output and logs: "not_found".
const char* name_of(ErrorCode code);

struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;  // where, what, what was expected, what to do next; never a secret
};

// `where: message`, code kept. For adding the outer place to an inner error.
inline Error within(std::string_view where, Error error) {
    error.message = std::string(where) + ": " + error.message;
    return error;
}

// Found by boost::system::result when value() is asked of an error: that is a bug of the caller.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
    throw std::logic_error("value() of an error: " + error.message);
}

template <class T>
using Result = boost::system::result<T, Error>;

}  // namespace patchbay
