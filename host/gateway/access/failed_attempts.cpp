#include "gateway/access/failed_attempts.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <utility>

namespace patchbay::gateway {

namespace {

// Of an IPv6 address the network: a host may have all the rest.
std::string network_of(const std::string& peer) {
    in6_addr address{};
    if (::inet_pton(AF_INET6, peer.c_str(), &address) != 1 || IN6_IS_ADDR_V4MAPPED(&address))
        return peer;
    std::memset(address.s6_addr + 8, 0, 8);
    char text[INET6_ADDRSTRLEN];
    return ::inet_ntop(AF_INET6, &address, text, sizeof text) ? text : peer;
}

}  // namespace

bool FailedAttempts::too_many(const std::string& peer) const {
    const auto found = known_.find(network_of(peer));
    return found != known_.end() && found->second->quiet - time_.now() > (kBurst - 1) * kPause;
}

// Each attempt counts for kPause, one after the other.
bool FailedAttempts::note(const std::string& peer) {
    const auto name = network_of(peer);
    const auto now = time_.now();
    auto found = known_.find(name);
    if (found == known_.end()) {
        if (records_.size() >= kMostPeers) {
            known_.erase(records_.back().peer);
            records_.pop_back();
        }
        records_.push_front({name, now, false});
        found = known_.emplace(name, records_.begin()).first;
    }
    auto& record = *found->second;
    records_.splice(records_.begin(), records_, found->second);
    if (record.quiet <= now) record.told = false;
    record.quiet = std::min(std::max(record.quiet, now) + kPause, now + kBurst * kPause);
    return too_many(peer) && !std::exchange(record.told, true);
}

}  // namespace patchbay::gateway
