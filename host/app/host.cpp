#include "app/host.hpp"

#include "app/catalogue_folder.hpp"
#include "app/down_servers.hpp"
#include "app/drift_log.hpp"
#include "app/era_file.hpp"
#include "app/exposed_secrets.hpp"
#include "app/http_terms.hpp"
#include "app/list_change.hpp"
#include "app/nobody_there.hpp"
#include "app/observers.hpp"
#include "app/plugin_settings.hpp"
#include "app/plugin_transports.hpp"
#include "app/plugin_view.hpp"
#include "app/running_snapshot.hpp"
#include "app/scope_file.hpp"
#include "app/server_account.hpp"
#include "app/server_auth.hpp"
#include "app/server_log.hpp"
#include "app/server_pins.hpp"
#include "audit/audit_log.hpp"
#include "auth/consent.hpp"
#include "auth/secret_store.hpp"
#include "config/launch.hpp"
#include "config/transport_settings.hpp"
#include "connection/responder.hpp"
#include "core/lifetime.hpp"
#include "core/log.hpp"
#include "core/standard_error.hpp"
#include "registry/server_spec.hpp"
#include "service/configuration.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>

#ifndef PATCHBAY_VERSION
#error "PATCHBAY_VERSION comes from CMake"
#endif

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Our own words about ourselves, as [client] has them.
protocol::ClientIdentity identity_of(const config::ClientSettings& client) {
    json::object info{{"name", client.name},
                      {"version", client.version.empty() ? PATCHBAY_VERSION : client.version}};
    if (!client.title.empty()) info["title"] = client.title;
    return {std::move(info), connection::capabilities_of(client)};
}

plugin::SearchOptions search_options(const HostOptions& options, const config::Config& config) {
    plugin::SearchOptions search;
    search.flag_directories = options.plugin_directories;
    search.config_directories = config.plugins.directories;
    search.disabled = config.plugins.disabled;
    search.users_excluded = !config.closed_by.empty();
    return search;
}

std::vector<std::string> ids_of(const std::vector<registry::ChangedServer>& servers) {
    std::vector<std::string> ids;
    for (const auto& each : servers) ids.push_back(each.server);
    return ids;
}

// What would not work here, though it may where the servers are started.
void check_surroundings(config::Config& config, const config::Environment& environment) {
    config::check_programs(config, environment);
    config::check_references(config, environment);
    if (auto fault = fault_of_listener(config)) config.diagnostics.push_back(std::move(*fault));
}

}  // namespace

std::string default_state_directory(const config::Environment& environment) {
    const auto home = environment.variable("XDG_STATE_HOME");
    // A relative one is to be ignored, and would lie in whatever checkout we are in.
    return (home && home->starts_with('/') ? *home : environment.home + "/.local/state") +
           "/patchbay";
}

struct Host::Impl final : connection::ServerEvents, catalogue::DriftWatcher, pins::Watcher {
    explicit Impl(HostOptions given)
        : options(std::move(given)),
          loaded(config::load(options.environment)),
          person(options.person ? options.person : std::make_shared<NobodyThere>()),
          consent(loop, *person),
          secrets(loop, options.state_directory,
                  loaded.config.secret_store == "secret-service" ? std::make_unique<auth::Keyring>()
                                                                 : nullptr),
          plugins(loop, search_options(options, loaded.config), {&consent, &secrets},
                  options.map_library),
          server_auth(loaded.config, plugins, secrets, options.environment),
          sign_ins(loop, loaded.config, plugins, server_auth, secrets, expander,
                   [this](const std::string& text) {
                       if (!options.quiet) person->tell(core::log::masked("warning: " + text));
                   }),
          named_secrets(options.state_directory, loaded.config.secret_store == "secret-service"
                                                     ? std::make_unique<auth::Keyring>()
                                                     : nullptr),
          trust(options.state_directory),
          decisions(options.state_directory,
                    loaded.project.empty() ? project_folder(options.environment) : loaded.project),
          eras(loop,
               options.state_directory.empty() ? "" : options.state_directory + "/eras.json") {
        options.environment.stored_secrets = {
            [this](const std::string& name) { return named_secrets.read(name); },
            [this](const std::string& name) { return named_secrets.check(name); }};
        complete(loaded, trust, PluginApprovals::Shown::Yes);
        auto& config = loaded.config;
        // Not before: the limits are those of the configuration that is in force.
        logs.emplace(options.state_directory.empty() ? "" : options.state_directory + "/logs",
                     config.limits.stderr_line_bytes, config.log, loop.time());
        const auto level = core::log::level_from(config.log.level);
        loop.set_spin(config.host.spin);
        core::log::set_level(options.quiet ? std::max(level, core::log::Level::Error) : level);
        if (options.long_lived) core::standard_error::do_not_wait();
        // Who asks for more than warnings wants to know when.
        const bool goes_on = options.long_lived || level < core::log::Level::Warn;
        core::log::set_style(goes_on ? core::log::Style::Timed : core::log::Style::Plain);
        check(config);
        auto health = config.health;
        if (!options.long_lived) health.reconnect_attempts = 0;

        if (options.keep_events) event_log.emplace(loop);
        // The audit first: what it refuses nobody counts as sent.
        if (config.audit.enabled && !options.state_directory.empty())
            audit_log.emplace(loop, options.state_directory, config.audit);
        if (audit_log) observers.add(&*audit_log);
        if (event_log) observers.add(&*event_log);
        if (options.observe) observers.add(options.observe(config));
        observer = observers.get();
        policy.emplace(config.permissions, config.servers);
        transports.emplace(plugins, config);
        connection::Terms terms;
        terms.identity = identity_of(config.client);
        terms.health = health;
        terms.limits = config.limits;
        terms.long_lived = options.long_lived;
        terms.more_callers = options.more_callers;
        terms.turned_by_commands = options.turned_by_commands;
        terms.stdio_sharing = config.host.stdio_sharing;
        if (person->presence() != auth::Person::Presence::Nobody)
            terms.asking = plugin::Asking::MayAsk;
        connections.emplace(connection::Context{.loop = loop,
                                                .events = *this,
                                                .callers = callers,
                                                .eras = eras,
                                                .expander = expander,
                                                .transports = *transports,
                                                .credentials = server_auth,
                                                .terms = std::move(terms),
                                                .catalogue = &catalogue,
                                                .observer = observer});
        connections->apply(registry::specs_of(config));
        if (!options.state_directory.empty())
            pins.emplace(loop, catalogue, *connections, options.state_directory + "/pins",
                         loaded.project,
                         [this](const std::string& server) { return origin_of(server); });
        router.emplace(callers, *connections, *policy, catalogue, observer, &decisions,
                       pins ? &pins->pins() : nullptr);
        servers.emplace(config, *connections, *router, &catalogue,
                        options.environment.working_directory);
        if (!options.state_directory.empty())
            lists.emplace(loop, catalogue, options.state_directory + "/catalogue", config.limits,
                          options.long_lived ? core::log::Level::Warn : core::log::Level::Debug,
                          [this](const std::string& server) { return account_of(server); });
        catalogue.watch(drifts);
        catalogue.watch(static_cast<catalogue::DriftWatcher&>(*this));
        if (pins) pins->pins().watch(*this);
        follow_pins();
    }

    // Which plugins there are is known only after the first reading: what they bring, and what was
    // approved with them.
    void complete(config::Loaded& read, const service::TrustFile& approvals,
                  PluginApprovals::Shown shown) const {
        const auto fragments = servers_of_plugins(plugins);
        const bool whole = fragments.empty() && read.config.untrusted.empty();
        const PluginApprovals judge(approvals, plugins, shown);
        if (!whole) read = config::load(options.environment, fragments, &judge);
        if (!read.project.empty()) {
            auto ids = approvals.ids(read.project);
            read.config.consents.insert(std::make_move_iterator(ids.begin()),
                                        std::make_move_iterator(ids.end()));
        }
        const auto& untrusted = read.config.untrusted;
        if (const auto trouble = approvals.trouble(); !trouble && !untrusted.empty())
            read.config.diagnostics.push_back({config::RuleId::UnsafeFile,
                                               config::Severity::Warning,
                                               untrusted.front().place,
                                               "no approval counts: " + trouble.error().message,
                                               {}});
    }

    void check(config::Config& config) const {
        check_by_plugins(config, plugins, server_auth);
        check_directories(config, options.plugin_directories, options.environment);
        check_refused(config, plugins);
    }

    // Made when somebody asks: most commands never move.
    RunningSnapshot& running() {
        if (!snapshots) snapshots.emplace(loaded.config, *policy, *connections);
        return *snapshots;
    }

    std::optional<catalogue::Origin> origin_of(const std::string& server) {
        const auto found = connections->find(server);
        if (!found || !servers) return {};
        return servers->origin_of(found->get().spec());
    }

    std::optional<std::string> account_of(const std::string& server) {
        const auto found = connections->find(server);
        return found ? account.of(found->get().spec()) : std::string();
    }

    void recall(const std::vector<std::string>& ids) {
        if (!lists) return;
        std::vector<registry::ServerSpec> specs;
        for (const auto& id : ids.empty() ? connections->ids() : ids)
            if (const auto found = connections->find(id)) specs.push_back(found->get().spec());
        lists->recall(specs);
    }

    void on_output(const std::string& server, bool stray, std::string_view line) override {
        logs->add(server, stray, line);
    }
    void on_start(const std::string& server) override {
        for (const auto& each : loaded.config.servers)
            if (each.id == server) logs->begin(server, config::to_string(each.place));
    }

    void on_state(const std::string& server, connection::State state) override {
        // Before it lists anything: what is different then is told.
        if (state == connection::State::Connecting) recall({server});
        core::log::debug("server \"" + server + "\" is " + connection::name_of(state));
        if (state == connection::State::Ready) been_ready.insert(server);
        if (needs_required && DownServers::is_down(state)) look_later(server, &Impl::end_without);
        if (tells_of_servers) look_later(server, &Impl::tell_of);
    }
    // What has just changed may be one of several connections to it, and in the middle of that: what counts is how all of
    // them stand a little later.
    using Look = void (Impl::*)(const connection::ServerConnections&);
    void look_later(const std::string& server, Look look) {
        loop.defer(lifetime.guard([this, server, look] { look_at(server, look); }));
    }
    void look_at(const std::string& server, Look look) {
        if (const auto found = connections->find(server)) (this->*look)(found->get());
    }
    void tell_of(const connection::ServerConnections& server) {
        if (!tells_of_servers) return;
        down_servers.note(server.spec().id(), server.state(),
                          [&] { return connection::why_not_ready(server.status()).message; });
    }
    void end_without(const connection::ServerConnections& server) {
        const auto status = server.status();
        const auto& all = loaded.config.servers;
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) {
            return each.id == status.id && each.required;
        });
        if (why_ended || found == all.end() || been_ready.contains(status.id) ||
            !DownServers::is_down(status.state))
            return;
        const auto why = connection::why_not_ready(status);
        why_ended = Error{why.code, "server \"" + status.id + "\" is required (" +
                                        config::to_string(found->place) +
                                        ") and cannot be started: " + why.message};
        interrupted = true;
    }
    // They are in the catalogue.
    void on_tools_changed(const std::string& server) override {
        if (!observer) return;
        const auto found = catalogue.listings().find(server);
        if (found == catalogue.listings().end()) return;
        observer->on_list_changed(change_of_tools(catalogue, *found));
        if (pins) pins->tell(server, *router, *observer);
    }
    // Of tools each list is told of, above.
    void on_drift(const catalogue::Drift& drift) override {
        if (!observer || drift.list == catalogue::List::Tools) return;
        observer->on_list_changed(change_of(drift));
        if (pins) pins->tell(drift.server, *router, *observer);
    }
    void on_approved_otherwise(const std::string& server, const std::set<pins::Part>&) override {
        if (!observer) return;
        loop.defer(lifetime.guard([this, server] { pins->tell(server, *router, *observer); }));
    }
    // Another definition has pins of its own.
    void forget_pins() {
        if (pins) pins->pins().forget();
        follow_pins();
    }
    // Not before whoever waits for the start: it looks at a file for each server.
    void follow_pins() {
        if (pins && options.long_lived) loop.defer(lifetime.guard([this] { pins->follow(); }));
    }
    void tell_move(const registry::Plan& plan, std::string_view cause) {
        for (const auto& id : plan.stop) down_servers.forget(id);
        for (const auto& id : ids_of(plan.restart)) down_servers.forget(id);
        if (!observer) return;
        core::ConfigurationChange change{running().number(),
                                         cause,
                                         {},
                                         plan.start,
                                         plan.stop,
                                         ids_of(plan.restart),
                                         ids_of(plan.adjust),
                                         plan.widened.size(),
                                         plan.narrowed.size()};
        observer->on_configuration(change);
    }

    // Members are built in this order and destroyed in the reverse one.
    HostOptions options;
    std::function<void()> moved;
    core::Loop loop;
    std::optional<events::EventLog> event_log;
    std::optional<audit::AuditLog> audit_log;
    Observers observers;
    core::Observer* observer = nullptr;
    config::Loaded loaded;
    std::shared_ptr<auth::Person> person;
    auth::BrowserConsent consent;
    auth::SecretStore secrets;
    plugin::Catalogue plugins;
    ServerAuth server_auth;
    SignIns sign_ins;
    const auth::NamedSecrets named_secrets;
    service::TrustFile trust;
    service::Decisions decisions;
    std::optional<ServerLog> logs;
    EraFile eras;
    connection::Callers callers;
    std::optional<PluginTransports> transports;
    std::optional<policy::Policy> policy;
    catalogue::Catalogue catalogue{loop.time()};
    DownServers down_servers{
        loop.time(),
        {core::log::write, [this](const std::string& server, core::Clock::duration delay) {
             loop.after(delay, lifetime.guard([this, server] { look_at(server, &Impl::tell_of); }));
         }}};
    DriftLog drifts{loop, [this](const std::string& server, const std::string& text) {
                        logs->note(server, text);
                    }};
    std::optional<connection::ConnectionPool> connections;
    std::optional<ServerPins> pins;
    std::optional<router::Router> router;
    std::optional<service::Servers> servers;
    std::optional<RunningSnapshot> snapshots;
    ServerAccount account{options.environment, options.state_directory};
    std::optional<CatalogueFolder> lists;
    std::atomic<bool> interrupted{false};
    bool needs_required = false, tells_of_servers = false;
    std::set<std::string> been_ready;  // servers, any connection of theirs
    std::optional<Error> why_ended;
    bool closed = false;
    Expander expander{loop, options.environment, server_auth};
    core::Lifetime lifetime;
};

Host::Host(HostOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Host::~Host() {
    close(core::Clock::now() + std::chrono::seconds(10));
}

core::Loop& Host::loop() {
    return impl_->loop;
}
const config::Config& Host::config() const {
    return impl_->loaded.config;
}
const std::vector<config::Candidate>& Host::candidates() const {
    return impl_->loaded.candidates;
}
const auth::NamedSecrets& Host::named_secrets() const {
    return impl_->named_secrets;
}

service::TrustFile& Host::trust() {
    return impl_->trust;
}
service::Decisions& Host::decisions() {
    return impl_->decisions;
}
const std::string& Host::project() const {
    return impl_->loaded.project;
}
std::vector<config::Diagnostic> Host::check() const {
    auto checked = config();
    check_surroundings(checked, impl_->options.environment);
    tell_exposed_secrets(checked);
    for (const auto& proposal : checked.untrusted)
        for (auto fault : proposal.faults) {
            fault.severity = config::Severity::Warning;  // nothing of it is in force
            fault.message += "; it would not work if it were approved";
            checked.diagnostics.push_back(std::move(fault));
        }
    return service::diagnostics_of(checked);
}

std::vector<config::Diagnostic> Host::check_file(const std::string& file) const {
    auto checked =
        config::check_file(file, service::scope_of(file, candidates()), impl_->options.environment,
                           servers_of_plugins(impl_->plugins));
    tell_exposed_secrets(checked);
    return check_one(file, std::move(checked));
}

std::vector<config::Diagnostic> Host::check_text(const std::string& file,
                                                 std::string_view text) const {
    return check_one(
        file, config::check_text(text, file, service::scope_of(file, candidates()),
                                 impl_->options.environment, servers_of_plugins(impl_->plugins)));
}

std::vector<config::Diagnostic> Host::check_one(const std::string& file,
                                                config::Config checked) const {
    check_by_plugins(checked, impl_->plugins, impl_->server_auth);
    check_surroundings(checked, impl_->options.environment);
    auto told = service::diagnostics_of(checked);
    std::erase_if(told, [&](const auto& each) { return each.place.file != file; });
    return told;
}

std::shared_ptr<const registry::Snapshot> Host::snapshot() {
    return impl_->running().now();
}

std::shared_ptr<const registry::Snapshot> Host::read_snapshot() const {
    auto read = config::load(impl_->options.environment);
    // A record of its own: what was approved since this host started counts.
    impl_->complete(read, service::TrustFile(impl_->options.state_directory),
                    PluginApprovals::Shown::No);
    impl_->check(read.config);
    return registry::snapshot_of(std::move(read.config));
}

Result<registry::Plan> Host::apply(std::shared_ptr<const registry::Snapshot> wanted,
                                   std::string_view cause) {
    auto plan = impl_->running().apply(std::move(wanted));
    impl_->forget_pins();
    if (plan) impl_->tell_move(*plan, cause);
    if (plan && impl_->options.long_lived) recall_lists();
    if (plan && impl_->moved) impl_->moved();
    return plan;
}

Result<registry::Plan> Host::rollback() {
    auto plan = impl_->running().rollback();
    impl_->forget_pins();
    if (plan) impl_->tell_move(*plan, "rollback");
    if (plan && impl_->moved) impl_->moved();
    return plan;
}

void Host::set_moved_handler(std::function<void()> moved) {
    impl_->moved = std::move(moved);
}

std::uint64_t Host::configuration_number() const {
    return impl_->snapshots ? impl_->snapshots->number() : 1;
}

events::EventLog* Host::event_log() {
    return impl_->event_log ? &*impl_->event_log : nullptr;
}

connection::Callers& Host::callers() {
    return impl_->callers;
}
plugin::Catalogue& Host::plugins() {
    return impl_->plugins;
}
connection::ConnectionPool& Host::connections() {
    return *impl_->connections;
}
catalogue::Catalogue& Host::catalogue() {
    return impl_->catalogue;
}
void Host::recall_lists(const std::vector<std::string>& servers) {
    impl_->recall(servers);
}
router::Router& Host::router() {
    return *impl_->router;
}

ServerPins* Host::pins() {
    return impl_->pins ? &*impl_->pins : nullptr;
}
SignIns& Host::sign_ins() {
    return impl_->sign_ins;
}
const service::Servers& Host::servers() const {
    return *impl_->servers;
}

Result<std::vector<std::string>> Host::set_sandbox_state(std::string_view state) {
    return impl_->connections->set_sandbox_state(state);
}
std::string Host::sandbox_state() const {
    return impl_->connections->sandbox_state();
}

std::vector<std::string> Host::log_tail(const std::string& server, std::size_t most_lines) const {
    return impl_->logs->tail(server, most_lines);
}

std::string Host::log_path(const std::string& server) const {
    return impl_->logs->path_of(server);
}

void Host::tell_of_servers() {
    impl_->tells_of_servers = true;
}

void Host::end_without_required() {
    impl_->needs_required = true;
}
const std::optional<Error>& Host::why_ended() const {
    return impl_->why_ended;
}

bool Host::run_until(const std::function<bool()>& done, core::Clock::time_point deadline) {
    impl_->loop.run_until([&] { return impl_->interrupted || done(); }, deadline);
    return done();
}

void Host::interrupt() {
    impl_->interrupted = true;
    impl_->loop.post([] {});
}

bool Host::close(core::Clock::time_point deadline) {
    impl_->tells_of_servers = false;  // they end now because we do
    if (std::exchange(impl_->closed, true)) return true;
    auto gone = std::make_shared<bool>(false);
    impl_->connections->close([gone] { *gone = true; });
    return impl_->loop.run_until([gone] { return *gone; }, deadline);
}

}  // namespace patchbay::app
