#include "plugin/loading/resident.hpp"

#include "core/log.hpp"
#include "plugin/loading/tables.hpp"
#include "plugin/slow_call.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

namespace patchbay::plugin {
namespace {

std::mutex residents_mutex;  // guards what follows, `taken` and `usable`; never held for the disk
std::condition_variable no_longer_mapping;
// Never destroyed: plugin threads may still use their services while the process exits.
std::vector<std::unique_ptr<Resident>>& residents() {
    static auto& known = *new std::vector<std::unique_ptr<Resident>>;
    return known;
}
// Hashes of files on their way: two that map one file at once would share its statics.
std::set<std::string>& being_mapped() {
    static auto& hashes = *new std::set<std::string>;
    return hashes;
}

// While it lives, nobody else maps that file.
class SoleMapping {
public:
    explicit SoleMapping(const std::string& sha256) : sha256_(sha256) {
        std::unique_lock lock(residents_mutex);
        no_longer_mapping.wait(lock, [this] { return being_mapped().insert(sha256_).second; });
    }
    ~SoleMapping() {
        const std::scoped_lock lock(residents_mutex);
        being_mapped().erase(sha256_);
        no_longer_mapping.notify_all();
    }
    SoleMapping(const SoleMapping&) = delete;

private:
    const std::string& sha256_;
};

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

std::string enter(Resident& resident, core::Loop& loop, const PluginInfo& info, const Lent& lent) {
    resident.services.attach(loop, lent);
    const patchbay_plugin* plugin = nullptr;
    patchbay_error error{};
    patchbay_status status = PATCHBAY_E_INTERNAL;
    std::string thrown;
    if (!call_plugin(info.id, "patchbay_plugin_entry_0", nullptr, thrown,
                     [&] { status = resident.entry(resident.services.host(), &plugin, &error); }))
        return "patchbay_plugin_entry_0 threw: " + thrown;
    if (status != PATCHBAY_OK) return "refuses to run here: " + text_of(&error, status);
    resident.services.entered(plugin);
    return why_tables_are_wrong(plugin, info);
}

// Others may enter its library too. With the lock of all residents held, which guards `residents`:
// statics are spoilt for all who share them.
bool sound(const Resident& resident) {
    const auto& all = residents();
    return std::all_of(all.begin(), all.end(), [&](const auto& other) {
        return other->entry != resident.entry ||
               (other->usable && other->services.misbehaviour().empty());
    });
}

}  // namespace

void GiveBack::operator()(Resident* resident) const {
    const std::scoped_lock lock(residents_mutex);
    resident->taken = false;
}

Result<Claim> claim_resident(const PluginInfo& info) {
    const SoleMapping mapping(info.sha256);
    auto extensions = granted_extensions(info);
    bool mapped = false;
    Library::Entry entry = nullptr;
    Claim claim;
    {
        const std::scoped_lock lock(residents_mutex);
        for (const auto& other : residents()) {
            if (other->sha256 != info.sha256) continue;
            mapped = true;
            if (claim || !sound(*other)) continue;
            entry = other->entry;
            if (other->taken || other->extensions != extensions ||
                other->services.plugin() != info.id)
                continue;
            other->taken = true;
            claim.reset(other.get());
        }
    }
    // An initialiser that crashes does so here.
    const CallMark mark(info.id.c_str(), "its initialisers", nullptr);
    if (entry) {
        if (const auto same = Library::check(info.library_path, info.sha256); !same)
            return same.error();
        if (claim) return claim;
    } else {
        const auto library = Library::open(info.library_path, info.sha256, mapped);
        if (!library) return library.error();
        entry = library->entry();
    }
    std::unique_ptr<Resident> made(
        new Resident{info.sha256, extensions, entry, {info.id, extensions}});
    const std::scoped_lock lock(residents_mutex);
    residents().push_back(std::move(made));
    return Claim(residents().back().get());
}

Result<Resident*> enter_resident(Claim claim, core::Loop& loop, const PluginInfo& info,
                                 const Lent& lent) {
    if (auto why = enter(*claim, loop, info, lent); !why.empty()) {
        claim->services.detach();
        static_cast<void>(claim.release());  // it stays taken: nobody is to have it again
        return Error{ErrorCode::Unsupported, info.library_path + ": " + why};
    }
    return claim.release();
}

void release_resident(Resident& resident) {
    auto& services = resident.services;
    const auto* const plugin = services.made();
    if (services.channels == 0 && services.misbehaviour().empty()) {
        std::string thrown;
        if (plugin->shutdown && !call_plugin(services.plugin(), "shutdown", nullptr, thrown,
                                             [&] { plugin->shutdown(plugin); }))
            services.misbehaved("shutdown threw: " + thrown);
    } else if (services.channels != 0) {
        core::log::warn("plugin \"" + services.plugin() +
                        "\": " + std::to_string(services.channels) +
                        " channels or authenticators were left behind, it is not shut down");
    }
    const bool usable = services.channels == 0 && services.misbehaviour().empty();
    services.detach();
    services.entered(nullptr);
    const std::scoped_lock lock(residents_mutex);
    if (!usable) {
        // What it made at its entry is its own, for as long as this process lives.
        static auto& left_behind = *new std::vector<const patchbay_plugin*>;
        left_behind.push_back(plugin);
        resident.usable = false;
    }
    resident.taken = false;
}

}  // namespace patchbay::plugin
