// A message of a client, read once: what it is and, of a request, its params and what they say of it.
// Whoever receives it may have to look into it before its session does.
//
// Threads: [value]; it borrows the bytes that it was read from.
// Errors:  those of parse_envelope(); of params that cannot be read `unreadable` says why.
// Source:  JSON-RPC 2.0 section 5: an error has the id null only where that of the request could not be detected.
#pragma once

#include "gateway/carried_head.hpp"
#include "gateway/request_meta.hpp"
#include "protocol/envelope.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

struct Incoming {
    protocol::Envelope envelope;
    protocol::Params params = {};
    std::optional<Error> unreadable = {};
    RequestMeta meta = {};
    CarriedHead carried = {};  // by who received it
};

Result<Incoming> read_incoming(std::string_view message, std::size_t depth);

// A text or a whole number, as it stands there: that may be one that no type here holds.
bool is_id(std::string_view raw);

// What is said of a message that read_incoming() does not take.
struct Fault {
    std::int64_t code = 0;  // of JSON-RPC
    std::string raw_id;     // of the request that it was meant to be; empty: that cannot be told
};
Fault fault_of(std::string_view message, std::size_t depth);

}  // namespace patchbay::gateway
