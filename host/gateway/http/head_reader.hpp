// Reads out of a request's head what goes on to servers: the trace context, and the headers that the
// configuration of one of them names (forward_headers).
//
// Threads: [value].
// Errors:  an HttpRefusal: such a header is too long, or no header could have that value.
// Limits:  kForwardedBytes of names and values.
#pragma once

#include "gateway/carried_head.hpp"
#include "gateway/http/door.hpp"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace patchbay::gateway {

inline constexpr std::size_t kForwardedBytes = 8u << 10;

// `names`: in lower case.
std::variant<CarriedHead, HttpRefusal> read_carried_head(const http::Request& request,
                                                         const std::vector<std::string>& names);

}  // namespace patchbay::gateway
