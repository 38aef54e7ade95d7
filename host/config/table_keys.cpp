#include "config/dialects.hpp"
#include "config/keys.hpp"
#include "config/rules.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

namespace patchbay::config {

namespace {

namespace json = boost::json;
using C = Config;
using J = json::value;
using N = const Node&;
constexpr auto kAnyone = May::Anyone;
constexpr auto kNotProject = May::NotProject;

// As far as every target type reaches, so that the cast below keeps the value.
constexpr std::int64_t kMostCount = std::numeric_limits<std::int32_t>::max();

template <class Unsigned>
std::string take_count(Unsigned& target, const Node& value, std::int64_t most = kMostCount) {
    if (!value.is(Node::Kind::Integer) || value.integer < 1 || value.integer > most) {
        return wrong_number("a whole number from 1 to " + std::to_string(most), value);
    }
    target = static_cast<Unsigned>(value.integer);
    return {};
}

std::string take_spin(std::chrono::microseconds& target, const Node& value) {
    constexpr std::int64_t most = 1'000;
    if (!value.is(Node::Kind::Integer) || value.integer < 0 || value.integer > most)
        return wrong_number("a whole number of microseconds from 0 to " + std::to_string(most),
                            value);
    target = std::chrono::microseconds(value.integer);
    return {};
}

// Clients give a list a minute at most.
std::string take_wait(std::chrono::milliseconds& target, const Node& value) {
    constexpr std::int64_t most = 60'000;
    if (!value.is(Node::Kind::Integer) || value.integer < 0 || value.integer > most)
        return wrong_number("a whole number of milliseconds from 0 to " + std::to_string(most),
                            value);
    target = std::chrono::milliseconds(value.integer);
    return {};
}

// A setting of the stdio plugin for all its servers. The name of a variable is as its schema has it.
std::string take_passed(std::vector<std::string>& target, const Node& value) {
    if (!value.is(Node::Kind::Map)) return mismatch("a table", value);
    std::vector<std::string> names;
    for (const auto& member : value.members) {
        if (member.key != "pass_env")
            return core::behind_hint("unknown key \"" + core::printable(member.key, 80) + "\"" +
                                         core::did_you_mean(member.key, {"pass_env"}),
                                     "it has pass_env");
        if (auto wrong = take_texts(names, member.value); !wrong.empty())
            return "pass_env: " + wrong;
    }
    for (const auto& name : names) {
        const bool good = !name.empty() && (name[0] < '0' || name[0] > '9') &&
                          std::all_of(name.begin(), name.end(), [](unsigned char c) {
                              return c < 0x80 && (std::isalnum(c) || c == '_');
                          });
        if (!good)
            return "pass_env: expected names of variables, found \"" + core::printable(name, 80) +
                   "\"";
    }
    target = std::move(names);
    return {};
}

// Far more than a public name has; a server's or a tool's own one may be longer than that.
constexpr std::size_t kMostPatternBytes = 1024;

// One that is the name of nothing, wherever it is read, was meant for something all the same.
std::string take_denied(std::vector<std::string>& target, const Node& value) {
    if (auto wrong = take_patterns(target, value); !wrong.empty()) return wrong;
    std::vector<std::string> strange;
    for (const auto& written : target)
        if (!can_be_denied(written)) strange.push_back("\"" + core::printable(written, 80) + "\"");
    if (strange.empty()) return {};
    return core::printable(core::join(strange, ", "), 1000) +
           " can match no tool: public names are mcp__SERVER__TOOL, and mcp__SERVER__* is all of a "
           "server";
}

// A member of a table of Config, by the pointers that lead there.
template <auto... path>
const auto& at(const Config& config) {
    return (config.*....*path);
}

J told_value(const std::vector<std::string>& texts) {
    return json::array(texts.begin(), texts.end());
}
J told_value(const std::optional<std::vector<std::string>>& texts) {
    return texts ? told_value(*texts) : J();
}
J told_value(const std::string& text) {
    return J(text);
}
template <class Period>
J told_value(std::chrono::duration<std::int64_t, Period> time) {
    return time.count();  // in the unit of its key
}
template <class Value>
J told_value(const Value& value) {
    return value;
}

template <auto... path>
J told(const Config& config) {
    return told_value(at<path...>(config));
}
template <auto... path>
J told_seconds(const Config& config) {
    return told_in_seconds(at<path...>(config));
}

constexpr std::array kOurKeys = {
    // How the host calls itself to the servers of its user, and what it shows of them, is the user's to
    // say: a checkout could make it answer questions in their name.
    TableKey{"client", "name", kNotProject, [](C& c, N v) { return take_text(c.client.name, v); },
             told<&C::client, &ClientSettings::name>},
    TableKey{"client", "version", kNotProject,
             [](C& c, N v) { return take_text(c.client.version, v); },
             told<&C::client, &ClientSettings::version>},
    TableKey{"client", "title", kNotProject, [](C& c, N v) { return take_text(c.client.title, v); },
             told<&C::client, &ClientSettings::title>},
    TableKey{"client", "roots", kNotProject,
             [](C& c, N v) { return take_texts(c.client.roots, v); },
             told<&C::client, &ClientSettings::roots>},
    TableKey{
        "client", "elicitation", kNotProject,
        [](C& c, N v) {
            return take_one_of(c.client.elicitation, v, {"refuse", "defaults", "fixed", "ask"});
        },
        told<&C::client, &ClientSettings::elicitation>},
    TableKey{"client", "elicitation_content", kNotProject,
             [](C& c, N v) { return take_object(c.client.elicitation_content, v); },
             told<&C::client, &ClientSettings::elicitation_content>},
    TableKey{"client", "sampling", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.client.sampling, v, {"refuse", "fixed"});
             },
             told<&C::client, &ClientSettings::sampling>},
    TableKey{"client", "sampling_text", kNotProject,
             [](C& c, N v) { return take_text(c.client.sampling_text, v); },
             told<&C::client, &ClientSettings::sampling_text>},
    TableKey{"client", "capabilities", kNotProject,
             [](C& c, N v) { return take_object(c.client.capabilities, v); },
             told<&C::client, &ClientSettings::capabilities>},

    // A checkout could have each server of the user taken for dead in the middle of a call.
    TableKey{"health", "ping_interval_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.ping_interval, v, 1000, 1000); },
             told_seconds<&C::health, &HealthSettings::ping_interval>},
    TableKey{"health", "ping_timeout_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.ping_timeout, v, 1000, 100); },
             told_seconds<&C::health, &HealthSettings::ping_timeout>},
    TableKey{"health", "misses", kNotProject,
             [](C& c, N v) { return take_count(c.health.misses, v); },
             told<&C::health, &HealthSettings::misses>},
    TableKey{"health", "reconnect_first_ms", kNotProject,
             [](C& c, N v) { return take_duration(c.health.reconnect_first, v, 1); },
             told<&C::health, &HealthSettings::reconnect_first>},
    TableKey{"health", "reconnect_most_ms", kNotProject,
             [](C& c, N v) { return take_duration(c.health.reconnect_most, v, 1); },
             told<&C::health, &HealthSettings::reconnect_most>},
    TableKey{"health", "reconnect_attempts", kNotProject,
             [](C& c, N v) { return take_count(c.health.reconnect_attempts, v); },
             told<&C::health, &HealthSettings::reconnect_attempts>},
    TableKey{"health", "stable_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.stable, v, 1000); },
             told_seconds<&C::health, &HealthSettings::stable>},
    TableKey{"health", "tool_cache_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.tool_cache, v, 1000); },
             told_seconds<&C::health, &HealthSettings::tool_cache>},

    // Merged by rules of their own, not by "the strongest wins": see merge.hpp.
    TableKey{"permissions", "allow", kAnyone,
             [](C& c, N v) { return take_patterns(c.permissions.allow.emplace(), v); },
             told<&C::permissions, &Permissions::allow>},
    TableKey{"permissions", "deny", kAnyone,
             [](C& c, N v) { return take_denied(c.permissions.deny, v); },
             told<&C::permissions, &Permissions::deny>},
    TableKey{"permissions", "ask", kAnyone,
             [](C& c, N v) { return take_denied(c.permissions.ask, v); },
             told<&C::permissions, &Permissions::ask>},

    // The time of the user's processor.
    TableKey{"host", "spin_us", kNotProject, [](C& c, N v) { return take_spin(c.host.spin, v); },
             told<&C::host, &HostSettings::spin>},
    // What one caller leaves in a process is the next one's to find.
    TableKey{"host", "stdio_sharing", kNotProject,
             [](C& c, N v) { return take_flag(c.host.stdio_sharing, v); },
             told<&C::host, &HostSettings::stdio_sharing>},

    // A checkout could approve in its user's place what it has a client call, or hide what that calls.
    TableKey{"gateway", "approvals", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.gateway.approvals, v, {"client", "ask", "rules"});
             },
             told<&C::gateway, &GatewaySettings::approvals>},
    TableKey{"gateway", "first_list_ms", kNotProject,
             [](C& c, N v) { return take_wait(c.gateway.first_list, v); },
             told<&C::gateway, &GatewaySettings::first_list>},
    TableKey{"gateway", "host_tools", kNotProject,
             [](C& c, N v) { return take_flag(c.gateway.host_tools, v); },
             told<&C::gateway, &GatewaySettings::host_tools>},
    // It could open a door of its user's machine, leave it open, or have files read as keys.
    TableKey{"gateway", "http", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.http, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::http>},
    TableKey{"gateway", "sse", kNotProject,
             [](C& c, N v) { return take_flag(c.gateway.listener.sse, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::sse>},
    TableKey{"gateway", "auth", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.gateway.listener.auth, v, {"auto", "none", "token"});
             },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::auth>},
    TableKey{"gateway", "public_url", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.public_url, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::public_url>},
    TableKey{"gateway", "allow_host", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.allow_host, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::allow_host>},
    TableKey{"gateway", "allow_origin", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.allow_origin, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::allow_origin>},
    TableKey{"gateway", "tls_cert", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.tls_cert, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::tls_cert>},
    TableKey{"gateway", "tls_key", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.tls_key, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::tls_key>},
    TableKey{"gateway", "allow_plain", kNotProject,
             [](C& c, N v) { return take_flag(c.gateway.listener.allow_plain, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::allow_plain>},
    TableKey{"gateway", "oauth_issuer", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.oauth_issuer, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::oauth_issuer>},
    TableKey{"gateway", "oauth_scope", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.oauth_scope, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::oauth_scope>},
    TableKey{"gateway", "oauth_audience", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.oauth_audience, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::oauth_audience>},
    TableKey{"gateway", "oauth_keys", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.oauth_keys, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::oauth_keys>},
    TableKey{"gateway", "metrics", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.metrics, v); },
             told<&C::gateway, &GatewaySettings::listener, &ListenerSettings::metrics>},

    // A plugin is code of the host: a cloned repository may not say where to find some.
    TableKey{"plugins", "directories", kNotProject,
             [](C& c, N v) { return take_texts(c.plugins.directories, v); },
             told<&C::plugins, &PluginSettings::directories>},
    TableKey{"plugins", "disabled", kNotProject,
             [](C& c, N v) { return take_texts(c.plugins.disabled, v); },
             told<&C::plugins, &PluginSettings::disabled>},
    TableKey{"plugins", "hang_limit", kNotProject,
             [](C& c, N v) { return take_duration(c.plugins.hang_limit, v, 1000); },
             told_seconds<&C::plugins, &PluginSettings::hang_limit>},
    // What leaves the environment of the user is the user's to say.
    TableKey{"plugins", "stdio", kNotProject,
             [](C& c, N v) { return take_passed(c.plugins.stdio_pass_env, v); },
             [](const C& c) {
                 return J(json::object{{"pass_env", told_value(c.plugins.stdio_pass_env)}});
             }},

    // A checkout could choose where it finds them.
    TableKey{"secrets", "store", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.secret_store, v, {"file", "secret-service"});
             },
             told<&C::secret_store>},

    // What it follows is as good as written by the user.
    TableKey{"import", "follow", May::UserAlone, [](C& c, N v) { return take_texts(c.follow, v); },
             told<&C::follow>},

    TableKey{
        "log", "level", kNotProject,  // it could hide what we have to say of it
        [](C& c, N v) {
            return take_one_of(c.log.level, v, {"trace", "debug", "info", "warn", "error", "off"});
        },
        told<&C::log, &LogSettings::level>},
    // It could have thrown away what its servers said, or fill the disk.
    TableKey{"log", "server_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.log.server_bytes, v); },
             told<&C::log, &LogSettings::server_bytes>},
    TableKey{"log", "server_age_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.log.server_age, v, 1000, 1000); },
             told_seconds<&C::log, &LogSettings::server_age>},
    TableKey{"log", "server_files", kNotProject,
             [](C& c, N v) { return take_count(c.log.server_files, v, std::int64_t{100}); },
             told<&C::log, &LogSettings::server_files>},

    // It could keep what its servers are asked out of the record, or fill the disk with it.
    TableKey{"audit", "enabled", kNotProject,
             [](C& c, N v) { return take_flag(c.audit.enabled, v); },
             told<&C::audit, &AuditSettings::enabled>},
    TableKey{"audit", "required", kNotProject,
             [](C& c, N v) { return take_flag(c.audit.required, v); },
             told<&C::audit, &AuditSettings::required>},
    TableKey{"audit", "arguments", kNotProject,
             [](C& c, N v) { return take_flag(c.audit.arguments, v); },
             told<&C::audit, &AuditSettings::arguments>},
    TableKey{"audit", "file_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.audit.file_bytes, v); },
             told<&C::audit, &AuditSettings::file_bytes>},
    TableKey{"audit", "file_age_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.audit.file_age, v, 1000, 1000); },
             told_seconds<&C::audit, &AuditSettings::file_age>},
    TableKey{"audit", "files", kNotProject,
             [](C& c, N v) { return take_count(c.audit.files, v, std::int64_t{1'000}); },
             told<&C::audit, &AuditSettings::files>},
};

// Limits protect this machine from servers, those of a checkout among them.
template <std::size_t at>
std::string take_limit(Config& config, const Node& value) {
    constexpr auto& limit = core::kLimits[at];
    return take_count(config.limits.*limit.value, value, std::int64_t{limit.most});
}
template <std::size_t at>
J told_limit(const Config& config) {
    return config.limits.*core::kLimits[at].value;
}
template <std::size_t... at>
constexpr auto with_limits(std::index_sequence<at...>) {
    std::array<TableKey, kOurKeys.size() + sizeof...(at)> all{};
    std::copy(kOurKeys.begin(), kOurKeys.end(), all.begin());
    ((all[kOurKeys.size() + at] = {"limits", core::kLimits[at].name, kNotProject, take_limit<at>,
                                   told_limit<at>}),
     ...);
    return all;
}
constexpr auto kTableKeys = with_limits(std::make_index_sequence<core::kLimits.size()>());

}  // namespace

std::span<const TableKey> table_keys() {
    return kTableKeys;
}

const std::vector<std::string>& top_level_keys() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> all = {
            "servers", "mcp",     "inputs",  "version",   "enabled",   "exclusive",
            "$schema", "policy",  "client",  "health",    "limits",    "permissions",
            "plugins", "secrets", "log",     "audit",     "auth",      "host",
            "gateway", "agents",  "bundles", "executors", "templates", "import"};
        for (const auto& table : kForeignTables) all.emplace_back(table.name);
        const auto& later = keys_for_later();
        all.insert(all.end(), later.begin(), later.end());
        return all;
    }();
    return keys;
}

// A pattern is a name, or the start of one followed by "*" (design: mcp__s__create_*, mcp__*).
std::string wrong_pattern(std::string_view written) {
    const auto pattern = core::trimmed(written);
    const auto star = pattern.find('*');
    if (pattern.size() > kMostPatternBytes)
        return "a pattern of " + std::to_string(pattern.size()) + " bytes (limit " +
               std::to_string(kMostPatternBytes) + ")";
    if (!pattern.empty() && (star == std::string::npos || star + 1 == pattern.size())) return {};
    return "expected names, or beginnings of names ending in \"*\", found \"" +
           core::printable(pattern, 80) + "\"";
}

std::string take_patterns(std::vector<std::string>& target, const Node& value) {
    if (auto wrong = take_texts(target, value); !wrong.empty()) return wrong;
    Wrongs wrongs;
    for (const auto& written : target)
        if (auto wrong = wrong_pattern(written); !wrong.empty()) wrongs.add(wrong);
    return wrongs.told();
}

// Known so that a file written for a later version is told so, and not offered the nearest name.
const std::vector<std::string>& keys_for_later() {
    static const std::vector<std::string> keys = {"search"};
    return keys;
}

}  // namespace patchbay::config
