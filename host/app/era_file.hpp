// Remembered protocol revisions on disk: `eras.json` in the state directory, one line of JSON
// `{"<definition key>":"2025-11-25", ...}`, at most kEntries; a transport other than the configured
// one follows after a space. Only a cache: unreadable is empty.
//
// Threads: [loop]. Errors: none; what cannot be written is not remembered.
#pragma once

#include "connection/era_memory.hpp"

#include <map>
#include <string>

namespace patchbay::app {

class EraFile final : public connection::EraMemory {
public:
    static constexpr std::size_t kEntries = 1000;

    explicit EraFile(std::string path);  // empty: memory only
    connection::KnownEra find(const std::string& definition_key) override;
    void remember(const std::string& definition_key, const connection::KnownEra& era) override;

private:
    void read();
    void write() const;

    std::string path_;
    bool read_ = false;
    std::map<std::string, std::string> versions_;
};

}  // namespace patchbay::app
