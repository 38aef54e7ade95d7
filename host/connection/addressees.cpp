#include "connection/addressees.hpp"

namespace patchbay::connection {

const PendingRequest* Addressees::request_of(RequestId exchange) const {
    const auto* entry = exchange ? pending_.find_wire(exchange) : nullptr;
    return entry && !entry->own() ? entry : nullptr;
}

Caller* Addressees::of_exchange(RequestId exchange) const {
    const auto* request = request_of(exchange);
    return request ? audience_.find(request->caller) : nullptr;
}

Reference Addressees::reference_of(RequestId exchange) const {
    const auto* request = request_of(exchange);
    return request ? request->request.reference : 0;
}

Caller* Addressees::only_user() const {
    if (link_.shared) return nullptr;
    return link_.user ? audience_.find(link_.user) : audience_.only();
}

Caller* Addressees::of_question(RequestId exchange) const {
    if (auto* caller = of_exchange(exchange)) return caller;
    if (!link_.shared) return only_user();
    if (exchange || too_many_) return nullptr;
    const auto only = pending_.only_caller_sent();
    for (const auto& [id, caller] : abandoned_)
        if (caller != only) return nullptr;
    return only ? audience_.find(only) : nullptr;
}

void Addressees::abandon(const PendingRequest& ended) {
    if (ended.stage != Stage::Sent || link_.modern_for_good()) return;
    too_many_ = too_many_ || abandoned_.size() >= kMostAbandoned;
    if (!too_many_) abandoned_.emplace(ended.wire_id, ended.caller);
}

void Addressees::clear() {
    abandoned_.clear();
    too_many_ = false;
}

}  // namespace patchbay::connection
