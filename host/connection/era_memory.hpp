// Remembers which revision a server definition agreed on, and by which transport, so that the next
// start does not probe. By the era that was preferred, for a server of both agrees on either (decision 29).
// The app keeps it on disk. Only a hint: what is remembered wrongly costs one round trip.
// Threads: [loop].
#pragma once

#include "protocol/versions.hpp"

#include <string>
#include <utility>

namespace patchbay::connection {

struct KnownEra {
    std::string version;    // empty: unknown
    std::string transport;  // empty: the configured one
};

class EraMemory {
public:
    virtual ~EraMemory() = default;
    virtual KnownEra find(const std::string& definition_key, protocol::Era preferred) = 0;
    virtual void remember(const std::string& definition_key, protocol::Era preferred,
                          const KnownEra& era) = 0;
};

// What a connection that prefers that era has agreed on, or will.
inline KnownEra known_era(EraMemory& memory, const std::string& definition_key,
                          protocol::Era preferred) {
    using protocol::Era;
    if (auto known = memory.find(definition_key, preferred); !known.version.empty()) return known;
    // Who preferred the other era and got this one has found that the server speaks no other.
    auto known = memory.find(definition_key, preferred == Era::Modern ? Era::Legacy : Era::Modern);
    const bool speaks_only_this =
        !known.version.empty() && protocol::era_of(known.version) == preferred;
    return speaks_only_this ? std::move(known) : KnownEra{};
}

}  // namespace patchbay::connection
