// Keys that a server which reads them less exactly than the host takes for others: in any case of letters, without what
// stands between or around its words, or up to a NUL. Beside what was judged, such a one would be run unjudged. Internal to this room.
//
// Of all that the host reads, writes or takes out of a request: its params, `_meta`, and what `ref` and `argument` hold.
// Other keys are the server's and the client's affair, as is all of a method that no specification knows.
//
// Threads: [any], pure. Errors: Invalid, with the key.
#pragma once

#include "router/router.hpp"

#include <optional>
#include <string_view>

namespace patchbay::router {

// None: there is no such key.
std::optional<Error> odd_member(const Call& call);
std::optional<Error> odd_member(const ServerRequest& request);

// Of a method of the specification that is written otherwise, as that one is called; empty: it is none, or that one itself.
std::string_view method_meant(std::string_view method);

}  // namespace patchbay::router
