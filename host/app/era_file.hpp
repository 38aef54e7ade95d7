// Remembered protocol revisions on disk: `eras.json` in the state directory, one line of JSON
// `{"<definition key>":"2025-11-25", ...}`, at most kEntries; a transport other than the configured
// one follows after a space. What was agreed on by who prefers the legacy era has " legacy" behind
// its key. Only a cache: unreadable is empty.
//
// Owns:    the thread that writes. Borrows `loop`, which must outlive it.
// Threads: [loop]; `replace` runs on a thread of its own, in the destructor on the loop's.
// Errors:  none; what cannot be written is not remembered.
#pragma once

#include "connection/era_memory.hpp"
#include "core/worker.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace patchbay::app {

class EraFile final : public connection::EraMemory {
public:
    static constexpr std::size_t kEntries = 1000;

    // How a text takes the place of a file; tests have a slow one.
    using Replace = std::function<void(const std::string& path, const std::string& text)>;

    EraFile(core::Loop& loop, std::string path);  // empty: memory only
    EraFile(core::Loop& loop, std::string path, Replace replace);
    ~EraFile() override;  // what was remembered is in the file
    connection::KnownEra find(const std::string& definition_key, protocol::Era preferred) override;
    void remember(const std::string& definition_key, protocol::Era preferred,
                  const connection::KnownEra& era) override;

private:
    void read();
    void save();
    std::string text() const;

    std::string path_;
    Replace replace_;
    bool read_ = false;
    bool saving_ = false;
    bool unsaved_ = false;  // changed since the text that is being saved
    std::map<std::string, std::string> versions_;
    std::optional<core::Worker> worker_;
};

}  // namespace patchbay::app
