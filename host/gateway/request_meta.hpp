// What one request of a client says of itself in its `_meta`, and what of that goes on to a server.
//
// Threads: [value].
// Errors:  `wrong`. Invalid: the request lacks what every request of the modern era says. Unsupported:
//          a revision that is not spoken that way.
// Source:  MCP 2026-07-28 basic/index "_meta", basic/versioning.
#pragma once

#include "core/result.hpp"
#include "protocol/versions.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

struct RequestMeta {
    protocol::Era era = protocol::Era::Legacy;  // Modern: it names its revision itself
    std::string version;                        // as it was named; modern only
    std::string capabilities;                   // raw, an object; modern only
    std::string progress_token;                 // raw JSON; empty: no progress is wanted
    std::optional<std::size_t> log_severity;    // modern: nothing is logged without one
    std::string log_level() const;              // the same, by its name; empty: none
    std::string relayed;  // raw members that go on: all but what is said from one hop to the next
    std::optional<Error> wrong;  // why the request cannot be carried out
};

// What a client says that it can is kept as long as its session or request is.
inline constexpr std::size_t kMostCapabilityBytes = 64u << 10;

// `meta`: raw members, without braces.
RequestMeta read_meta(std::string_view meta);

}  // namespace patchbay::gateway
