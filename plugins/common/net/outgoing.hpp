// A request on its way to a server.
//
// Threads: [value]. Errors: none; HeaderList and Url let nothing pass that could break a line.
// Follows: RFC 9112 section 3.
#pragma once

#include "net/header_list.hpp"

#include <string>
#include <string_view>

namespace patchbay::net {

struct Outgoing {  // views are the caller's
    std::string method;
    HeaderList headers;
    std::string_view body;
    bool has_body = false;

    // Request line and header fields as they go on the wire. `target` is what the server, or a
    // proxy, is asked for. Of a name that is in both, the request's own field is the stronger.
    std::string head(std::string_view target, std::string_view host, const HeaderList& secrets,
                     std::string_view proxy_authorization) const;
};

}  // namespace patchbay::net
