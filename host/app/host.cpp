#include "app/host.hpp"

#include "app/era_file.hpp"
#include "app/expander.hpp"
#include "app/plugin_settings.hpp"
#include "app/running_snapshot.hpp"
#include "app/server_auth.hpp"
#include "app/server_log.hpp"
#include "app/statuses.hpp"
#include "auth/consent.hpp"
#include "auth/secret_store.hpp"
#include "config/approval.hpp"
#include "config/transport_settings.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "policy/unmatched_rules.hpp"
#include "protocol/schema.hpp"
#include "registry/server_spec.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>

#ifndef PATCHBAY_VERSION
#error "PATCHBAY_VERSION comes from CMake"
#endif

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Our own words about ourselves, as [client] has them.
protocol::ClientIdentity identity_of(const config::ClientSettings& client,
                                     const connection::Responder& responder) {
    json::object info{{"name", client.name},
                      {"version", client.version.empty() ? PATCHBAY_VERSION : client.version}};
    if (!client.title.empty()) info["title"] = client.title;
    return {std::move(info), responder.capabilities()};
}

std::vector<config::PluginFragment> servers_of_plugins(const plugin::Catalogue& plugins) {
    std::vector<config::PluginFragment> fragments;
    for (const auto& info : plugins.list()) {
        if (!info.has_servers || info.state != plugin::PluginState::Available) continue;
        std::ifstream file(info.manifest_path);
        std::stringstream text;
        text << file.rdbuf();
        fragments.push_back({info.manifest_path, text.str()});
    }
    return fragments;
}

// Null: there is none.
json::value schema_of(const plugin::Catalogue& plugins, const std::string& transport) {
    const auto text = plugins.schema_of(transport);
    auto schema = core::parse_json(text ? *text : "null");
    return schema ? std::move(*schema) : json::value();
}

// Only of transports that some server uses: a schema nobody needs is not parsed.
std::vector<config::KnownTransport> known_transports(const config::Config& config,
                                                     const plugin::Catalogue& plugins) {
    std::vector<config::KnownTransport> known;
    for (const auto& name : plugins.transports()) {
        config::KnownTransport transport{name, nullptr, {}};
        for (const auto& server : config.servers) {
            if (server.transport != name &&
                std::find(server.fallback.begin(), server.fallback.end(), name) ==
                    server.fallback.end())
                continue;
            transport.schema = schema_of(plugins, name);
            break;
        }
        known.push_back(std::move(transport));
    }
    const auto usable = plugins.transports();
    for (const auto& info : plugins.list()) {
        for (const auto& provided : info.provides) {
            const bool missed = provided.kind == "transport" &&
                                info.state != plugin::PluginState::Shadowed &&
                                !std::binary_search(usable.begin(), usable.end(), provided.name);
            if (!missed) continue;
            known.push_back({provided.name, nullptr,
                             "plugin \"" + info.id + "\" would provide it, but is " +
                                 plugin::name_of(info.state) + ": " + info.reason});
        }
    }
    return known;
}

plugin::SearchOptions search_options(const HostOptions& options, const config::Config& config) {
    plugin::SearchOptions search;
    search.flag_directories = options.plugin_directories;
    search.config_directories = config.plugins.directories;
    search.disabled = config.plugins.disabled;
    return search;
}

class Judge final : public config::Approvals {
public:
    Judge(const TrustFile& trust, const plugin::Catalogue& plugins)
        : trust_(trust), plugins_(plugins) {}
    bool approved(const config::Proposal& proposal) const override {
        return trust_.approved(proposal);
    }
    std::string plugin_of(const std::string& transport) const override {
        for (const auto& info : plugins_.list()) {
            if (info.state != plugin::PluginState::Available &&
                info.state != plugin::PluginState::Loaded)
                continue;
            for (const auto& provided : info.provides)
                if (provided.kind == "transport" && provided.name == transport) return info.id;
        }
        return {};
    }

private:
    const TrustFile& trust_;
    const plugin::Catalogue& plugins_;
};

// Auth methods and the store speak of what they do, not of whom it is for.
OneSignIn::Done naming(const std::string& id, OneSignIn::Done done) {
    return [id, done = std::move(done)](const Result<void>& outcome) {
        done(outcome ? outcome : within("server \"" + id + "\"", outcome.error()));
    };
}

// For a host that nobody sits at.
class NobodyThere final : public auth::Person {
    Presence presence() const override { return Presence::Nobody; }
    void tell(const std::string&) override {}
    std::uint64_t ask(const std::string&, const std::string&, Line) override { return 1; }
    void withdraw(std::uint64_t) override {}
    Result<void> open_browser(const std::string&) override {
        return Error{ErrorCode::Unsupported, "nobody is there"};
    }
};

}  // namespace

std::string default_state_directory(const config::Environment& environment) {
    const auto home = environment.variable("XDG_STATE_HOME");
    // A relative one is to be ignored, and would lie in whatever checkout we are in.
    return (home && home->starts_with('/') ? *home : environment.home + "/.local/state") +
           "/patchbay";
}

struct Host::Impl final : connection::ServerEvents {
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
          server_auth(loaded.config, plugins, secrets),
          signing(loop),
          trust(options.state_directory),
          eras(loop,
               options.state_directory.empty() ? "" : options.state_directory + "/eras.json") {
        complete(loaded, trust);
        auto& config = loaded.config;
        // Not before: the limits are those of the configuration that is in force.
        logs.emplace(options.state_directory.empty() ? "" : options.state_directory + "/logs",
                     config.limits.stderr_line_bytes);
        const auto level = core::log::level_from(config.log_level);
        core::log::set_level(options.quiet ? std::max(level, core::log::Level::Error) : level);
        check(config);
        auto health = config.health;
        if (!options.long_lived) health.reconnect_attempts = 0;

        some_fall_back = falls_back(config);
        responder = connection::make_responder(config.client, options.ask);
        policy.emplace(config.permissions);
        using connection::Context;
        Context context{
            loop,
            *responder,
            *this,
            eras,
            identity_of(config.client, *responder),
            health,
            config.limits,
            options.long_lived,
            [this](const std::string& transport, plugin::ChannelOptions channel,
                   plugin::ChannelEvents& events) {
                if (some_fall_back) {
                    const auto schema = schema_of(plugins, transport);
                    channel.settings = config::settings_for(channel.settings, schema);
                }
                return plugins.open(transport, std::move(channel), events);
            },
            [this](const config::Server& server, Expander::Then then) {
                const bool signs_in = server_auth.choice(server).has_value();
                expander.expand(server,
                                signs_in ? server_auth.method_of(server) : connection::AuthMethod{},
                                std::move(then));
            },
            [this](const std::string& transport) {
                const auto known = plugins.transports();
                return std::binary_search(known.begin(), known.end(), transport);
            },
            [this](const config::Server& server) { return server_auth.choice(server); },
            [this](const config::Server& server, const connection::AuthMethod& method,
                   std::shared_ptr<plugin::Signer> signer, plugin::AuthenticatorEvents& events) {
                return server_auth.authenticator(server, method, std::move(signer), events);
            },
            [this](const std::string& name) {
                return options.environment.variable ? options.environment.variable(name)
                                                    : std::nullopt;
            },
            person->presence() == auth::Person::Presence::Nobody ? plugin::Asking::Quiet
                                                                 : plugin::Asking::MayAsk};
        context.prepare = [this](const std::string& transport, Context::Ready ready) {
            plugins.prepare_transport(transport, std::move(ready));
        };
        context.prepare_auth = [this](const connection::AuthMethod& method, Context::Ready ready) {
            plugins.prepare_auth(method.name, std::move(ready));
        };
        connections.emplace(std::move(context));
        connections->apply(registry::specs_of(config));
        router.emplace(*connections, *policy);
    }

    // Which plugins there are is known only after the first reading: what they bring, and what was
    // approved with them.
    void complete(config::Loaded& read, const TrustFile& approvals) const {
        const auto fragments = servers_of_plugins(plugins);
        if (fragments.empty() && read.config.untrusted.empty()) return;
        const Judge judge(approvals, plugins);
        read = config::load(options.environment, fragments, &judge);
        const auto& untrusted = read.config.untrusted;
        if (const auto trouble = approvals.trouble(); !trouble && !untrusted.empty())
            read.config.diagnostics.push_back({config::Severity::Warning,
                                               untrusted.front().place,
                                               "no approval counts: " + trouble.error().message,
                                               {}});
    }

    void check(config::Config& config) const {
        check_transports(config);
        check_directories(config, options.plugin_directories);
    }

    static bool falls_back(const config::Config& config) {
        return std::any_of(config.servers.begin(), config.servers.end(),
                           [](const config::Server& server) { return !server.fallback.empty(); });
    }

    // Made when somebody asks: most commands never move.
    RunningSnapshot& running() {
        if (!running_)
            running_.emplace(*connections, *policy, *router, registry::snapshot_of(loaded.config));
        return *running_;
    }

    // In place: whoever borrows the configuration sees the new one from the same turn on.
    Result<registry::Plan> moved(Result<registry::Plan> done) {
        if (!done) return done;
        loaded.config = running().now()->config;
        some_fall_back = falls_back(loaded.config);
        return done;
    }

    // Null: not configured.
    const config::Server* server(const std::string& id) const {
        const auto& servers = loaded.config.servers;
        const auto found = std::find_if(servers.begin(), servers.end(),
                                        [&](const auto& each) { return each.id == id; });
        return found == servers.end() ? nullptr : &*found;
    }

    // Null: none waits for an approval.
    const config::Proposal* proposal(const std::string& id) const {
        const auto& proposals = loaded.config.untrusted;
        const auto found = std::find_if(proposals.begin(), proposals.end(),
                                        [&](const auto& each) { return each.id == id; });
        return found == proposals.end() || found->is_table() ? nullptr : &*found;
    }

    void tell_unknown(const std::string& id, const OneSignIn::Done& done) {
        std::vector<std::string> known;
        for (const auto& each : loaded.config.servers) known.push_back(each.id);
        if (const auto* waits = proposal(id)) {
            return loop.defer([done, error = Error{ErrorCode::Denied, config::why_inert(*waits)}] {
                done(error);
            });
        }
        loop.defer(
            [done, error = Error{ErrorCode::NotFound,
                                 "no server \"" + core::printable(id, 80) + "\" is configured" +
                                     core::did_you_mean(id, known)}] { done(error); });
    }

    // With everything expanded for `server`, signs in or out; or `done` hears why not.
    void with_method(const config::Server& server, OneSignIn::Done done,
                     std::function<void(OneSignIn::Make make, const std::string& url)> then) {
        expander.expand(
            server, server_auth.method_of(server),
            [this, server, done = std::move(done),
             then = std::move(then)](Result<connection::Expanded> expanded) {
                if (!expanded || !expanded->auth) {
                    const auto error = expanded ? expanded->auth.error() : expanded.error();
                    return loop.defer([done, error] { done(error); });
                }
                const std::string url(core::text_in(&expanded->settings, "url").value_or(""));
                const auto method = *expanded->auth;
                const auto make = [this, server, method](plugin::AuthenticatorEvents& events) {
                    return server_auth.authenticator(server, method, nullptr, events);
                };
                plugins.prepare_auth(method.name,
                                     [this, done, then, make, url](const Result<void>& ready) {
                                         if (ready) return then(make, url);
                                         loop.defer([done, error = ready.error()] { done(error); });
                                     });
            });
    }

    void check_transports(config::Config& config) const {
        config::check_transports(config, known_transports(config, plugins), compile_schema);
        server_auth.check(config);
        check_disabled(config, plugins);
        check_proposals(config);
    }

    // What waits for an approval would be judged like the rest.
    void check_proposals(config::Config& config) const {
        if (config.untrusted.empty()) return;
        config::Config meant;
        meant.auth = config.auth;
        for (auto& proposal : config.untrusted) {
            if (proposal.server) meant.servers.push_back(*proposal.server);
            const auto* table =
                proposal.is_table() ? proposal.definition.at("auth").if_object() : nullptr;
            if (!table) continue;
            meant.auth[proposal.id.substr(5)] = *table;
            if (const auto method = server_auth.method_named_by(*table); !method)
                proposal.faults.push_back(to_string(proposal.place) + ": " +
                                          method.error().message);
        }
        config::check_transports(meant, known_transports(meant, plugins), compile_schema);
        server_auth.check(meant);
        for (const auto& told : meant.diagnostics)
            for (auto& proposal : config.untrusted)
                if (proposal.id == told.server && told.severity == config::Severity::Error)
                    proposal.faults.push_back(to_string(told.place) + ": " + told.message);
    }

    void on_notification(const std::string& server, const std::string& method,
                         std::string_view params) override {
        if (notified) notified(server, method, params);
    }
    void on_output(const std::string& server, bool stray, std::string_view line) override {
        logs->add(server, stray, line);
    }
    void on_state(const std::string& server, connection::State state) override {
        core::log::debug("server \"" + server + "\" is " + connection::name_of(state));
    }
    void on_tools_changed(const std::string&) override {
        if (router) router->forget_index();
    }

    // Members are built in this order and destroyed in the reverse one.
    HostOptions options;
    core::Loop loop;
    config::Loaded loaded;
    std::shared_ptr<auth::Person> person;
    auth::BrowserConsent consent;
    auth::SecretStore secrets;
    plugin::Catalogue plugins;
    ServerAuth server_auth;
    OneSignIn signing;
    TrustFile trust;
    std::optional<ServerLog> logs;
    EraFile eras;
    NotificationHandler notified;
    std::unique_ptr<connection::Responder> responder;
    std::optional<policy::Policy> policy;
    std::optional<connection::ConnectionManager> connections;
    std::optional<router::Router> router;
    std::optional<RunningSnapshot> running_;
    bool some_fall_back = false;
    std::atomic<bool> interrupted{false};
    bool closed = false;
    Expander expander{loop, options.environment, server_auth};
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
TrustFile& Host::trust() {
    return impl_->trust;
}
const std::string& Host::project() const {
    return impl_->loaded.project;
}
void Host::check_transports(config::Config& config) const {
    impl_->check_transports(config);
}

std::shared_ptr<const registry::Snapshot> Host::snapshot() {
    return impl_->running().now();
}

std::shared_ptr<const registry::Snapshot> Host::read_snapshot() const {
    auto read = config::load(impl_->options.environment);
    // A record of its own: what was approved since this host started counts.
    impl_->complete(read, TrustFile(impl_->options.state_directory));
    impl_->check(read.config);
    return registry::snapshot_of(std::move(read.config));
}

Result<registry::Plan> Host::apply(std::shared_ptr<const registry::Snapshot> wanted) {
    return impl_->moved(impl_->running().apply(std::move(wanted)));
}

Result<registry::Plan> Host::rollback() {
    return impl_->moved(impl_->running().rollback());
}

plugin::Catalogue& Host::plugins() {
    return impl_->plugins;
}
connection::ConnectionManager& Host::connections() {
    return *impl_->connections;
}
router::Router& Host::router() {
    return *impl_->router;
}

std::vector<config::Diagnostic> Host::rule_warnings() const {
    return policy::unmatched_rules(config(), listed_tools(*impl_->connections));
}

std::vector<connection::Status> Host::statuses() const {
    std::map<std::string, std::size_t> tools;
    for (const auto& tool : impl_->router->tools()) ++tools[tool.server];
    return statuses_of_all(impl_->connections->statuses(), tools, config());
}

void Host::sign_in(const std::string& id, const std::string& scope, OneSignIn::Done done) {
    const auto* server = impl_->server(id);
    if (!server) return impl_->tell_unknown(id, done);
    done = naming(id, std::move(done));
    if (auto why = impl_->server_auth.why_no_sign_in(*server); !why.empty()) {
        return impl_->loop.defer(
            [done, error = Error{ErrorCode::Invalid, std::move(why)}] { done(error); });
    }
    impl_->with_method(*server, done,
                       [this, scope, done](const OneSignIn::Make& make, const std::string& url) {
                           impl_->signing.sign_in(make, url, scope, done);
                       });
}

void Host::sign_out(const std::string& id, OneSignIn::Done done) {
    const auto* server = impl_->server(id);
    const auto stored = impl_->secrets.stored();
    const bool kept = stored && stored->contains(id);
    const bool waits = impl_->proposal(id) != nullptr;
    if (!server && !waits && !kept) return impl_->tell_unknown(id, done);
    done = naming(id, std::move(done));
    // Whatever the method says to it, the record goes. Nobody has to approve a definition for that.
    auto erase = [this, id, done](const Result<void>& revoked) {
        if (!revoked)
            core::log::warn("server \"" + id + "\" was not told: " + revoked.error().message);
        impl_->secrets.erase(id, done);
    };
    if (!server && kept)
        return erase(Error{ErrorCode::Denied, waits ? "its definition is not approved"
                                                    : "no definition of it is in force"});
    if (!server || !impl_->server_auth.choice(*server)) return erase({});
    impl_->with_method(*server, erase,
                       [this, erase](const OneSignIn::Make& make, const std::string&) {
                           impl_->signing.sign_out(make, erase);
                       });
}

void Host::cancel_sign_in() {
    impl_->signing.cancel();
}

bool Host::sign_in_was_needless() const {
    return impl_->signing.was_needless();
}

Result<std::vector<Login>> Host::logins() const {
    const auto stored = impl_->secrets.stored();
    if (!stored) return stored.error();
    std::vector<Login> logins;
    for (const auto& [server, record] : *stored)
        if (record.is_object()) logins.push_back(login_of(server, record.get_object()));
    std::sort(logins.begin(), logins.end(),
              [](const auto& a, const auto& b) { return a.server < b.server; });
    return logins;
}

void Host::set_notification_handler(NotificationHandler handler) {
    impl_->notified = std::move(handler);
}

std::vector<std::string> Host::log_tail(const std::string& server, std::size_t most_lines) const {
    return impl_->logs->tail(server, most_lines);
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
    if (std::exchange(impl_->closed, true)) return true;
    auto gone = std::make_shared<bool>(false);
    impl_->connections->close([gone] { *gone = true; });
    return impl_->loop.run_until([gone] { return *gone; }, deadline);
}

}  // namespace patchbay::app
