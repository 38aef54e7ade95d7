// What a client says that it can, and what it may be asked for that.
//
// Threads: [value].
// Source:  MCP basic/lifecycle, client/*; 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "protocol/versions.hpp"

#include <boost/json.hpp>

#include <string_view>

namespace patchbay::gateway {

// What every client is told that we can do: which servers there will be, and what they can, is not
// known when it asks.
boost::json::object our_capabilities(protocol::Era era);
// Whether the answer to a request of that method may be that something is wanted first.
bool may_want_input(std::string_view method);
// Whether a client that can do that can be asked this.
bool can_be_asked(const boost::json::object& capabilities, std::string_view method,
                  const boost::json::object& params);

}  // namespace patchbay::gateway
