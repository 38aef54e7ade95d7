// What servers listed last, on disk: `catalogue/` in the state directory, one file a server and
// definition. Only a cache: what cannot be read is as if it were not there, and is written anew when
// its server lists its tools.
//
// Owns:    the thread that writes. Borrows loop and catalogue, which must outlive it.
// Threads: [loop]; writing is its thread's, and the destructor waits for that.
// Errors:  none. A file that cannot be used is told in the log once, and is as if it were not there; so is, once,
//          that nothing can be kept.
// Limits:  kMostBytes of a file, kRecallBytes of all that are read, kMostFiles in the folder: the
//          ones whose servers listed longest ago go. A list that would be larger is not kept.
// Source:  decisions/0037-lists-that-outlive-the-host.md, decisions/0044-what-is-answered-from-the-catalogue.md.
#pragma once

#include "catalogue/catalogue.hpp"
#include "core/descriptor.hpp"
#include "core/limits.hpp"
#include "core/log.hpp"
#include "core/timer.hpp"
#include "core/worker.hpp"
#include "registry/server_spec.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {

class CatalogueFolder final : catalogue::Watcher {
public:
    static constexpr std::size_t kMostBytes = 4u << 20, kRecallBytes = 32u << 20,
                                 kMostFiles = 1'000;
    static constexpr std::chrono::milliseconds kPause{200};  // of several lists in a row

    // `failures`: how it is told that nothing can be kept; a host that does one thing and ends loses nothing by it.
    CatalogueFolder(core::Loop& loop, catalogue::Catalogue& catalogue, std::string path,
                    core::log::Level failures = core::log::Level::Warn);
    ~CatalogueFolder();  // what has been listed is written

    // What these listed for an earlier host goes into the catalogue, of each server and definition once. Reads files.
    void recall(const std::vector<registry::ServerSpec>& specs, const core::Limits& limits);

private:
    // On disk, or on its way there, by server.
    struct Kept {
        std::shared_ptr<const catalogue::Listing> listing;
        catalogue::Time listed;
    };

    void on_published() override;
    core::Descriptor open_folder();
    void recall(const core::Descriptor& folder, const registry::ServerSpec& spec,
                const core::Limits& limits);
    void save();
    void write(const std::string& name, std::string text, catalogue::Time listed);
    void touch(const std::string& name, catalogue::Time listed);
    void remove(const std::string& name);
    void change(std::function<void(int folder)> how);

    catalogue::Catalogue& catalogue_;
    const std::string path_;
    const core::log::Level failures_;
    std::map<std::string, Kept> kept_;
    std::set<std::string> looked_for_;  // files
    std::size_t recalled_bytes_ = 0;
    core::Timer pause_;
    bool told_ = false, folder_told_ = false;
    core::Worker worker_;
};

}  // namespace patchbay::app
