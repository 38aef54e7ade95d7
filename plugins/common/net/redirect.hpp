// Where an answer that is a redirect leads, and whether a request may follow. No I/O.
//
// Threads: [value]. Errors: Trouble saying why it is not followed: E_DENIED what would leave the origin
// or TLS, E_PROTOCOL what makes no sense or would lose the request.
#pragma once

#include "net/url.hpp"

#include <string_view>

namespace patchbay::net {

struct Head;

// With a place to go to; one without is an answer like others.
bool is_redirect(const Head& head);

// Of what was asked of `asked`. `leaves_origin`: another origin will do, as of a Task.
Url redirect_target(const Url& asked, std::string_view method, const Head& head,
                    bool leaves_origin);

}  // namespace patchbay::net
