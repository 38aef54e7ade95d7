// What servers listed last, on disk: `catalogue/` in the state directory, one file a server and
// definition. Only a cache: what cannot be read is as if it were not there, and is written anew when
// its server lists its tools.
//
// Owns:    the thread that writes. Borrows loop and catalogue, which must outlive it.
// Threads: [loop]; writing is its thread's, and the destructor waits for that.
// Errors:  none; what cannot be kept is told in the log, once.
// Limits:  kMostBytes of a file, kRecallBytes of all that are read, kMostFiles in the folder: the
//          ones that were written longest ago go.
// Source:  decisions/0037-lists-that-outlive-the-host.md.
#pragma once

#include "catalogue/catalogue.hpp"
#include "core/limits.hpp"
#include "core/timer.hpp"
#include "core/worker.hpp"
#include "registry/server_spec.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::app {

class CatalogueFolder final : catalogue::Watcher {
public:
    static constexpr std::size_t kMostBytes = 4u << 20, kRecallBytes = 8u << 20, kMostFiles = 1'000;
    static constexpr std::chrono::milliseconds kPause{200};  // of several lists in a row

    CatalogueFolder(core::Loop& loop, catalogue::Catalogue& catalogue, std::string path);
    ~CatalogueFolder();  // what has been listed is written

    // What these listed for an earlier host goes into the catalogue; from now on what they list is
    // kept. Reads files.
    void recall(const std::vector<registry::ServerSpec>& specs, const core::Limits& limits);

private:
    using Shared = std::shared_ptr<const catalogue::Listing>;

    void on_published() override;
    void save();
    void write(const std::string& name, std::string text);

    catalogue::Catalogue& catalogue_;
    const std::string path_;
    std::map<std::string, Shared> kept_;  // by server: it is on disk, or on its way
    core::Timer pause_;
    bool told_ = false;
    core::Worker worker_;
};

}  // namespace patchbay::app
