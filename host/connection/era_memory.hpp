// Remembers which revision a server definition agreed on, so that the next start does not probe.
// The app keeps it on disk. Only a hint: what is remembered wrongly costs one round trip.
// Threads: [loop].
#pragma once

#include <string>

namespace patchbay::connection {

class EraMemory {
public:
    virtual ~EraMemory() = default;
    virtual std::string find(const std::string& definition_key) = 0;  // empty: unknown
    virtual void remember(const std::string& definition_key, const std::string& version) = 0;
};

}  // namespace patchbay::connection
