// Loaded plugins, for the life of the process: a library is never unmapped, so a catalogue that
// goes leaves it here for the next one.
//
// Entry is called once for each catalogue that uses the library, also while others do (two hosts in
// one process): each is a resident of its own. A library that misbehaved or could not be shut down
// is never entered again; whoever comes next maps the file anew, with statics of its own.
// Threads: claim_resident() is [any] and waits for the disk, and for whoever maps the same file; the
//          others are [loop] of whoever calls, and wait for nothing.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"
#include "plugin/loading/catalogue.hpp"
#include "plugin/loading/library.hpp"
#include "plugin/services/host_services.hpp"

#include <memory>
#include <string>

namespace patchbay::plugin {

struct Resident {
    const std::string sha256;
    const std::vector<std::string> extensions;
    const Library::Entry entry;
    HostServices services;
    bool taken = true, usable = true;  // guarded by the lock of all residents
};

// Maps the library if needed, running nothing of it but its initialisers; nobody else gets it.
Result<Claim> claim_resident(const PluginInfo& info);

// Calls its entry, checks its tables. The result is never freed. What is lent outlives
// release_resident().
Result<Resident*> enter_resident(Claim claim, core::Loop& loop, const PluginInfo& info,
                                 const Lent& lent = {});

// Shuts the plugin down, if all its channels are destroyed, and takes the loop from it.
void release_resident(Resident& resident);

}  // namespace patchbay::plugin
