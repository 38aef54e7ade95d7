// Loaded plugins, for the life of the process: a library is never unmapped, so a catalogue that
// goes leaves it here for the next one.
//
// Entry is called once, and again only after shutdown has returned. A library that is in use by
// another catalogue (two hosts in one process) is mapped a second time with statics of its own; one
// that misbehaved or could not be shut down is never used again.
// Threads: [loop] of whoever calls, one at a time: hosts on several threads load under a lock.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"
#include "plugin/catalogue.hpp"
#include "plugin/host_services.hpp"

#include <memory>
#include <string>

namespace patchbay::plugin {

struct Resident {
    std::string sha256;
    std::vector<std::string> extensions;
    HostServices services;
    const patchbay_plugin* plugin = nullptr;  // null: not in use
    bool usable = true;
};

// Maps the library if needed, calls its entry, checks its tables. The result is never freed.
// What is lent outlives release_resident().
Result<Resident*> load_resident(core::Loop& loop, const PluginInfo& info, const Lent& lent = {});

// Shuts the plugin down, if all its channels are destroyed, and takes the loop from it.
void release_resident(Resident& resident);

}  // namespace patchbay::plugin
