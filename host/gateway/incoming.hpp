// A message of a client, read once: what it is and, of a request, its params and what they say of it.
// Whoever receives it may have to look into it before its session does.
//
// Threads: [value]; it borrows the bytes that it was read from.
// Errors:  those of parse_envelope(); of params that cannot be read `unreadable` says why.
#pragma once

#include "gateway/carried_head.hpp"
#include "gateway/request_meta.hpp"
#include "protocol/envelope.hpp"

#include <cstddef>
#include <optional>
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

}  // namespace patchbay::gateway
