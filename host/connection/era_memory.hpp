// Remembers which revision a server definition agreed on, and by which transport, so that the next
// start does not probe.
// The app keeps it on disk. Only a hint: what is remembered wrongly costs one round trip.
// Threads: [loop].
#pragma once

#include <string>

namespace patchbay::connection {

struct KnownEra {
    std::string version;    // empty: unknown
    std::string transport;  // empty: the configured one
};

class EraMemory {
public:
    virtual ~EraMemory() = default;
    virtual KnownEra find(const std::string& definition_key) = 0;
    virtual void remember(const std::string& definition_key, const KnownEra& era) = 0;
};

}  // namespace patchbay::connection
