// Finds manifests, place after place, and says of each whether it can be used. Never maps a
// library and never hashes one: that is done on first use.
//
// A place holds manifests (`*.toml`) directly, or one folder for each plugin with a manifest in it.
// Threads: [value]; reads the file system.
// Errors:  none as a whole: what cannot be used is listed with its reason.
#pragma once

#include "plugin/loading/catalogue.hpp"
#include "plugin/loading/manifest.hpp"

#include <string>
#include <vector>

namespace patchbay::plugin {

inline constexpr std::size_t kEntriesPerPlace = 1'000;

// What search_places() reads of the outside world, so that tests can bring their own.
struct SearchEnvironment {
    std::string plugin_path;       // PATCHBAY_PLUGIN_PATH
    std::string data_home;         // XDG_DATA_HOME or ~/.local/share
    std::string binary_directory;  // of the running program
    bool raised_privileges = false;

    static SearchEnvironment of_this_process();
};
std::vector<SearchPlace> search_places(const SearchOptions& options,
                                       const SearchEnvironment& environment);

struct Discovered {
    std::vector<PluginInfo> plugins;  // in order of search, refused and shadowed ones included
    std::vector<Manifest> manifests;  // one for each plugin
    std::vector<Looked> looked;
};
Discovered discover(const std::vector<SearchPlace>& places,
                    const std::vector<std::string>& disabled);

}  // namespace patchbay::plugin
