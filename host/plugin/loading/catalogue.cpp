#include "plugin/loading/catalogue.hpp"

#include "core/lifetime.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "core/worker.hpp"
#include "plugin/current_call.hpp"
#include "plugin/links/create_authenticator.hpp"
#include "plugin/links/open_channel.hpp"
#include "plugin/loading/discovery.hpp"
#include "plugin/loading/library.hpp"
#include "plugin/loading/resident.hpp"
#include "plugin/services/http_service.hpp"
#include "plugin/services/process_service.hpp"

#include <algorithm>
#include <optional>

namespace patchbay::plugin {

const char* name_of(PluginState state) {
    switch (state) {
        case PluginState::Available:
            return "available";
        case PluginState::Loaded:
            return "loaded";
        case PluginState::Refused:
            return "refused";
        case PluginState::Shadowed:
            return "shadowed";
        case PluginState::Disabled:
            return "disabled";
        case PluginState::Misbehaved:
            return "misbehaved";
    }
    return "unknown";
}

namespace {

constexpr const char* kTransport = "transport";
constexpr const char* kAuth = "auth";

// Libraries that are mapped at once: as many may lie on a disk that does not answer before a plugin
// on a good one has to wait.
constexpr unsigned kLoadingThreads = 4;

// The table of that name; why_tables_are_wrong() has seen to it that it is there.
template <class Table>
const Table& named(const Table* const* tables, std::size_t count, std::string_view name) {
    return **std::find_if(tables, tables + count,
                          [&](const Table* each) { return each->name == name; });
}

}  // namespace

struct Catalogue::Impl {
    core::Loop& loop;
    std::vector<SearchPlace> places;
    std::vector<PluginInfo> plugins;
    std::vector<Resident*> residents;  // one for each plugin; null: not loaded
    std::vector<Looked> looked;
    const SignIn sign_in;
    const MapLibrary map;
    std::optional<HttpService> http;
    std::map<std::size_t, std::vector<Ready>> waiting;  // by plugin, for its library
    std::optional<core::Worker> worker;                 // maps libraries
    core::Lifetime lifetime;

    Impl(core::Loop& its_loop, const SearchOptions& options, SignIn offered, MapLibrary its_map)
        : loop(its_loop),
          places(search_places(options)),
          sign_in(offered),
          map(its_map ? std::move(its_map) : MapLibrary(claim_resident)) {
        auto found = discover(places, options.disabled);
        plugins = std::move(found.plugins);
        looked = std::move(found.looked);
        residents.resize(plugins.size());
        http.emplace(loop, [this](HttpService::Found told) { find_http(std::move(told)); });
        worker.emplace(loop, kLoadingThreads);
    }

    ~Impl() {
        http->close();  // its requests end while those who asked can still be told
        {
            // Should its initialisers never return, the watchdog says whose they are.
            const char* mapped =
                waiting.empty() ? nullptr : plugins[waiting.begin()->first].id.c_str();
            const CallMark mark(mapped, "its initialisers", nullptr);
            worker.reset();
        }
        for (auto* resident : residents)
            if (resident) release_resident(*resident);
    }

    static bool usable(const PluginInfo& info) {
        return info.state == PluginState::Available || info.state == PluginState::Loaded;
    }

    static bool provides(const PluginInfo& info, std::string_view kind, std::string_view name) {
        return std::any_of(info.provides.begin(), info.provides.end(),
                           [&](const Provided& provided) {
                               return provided.kind == kind && provided.name == name;
                           });
    }

    // Plugins are found bad on other threads too.
    void refresh() {
        for (std::size_t i = 0; i < plugins.size(); ++i) {
            if (!residents[i] || plugins[i].state != PluginState::Loaded) continue;
            auto why = residents[i]->services.misbehaviour();
            if (why.empty()) continue;
            plugins[i].state = PluginState::Misbehaved;
            plugins[i].reason = std::move(why);
        }
    }

    std::vector<std::string> names_of(std::string_view kind) const {
        std::vector<std::string> names;
        for (const auto& info : plugins)
            for (const auto& provided : info.provides)
                if (usable(info) && provided.kind == kind) names.push_back(provided.name);
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        return names;
    }

    // The plugin that provides `name`: the first in order of search.
    Result<std::size_t> provider(std::string_view kind, std::string_view name) {
        refresh();
        for (std::size_t i = 0; i < plugins.size(); ++i)
            if (usable(plugins[i]) && provides(plugins[i], kind, name)) return i;
        const auto wanted = std::string(kind == kAuth ? "auth method" : kind) + " \"" +
                            core::printable(name, 64) + "\"";
        for (const auto& info : plugins)
            if (provides(info, kind, name))
                return Error{ErrorCode::Unavailable, wanted + ": plugin \"" + info.id + "\" is " +
                                                         name_of(info.state) + ": " + info.reason};
        const auto known = names_of(kind);
        std::vector<std::string> searched;
        for (const auto& place : places) searched.push_back(place.directory);
        return Error{ErrorCode::NotFound,
                     core::behind_hint("unknown " + wanted + "; available: " +
                                           (known.empty() ? "none" : core::join(known, ", ")) +
                                           core::did_you_mean(name, known),
                                       "looked in " + core::join(searched, ", "))};
    }

    Result<std::string> schema_of(std::string_view kind, std::string_view name) {
        const auto found = provided(kind, name);
        if (!found) return found.error();
        return (*found)->schema_text;
    }

    Result<const Provided*> provided(std::string_view kind, std::string_view name) {
        const auto index = provider(kind, name);
        if (!index) return index.error();
        for (const auto& each : plugins[*index].provides)
            if (each.kind == kind && each.name == name) return &each;
        return Error{ErrorCode::Internal, "a provider that does not provide"};
    }

    // patchbay.plugin.http/1 of whoever provides transport "http".
    void find_http(HttpService::Found found) {
        prepare(kTransport, "http", [this, found = std::move(found)](const Result<void>& ready) {
            found(ready ? http_provider() : ready.error());
        });
    }

    Result<HttpService::Provider> http_provider() {
        const auto index = provider(kTransport, "http");
        if (!index) return index.error();
        const auto resident = load(*index);
        if (!resident) return resident.error();
        auto& services = (*resident)->services;
        const auto* table = static_cast<const patchbay_plugin_http*>(
            services.offered_by_plugin(PATCHBAY_PLUGIN_HTTP));
        if (const auto why = HttpService::why_wrong(table); !why.empty())
            return Error{ErrorCode::Unsupported, "plugin \"" + services.plugin() + "\" " + why};
        return HttpService::Provider{services.made(), table};
    }

    void refuse(PluginInfo& info, const std::string& why) {
        info.state = PluginState::Refused;
        info.reason = why;
        // It was found well when only its manifest was looked at: one library, one finding, where
        // it was looked for.
        for (auto& finding : looked) {
            if (finding.path != info.manifest_path || !finding.finding.starts_with("ok: "))
                continue;
            finding.finding = "refused: " + why;
            finding.ok = false;
        }
    }

    void prepare(std::string_view kind, std::string_view name, Ready ready) {
        const auto index = provider(kind, name);
        if (!index) return ready(index.error());
        if (plugins[*index].state == PluginState::Loaded) return ready({});
        auto& others = waiting[*index];
        others.push_back(std::move(ready));
        if (others.size() > 1) return;
        worker->run(
            [map = map, info = plugins[*index]](const std::stop_token&) { return map(info); },
            [this, index = *index](Result<Claim> claim) {
                const auto resident = enter(index, std::move(claim));
                const auto outcome = resident ? Result<void>() : Result<void>(resident.error());
                const auto told = waiting.extract(index);
                for (const auto& each : told.mapped())
                    loop.defer([each, outcome] { each(outcome); });
            });
    }

    // Of a plugin that prepare() has loaded this finds; any other it loads, waiting for the disk.
    Result<Resident*> load(std::size_t index) {
        refresh();
        if (auto known = residents[index]; known && plugins[index].state == PluginState::Loaded)
            return known;
        if (plugins[index].state != PluginState::Available) return not_available(plugins[index]);
        return enter(index, map(plugins[index]));
    }

    static Error not_available(const PluginInfo& info) {
        return {ErrorCode::Unavailable,
                "plugin \"" + info.id + "\" is " + name_of(info.state) + ": " + info.reason};
    }

    // A claim that came too late, after somebody who did not wait, is given back.
    Result<Resident*> enter(std::size_t index, Result<Claim> claim) {
        refresh();
        auto& info = plugins[index];
        if (info.state == PluginState::Loaded) return residents[index];
        if (info.state != PluginState::Available) return not_available(info);
        const auto named = "plugin \"" + info.id + "\"";
        auto resident = claim ? enter_resident(std::move(*claim), loop, info, {&*http, sign_in})
                              : Result<Resident*>(claim.error());
        if (!resident) {
            refuse(info, resident.error().message);
            core::log::error(named + " is refused: " + info.reason);
            return within(named, resident.error());
        }
        info.state = PluginState::Loaded;
        residents[index] = *resident;
        core::log::debug(named + " " + info.version + " loaded from " + info.library_path);
        return *resident;
    }
};

Catalogue::Catalogue(core::Loop& loop, SearchOptions options, SignIn sign_in, MapLibrary map)
    : impl_(std::make_unique<Impl>(loop, options, sign_in, std::move(map))) {}
Catalogue::~Catalogue() = default;

const std::vector<PluginInfo>& Catalogue::list() const {
    impl_->refresh();
    return impl_->plugins;
}

void Catalogue::verify() {
    for (auto& info : impl_->plugins) {
        if (info.state != PluginState::Available) continue;
        const auto whole = Library::check(info.library_path, info.sha256);
        if (!whole) impl_->refuse(info, whole.error().message);
    }
}

const std::vector<Looked>& Catalogue::looked() const {
    return impl_->looked;
}

Result<PluginInfo> Catalogue::info(std::string_view name) const {
    const auto& plugins = list();
    // The usable one first: a shadowed or refused namesake is seen in list().
    for (const bool any : {false, true})
        for (const auto& info : plugins)
            if (info.id == name && (any || Impl::usable(info))) return info;
    for (const bool any : {false, true})
        for (const auto& info : plugins)
            for (const auto& provided : info.provides)
                if (provided.name == name && (any || Impl::usable(info))) return info;
    std::vector<std::string> known;
    for (const auto& info : plugins) {
        known.push_back(info.id);
        for (const auto& provided : info.provides) known.push_back(provided.name);
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return Error{ErrorCode::NotFound, "no plugin \"" + core::printable(name, 128) + "\"" +
                                          core::did_you_mean(name, known) +
                                          "; `patchbay plugin doctor` shows where was looked"};
}

std::vector<std::string> Catalogue::transports() const {
    impl_->refresh();
    return impl_->names_of(kTransport);
}
std::vector<std::string> Catalogue::auth_methods() const {
    impl_->refresh();
    return impl_->names_of(kAuth);
}

Result<std::string> Catalogue::schema_of(std::string_view transport) const {
    return impl_->schema_of(kTransport, transport);
}
bool Catalogue::is_local(std::string_view transport) const {
    const auto found = impl_->provided(kTransport, transport);
    return found && (*found)->local;
}
Result<std::string> Catalogue::auth_schema_of(std::string_view method) const {
    return impl_->schema_of(kAuth, method);
}

void Catalogue::prepare_transport(std::string_view transport, Ready ready) {
    impl_->prepare(kTransport, transport, std::move(ready));
}
void Catalogue::prepare_auth(std::string_view method, Ready ready) {
    impl_->prepare(kAuth, method, std::move(ready));
}

Result<std::unique_ptr<Channel>> Catalogue::open(std::string_view transport, ChannelOptions options,
                                                 ChannelEvents& events) {
    const auto where = "server \"" + options.server + "\"";
    const auto index = impl_->provider(kTransport, transport);
    if (!index) return within(where, index.error());
    const auto resident = impl_->load(*index);
    if (!resident) return within(where, resident.error());
    const auto& plugin = *(*resident)->services.made();
    return open_channel(impl_->loop, (*resident)->services,
                        named(plugin.transports, plugin.transport_count, transport),
                        std::move(options), events);
}

Result<std::unique_ptr<Authenticator>> Catalogue::create_authenticator(
    std::string_view method, const AuthenticatorOptions& options, AuthenticatorEvents& events) {
    const auto index = impl_->provider(kAuth, method);
    if (!index) return index.error();
    const auto resident = impl_->load(*index);
    if (!resident) return resident.error();
    const auto& table = *(*resident)->services.made();
    return plugin::create_authenticator(impl_->loop, (*resident)->services,
                                        named(table.auths, table.auth_count, method), options,
                                        events);
}

void Catalogue::get(const HttpGet& wanted, Got then) {
    http_get(*impl_->http, impl_->loop, wanted, impl_->lifetime.guard(std::move(then)));
}

void Catalogue::hurry(Hurried whom, std::chrono::milliseconds most) {
    for (auto* resident : impl_->residents)
        if (auto* processes = resident ? resident->services.processes() : nullptr)
            processes->hurry(whom, static_cast<std::uint32_t>(most.count()));
}

Result<PluginInfo> Catalogue::load(std::string_view plugin_id) {
    const auto& plugins = list();
    const auto found = info(plugin_id);
    if (!found) return found.error();
    for (std::size_t i = 0; i < plugins.size(); ++i) {
        if (plugins[i].id != found->id || plugins[i].manifest_path != found->manifest_path)
            continue;
        const auto resident = impl_->load(i);
        if (!resident) return resident.error();
        return plugins[i];
    }
    return Error{ErrorCode::Internal, "a plugin that is listed and is not"};
}

}  // namespace patchbay::plugin
