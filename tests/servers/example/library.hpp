// Resources, prompts and completions: fixed, small, one of each kind.
//
// Threads: one. Errors: an unknown URI or prompt is answered as the era wants it.
#pragma once

#include "example/session.hpp"

namespace example {

// False: not a method of these.
bool serve_library(Session& session, const Request& request);

// `"<key>":[...]` with nextCursor and the caching members of the modern era; fails the request when
// its cursor was not ours.
void answer_page(Session& session, const Request& request, std::string_view key,
                 const std::vector<std::string_view>& entries);

}  // namespace example
