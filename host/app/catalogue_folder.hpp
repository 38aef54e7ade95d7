// What servers listed last, on disk: `catalogue/` in the state directory, one file a server, definition, account and list, which has
// what was heard last, by whichever host. Only
// a cache: what cannot be read is as if it were not there, and is written anew when its server lists it.
//
// Owns:    the thread that writes. Borrows loop, catalogue and limits, which must outlive it.
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
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {

class CatalogueFolder final : catalogue::Watcher, catalogue::Shelf {
public:
    static constexpr std::size_t kMostBytes = 4u << 20, kRecallBytes = 32u << 20,
                                 kMostFiles = 4'000;
    static constexpr std::chrono::milliseconds kPause{200};  // of several lists in a row

    // What else than its definition says whose the lists of a server are; empty: nothing does; none: nobody can say it
    // another time, so that they are kept nowhere. Asked once a definition.
    using Account = std::function<std::optional<std::string>(const std::string& server)>;
    // `failures`: how it is told that nothing can be kept; a host that does one thing and ends loses nothing by it.
    CatalogueFolder(core::Loop& loop, catalogue::Catalogue& catalogue, std::string path,
                    const core::Limits& limits, core::log::Level failures = core::log::Level::Warn,
                    Account account = {});
    ~CatalogueFolder();  // what has been listed is written

    // The tools that these listed for an earlier host go into the catalogue, of each server and definition once. Reads
    // files. Other lists do when somebody asks for them.
    void recall(const std::vector<registry::ServerSpec>& specs);

private:
    using Which = std::pair<std::string, catalogue::List>;  // of that server
    // On disk, or on its way there.
    struct Written {
        std::shared_ptr<const void> what;
        catalogue::Time listed;
    };
    struct Found {
        std::string text;
        catalogue::Time listed;
    };

    void on_published() override;
    void on_items_published() override { on_published(); }
    std::optional<catalogue::Kept> take(const std::string& server, const catalogue::Origin& origin,
                                        catalogue::List list) override;
    // Two servers of one definition are two programs. Empty: it has none.
    std::string file_of(const std::string& server, const std::string& definition);
    std::string file_of(const std::string& server, const catalogue::Origin& origin,
                        catalogue::List list);
    const std::optional<std::string>& account_of(const std::string& server,
                                                 const std::string& definition);
    core::Descriptor open_folder();
    void recall(const core::Descriptor& folder, const registry::ServerSpec& spec,
                const std::string& name);
    std::optional<Found> read(const core::Descriptor& folder, const std::string& name,
                              const std::string& server);
    void tell_useless(const std::string& server, const Error& error) const;
    void save_in_turn();
    void save();
    void save(const Which& which, std::shared_ptr<const void> what, catalogue::Time listed,
              const std::string& name, const std::function<std::string()>& text);
    void write(const std::string& name, std::string text, catalogue::Time listed);
    void touch(const std::string& name, catalogue::Time before, catalogue::Time listed);
    void change_files();

    catalogue::Catalogue& catalogue_;
    const std::string path_;
    const core::Limits& limits_;
    const core::log::Level failures_;
    const Account account_;
    // Of server and definition, as they stand in the name of its file.
    std::map<std::pair<std::string, std::string>, std::optional<std::string>> accounts_;
    std::map<Which, Written> written_;
    std::set<std::string> looked_for_;  // files
    std::size_t recalled_bytes_ = 0;
    const core::TimeSource& time_;
    core::Timer pause_;
    std::vector<std::function<Result<void>(int folder)>> changes_;  // of files, that are due
    bool writes_ = false;                                           // one of them makes a file
    bool is_due_ = false;                                           // behind the pause
    bool told_ = false, folder_told_ = false;
    core::Worker worker_;
};

}  // namespace patchbay::app
