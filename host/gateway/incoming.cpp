#include "gateway/incoming.hpp"

namespace patchbay::gateway {

Result<Incoming> read_incoming(std::string_view message, std::size_t depth) {
    auto envelope = protocol::parse_envelope(message, depth);
    if (!envelope) return envelope.error();
    Incoming incoming{std::move(*envelope)};
    const auto raw = incoming.envelope.params;
    if (incoming.envelope.method.empty() || raw.empty()) return incoming;
    auto params = protocol::split_params(raw, depth);
    if (params)
        incoming.params = std::move(*params);
    else
        incoming.unreadable = params.error();
    incoming.meta = read_meta(incoming.params.meta);
    return incoming;
}

}  // namespace patchbay::gateway
