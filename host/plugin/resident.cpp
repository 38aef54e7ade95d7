#include "plugin/resident.hpp"

#include "core/log.hpp"
#include "plugin/library.hpp"
#include "plugin/slow_call.hpp"
#include "plugin/tables.hpp"

#include <algorithm>
#include <mutex>

namespace patchbay::plugin {
namespace {

struct Known {
    std::unique_ptr<Resident> resident;
    Library::Entry entry;
};

std::mutex residents_mutex;
// Never destroyed: plugin threads may still use their services while the process exits.
std::vector<Known>& residents() {
    static auto& known = *new std::vector<Known>;
    return known;
}

// What get_extension() may answer: asked for by the manifest, offered, and granted.
std::vector<std::string> granted_extensions(const PluginInfo& info) {
    std::vector<std::string> granted;
    const auto consider = [&](const std::string& id) {
        const auto& offered = offered_extensions();
        if (std::find(offered.begin(), offered.end(), id) == offered.end()) return;
        const auto gate = grant_for(id);
        const auto grant = info.grants.find(std::string(gate));
        if (gate.empty() || (grant != info.grants.end() && grant->second)) granted.push_back(id);
    };
    for (const auto& id : info.requires_extensions) consider(id);
    for (const auto& id : info.wants_extensions) consider(id);
    return granted;
}

std::string enter(Known& known, core::Loop& loop, const PluginInfo& info, const Lent& lent) {
    auto& resident = *known.resident;
    resident.services.attach(loop, lent);
    patchbay_error error{};
    patchbay_status status = PATCHBAY_E_INTERNAL;
    std::string thrown;
    {
        const SlowCall slow(info.id, "patchbay_plugin_entry_0");
        if (!guarded(thrown, [&] {
                status = known.entry(resident.services.host(), &resident.plugin, &error);
            }))
            return "patchbay_plugin_entry_0 threw: " + thrown;
    }
    if (status != PATCHBAY_OK) return "refuses to run here: " + text_of(error, status);
    return why_tables_are_wrong(resident.plugin, info);
}

}  // namespace

Result<Resident*> load_resident(core::Loop& loop, const PluginInfo& info, const Lent& lent) {
    const std::scoped_lock lock(residents_mutex);
    auto extensions = granted_extensions(info);
    bool mapped = false;
    Known* known = nullptr;
    for (auto& other : residents()) {
        if (other.resident->sha256 != info.sha256) continue;
        mapped = true;
        if (other.resident->usable && !other.resident->plugin &&
            other.resident->extensions == extensions &&
            other.resident->services.plugin() == info.id)
            known = &other;
    }
    if (known) {
        if (const auto same = Library::check(info.library_path, info.sha256); !same)
            return same.error();
    } else {
        const auto library = Library::open(info.library_path, info.sha256, mapped);
        if (!library) return library.error();
        residents().push_back({std::unique_ptr<Resident>(
                                   new Resident{info.sha256, extensions, {info.id, extensions}}),
                               library->entry()});
        known = &residents().back();
    }
    if (auto why = enter(*known, loop, info, lent); !why.empty()) {
        known->resident->usable = false;
        known->resident->services.detach();
        return Error{ErrorCode::Unsupported, info.library_path + ": " + why};
    }
    return known->resident.get();
}

void release_resident(Resident& resident) {
    auto& services = resident.services;
    if (services.channels == 0 && services.misbehaviour().empty()) {
        std::string thrown;
        const SlowCall slow(services.plugin(), "shutdown");
        if (resident.plugin->shutdown && !guarded(thrown, [&] { resident.plugin->shutdown(); }))
            services.misbehaved("shutdown threw: " + thrown);
    } else if (services.channels != 0) {
        core::log::warn("plugin \"" + services.plugin() +
                        "\": " + std::to_string(services.channels) +
                        " channels or authenticators were left behind, it is not shut down");
        resident.usable = false;
    }
    services.detach();
    const std::scoped_lock lock(residents_mutex);
    if (!services.misbehaviour().empty()) resident.usable = false;
    resident.plugin = nullptr;
}

}  // namespace patchbay::plugin
