// The token that a request brings, and what is answered to one that brings none or a wrong one.
//
// Threads: [value].
// Errors:  an HttpRefusal with WWW-Authenticate.
// Source:  RFC 6750 sections 2 and 3; MCP 2025-11-25 and 2026-07-28 basic/authorization.
#pragma once

#include "gateway/http/door.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace patchbay::gateway {

// What every refusal says of how to come in.
struct Challenge {
    std::string resource_metadata = {};  // URL of RFC 9728; empty: there is no authorization server
    std::string scope = {};              // that is needed; empty: any

    enum class Error { None, InvalidRequest, InvalidToken, InsufficientScope };
    // `why`: also to the client as error_description, so in plain words and none of the client's own.
    HttpRefusal refusal(Error error, std::string_view why) const;
};

struct NoBearer {
    Challenge::Error error;
    std::string_view why;
};
// From Authorization alone: what stands in a URL gets into logs and histories, so there it is refused.
// The token stands in the request.
std::variant<std::string_view, NoBearer> bearer_of(const http::Request& request);
void bearer_of(http::Request&&) = delete;

}  // namespace patchbay::gateway
