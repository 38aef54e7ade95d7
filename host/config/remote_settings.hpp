// What can be said of a server's address, headers and token without asking the network: what its
// transport would refuse, and what would reach nothing.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"

#include <optional>
#include <string>
#include <utility>

namespace patchbay::config {

// What the transport would refuse. `setting` is the one it is in, as origins name it: `url`,
// `headers.X-Key`; `text` begins with that. Repeats nothing of an address or of a header's value,
// which may hold a password.
struct RemoteTrouble {
    std::string setting, text;
};

// None: `url` can be what the server's transport connects to, or waits for `${...}`.
std::optional<RemoteTrouble> trouble_with_url(const Server& server);

// None: each header can be sent, or waits for `${...}`, and none is one that the server's transport
// keeps to itself. Its schema says which: `x-patchbay-reserved` of the property `headers`.
std::optional<RemoteTrouble> trouble_with_headers(const Server& server,
                                                  const boost::json::value& schema);

// A token that a program, which gets no header, would never see: the key, and what to write. Empty:
// none.
std::pair<std::string, std::string> lost_token(const Server& server, const Config& config);

}  // namespace patchbay::config
