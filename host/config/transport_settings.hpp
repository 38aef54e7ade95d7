// The settings of a server that can be reached by more than one transport.
//
// Threads: [any], pure.
#pragma once

#include <boost/json.hpp>

namespace patchbay::config {

// Those of `settings` that a transport's schema names; all when the schema leaves the door open.
// What belongs to another transport of the same server, like the port of its fallback, is not this
// one's to refuse.
boost::json::object settings_for(const boost::json::object& settings,
                                 const boost::json::value& schema);

}  // namespace patchbay::config
