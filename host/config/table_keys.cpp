#include "config/keys.hpp"
#include "config/rules.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace patchbay::config {

namespace {

using C = Config;
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
            return "unknown key \"" + core::printable(member.key, 80) + "\"" +
                   core::did_you_mean(member.key, {"pass_env"}) + "; it has pass_env";
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

std::string take_patterns(std::vector<std::string>& target, const Node& value) {
    if (auto wrong = take_texts(target, value); !wrong.empty()) return wrong;
    for (const auto& written : target)
        if (auto wrong = wrong_pattern(written); !wrong.empty()) return wrong;
    return {};
}

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

std::string take_some(std::vector<std::string>& target, const Node& value, const char* what) {
    if (auto wrong = take_texts(target, value); !wrong.empty()) return wrong;
    if (!target.empty()) return {};
    return std::string("an empty list shows nothing; name ") + what + ", or leave the key out";
}

const std::array kTableKeys = {
    // How the host calls itself to the servers of its user, and what it shows of them, is the user's to
    // say: a checkout could make it answer questions in their name.
    TableKey{"client", "name", kNotProject, [](C& c, N v) { return take_text(c.client.name, v); }},
    TableKey{"client", "version", kNotProject,
             [](C& c, N v) { return take_text(c.client.version, v); }},
    TableKey{"client", "title", kNotProject,
             [](C& c, N v) { return take_text(c.client.title, v); }},
    TableKey{"client", "roots", kNotProject,
             [](C& c, N v) { return take_texts(c.client.roots, v); }},
    TableKey{
        "client", "elicitation", kNotProject,
        [](C& c, N v) {
            return take_one_of(c.client.elicitation, v, {"refuse", "defaults", "fixed", "ask"});
        }},
    TableKey{"client", "elicitation_content", kNotProject,
             [](C& c, N v) { return take_object(c.client.elicitation_content, v); }},
    TableKey{"client", "sampling", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.client.sampling, v, {"refuse", "fixed"});
             }},
    TableKey{"client", "sampling_text", kNotProject,
             [](C& c, N v) { return take_text(c.client.sampling_text, v); }},
    TableKey{"client", "capabilities", kNotProject,
             [](C& c, N v) { return take_object(c.client.capabilities, v); }},

    // A checkout could have each server of the user taken for dead in the middle of a call.
    TableKey{"health", "ping_interval_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.ping_interval, v, 1000, 1000); }},
    TableKey{"health", "ping_timeout_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.ping_timeout, v, 1000, 100); }},
    TableKey{"health", "misses", kNotProject,
             [](C& c, N v) { return take_count(c.health.misses, v); }},
    TableKey{"health", "reconnect_first_ms", kNotProject,
             [](C& c, N v) { return take_duration(c.health.reconnect_first, v, 1); }},
    TableKey{"health", "reconnect_most_ms", kNotProject,
             [](C& c, N v) { return take_duration(c.health.reconnect_most, v, 1); }},
    TableKey{"health", "reconnect_attempts", kNotProject,
             [](C& c, N v) { return take_count(c.health.reconnect_attempts, v); }},
    TableKey{"health", "stable_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.stable, v, 1000); }},
    TableKey{"health", "tool_cache_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.health.tool_cache, v, 1000); }},

    // Merged by rules of their own, not by "the strongest wins": see merge.hpp.
    TableKey{"permissions", "allow", kAnyone,
             [](C& c, N v) { return take_patterns(c.permissions.allow.emplace(), v); }},
    TableKey{"permissions", "deny", kAnyone,
             [](C& c, N v) { return take_denied(c.permissions.deny, v); }},

    // Limits protect this machine from servers, those of a checkout among them.
    TableKey{"limits", "message_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.limits.message_bytes, v); }},
    TableKey{"limits", "json_depth", kNotProject,
             [](C& c, N v) { return take_count(c.limits.json_depth, v); }},
    TableKey{"limits", "queue_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.limits.queue_bytes, v); }},
    TableKey{"limits", "queue_messages", kNotProject,
             [](C& c, N v) { return take_count(c.limits.queue_messages, v); }},
    TableKey{"limits", "tools_per_server", kNotProject,
             [](C& c, N v) { return take_count(c.limits.tools_per_server, v); }},
    TableKey{"limits", "pages_per_list", kNotProject,
             [](C& c, N v) { return take_count(c.limits.pages_per_list, v); }},
    TableKey{"limits", "items_per_list", kNotProject,
             [](C& c, N v) { return take_count(c.limits.items_per_list, v); }},
    TableKey{"limits", "list_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.limits.list_bytes, v); }},
    TableKey{"limits", "schema_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.limits.schema_bytes, v); }},
    TableKey{"limits", "schema_depth", kNotProject,
             [](C& c, N v) { return take_count(c.limits.schema_depth, v); }},
    TableKey{"limits", "description_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.limits.description_bytes, v); }},
    TableKey{"limits", "stderr_line_bytes", kNotProject,
             [](C& c, N v) {
                 return take_count(c.limits.stderr_line_bytes, v,
                                   std::int64_t{core::kMostStderrLineBytes});
             }},
    TableKey{"limits", "batch_items", kNotProject,
             [](C& c, N v) { return take_count(c.limits.batch_items, v); }},
    TableKey{"limits", "input_rounds", kNotProject,
             [](C& c, N v) { return take_count(c.limits.input_rounds, v); }},
    TableKey{"limits", "input_requests", kNotProject,
             [](C& c, N v) { return take_count(c.limits.input_requests, v); }},
    TableKey{"limits", "subscriptions", kNotProject,
             [](C& c, N v) { return take_count(c.limits.subscriptions, v); }},
    TableKey{"limits", "server_requests", kNotProject,
             [](C& c, N v) { return take_count(c.limits.server_requests, v); }},
    TableKey{"limits", "server_request_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.limits.server_request_bytes, v); }},
    TableKey{"limits", "connections_per_server", kNotProject,
             [](C& c, N v) { return take_count(c.limits.connections_per_server, v); }},
    TableKey{"limits", "local_starts", kNotProject,
             [](C& c, N v) { return take_count(c.limits.local_starts, v); }},
    TableKey{"limits", "remote_starts", kNotProject,
             [](C& c, N v) { return take_count(c.limits.remote_starts, v); }},

    // The time of the user's processor.
    TableKey{"host", "spin_us", kNotProject, [](C& c, N v) { return take_spin(c.host.spin, v); }},
    // What one caller leaves in a process is the next one's to find.
    TableKey{"host", "stdio_sharing", kNotProject,
             [](C& c, N v) { return take_flag(c.host.stdio_sharing, v); }},

    // A checkout could approve in its user's place what it has a client call, or hide what that calls.
    TableKey{"gateway", "approvals", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.gateway.approvals, v, {"client", "ask", "rules"});
             }},
    TableKey{"gateway", "first_list_ms", kNotProject,
             [](C& c, N v) { return take_wait(c.gateway.first_list, v); }},
    TableKey{"gateway", "host_tools", kNotProject,
             [](C& c, N v) { return take_flag(c.gateway.host_tools, v); }},
    // It could open a door of its user's machine, leave it open, or have files read as keys.
    TableKey{"gateway", "http", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.http, v); }},
    TableKey{"gateway", "sse", kNotProject,
             [](C& c, N v) { return take_flag(c.gateway.listener.sse, v); }},
    TableKey{"gateway", "auth", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.gateway.listener.auth, v, {"auto", "none", "token"});
             }},
    TableKey{"gateway", "public_url", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.public_url, v); }},
    TableKey{"gateway", "allow_host", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.allow_host, v); }},
    TableKey{"gateway", "allow_origin", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.allow_origin, v); }},
    TableKey{"gateway", "tls_cert", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.tls_cert, v); }},
    TableKey{"gateway", "tls_key", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.tls_key, v); }},
    TableKey{"gateway", "allow_plain", kNotProject,
             [](C& c, N v) { return take_flag(c.gateway.listener.allow_plain, v); }},
    TableKey{"gateway", "oauth_issuer", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.oauth_issuer, v); }},
    TableKey{"gateway", "oauth_scope", kNotProject,
             [](C& c, N v) { return take_texts(c.gateway.listener.oauth_scope, v); }},
    TableKey{"gateway", "oauth_audience", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.oauth_audience, v); }},
    TableKey{"gateway", "oauth_keys", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.oauth_keys, v); }},
    TableKey{"gateway", "metrics", kNotProject,
             [](C& c, N v) { return take_text(c.gateway.listener.metrics, v); }},

    // A plugin is code of the host: a cloned repository may not say where to find some.
    TableKey{"plugins", "directories", kNotProject,
             [](C& c, N v) { return take_texts(c.plugins.directories, v); }},
    TableKey{"plugins", "disabled", kNotProject,
             [](C& c, N v) { return take_texts(c.plugins.disabled, v); }},
    TableKey{"plugins", "hang_limit", kNotProject,
             [](C& c, N v) { return take_duration(c.plugins.hang_limit, v, 1000); }},
    // What leaves the environment of the user is the user's to say.
    TableKey{"plugins", "stdio", kNotProject,
             [](C& c, N v) { return take_passed(c.plugins.stdio_pass_env, v); }},

    // A checkout could choose where it finds them.
    TableKey{"secrets", "store", kNotProject,
             [](C& c, N v) {
                 return take_one_of(c.secret_store, v, {"file", "secret-service"});
             }},

    TableKey{
        "log", "level", kNotProject,  // it could hide what we have to say of it
        [](C& c, N v) {
            return take_one_of(c.log.level, v, {"trace", "debug", "info", "warn", "error", "off"});
        }},
    // It could have thrown away what its servers said, or fill the disk.
    TableKey{"log", "server_bytes", kNotProject,
             [](C& c, N v) { return take_count(c.log.server_bytes, v); }},
    TableKey{"log", "server_age_sec", kNotProject,
             [](C& c, N v) { return take_duration(c.log.server_age, v, 1000, 1000); }},
    TableKey{"log", "server_files", kNotProject,
             [](C& c, N v) { return take_count(c.log.server_files, v, std::int64_t{100}); }},
};

}  // namespace

std::span<const TableKey> table_keys() {
    return kTableKeys;
}

const std::vector<std::string>& top_level_keys() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> all = {
            "servers",   "mcp_servers", "mcpServers", "mcp",    "inputs", "version", "enabled",
            "exclusive", "$schema",     "policy",     "client", "health", "limits",  "permissions",
            "plugins",   "secrets",     "log",        "auth",   "host",   "gateway", "agents"};
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

// What a client is shown can be named as rules name it, but an agent that is shown nothing is a
// mistake.
const std::array kAgentKeys = {
    AgentKey{"enabled", [](Agent& a, N v) { return take_flag(a.enabled, v); }},
    AgentKey{"servers", [](Agent& a, N v) { return take_some(a.servers.emplace(), v, "servers"); }},
    AgentKey{"tools",
             [](Agent& a, N v) {
                 if (auto wrong = take_some(a.tools.emplace(), v, "tools"); !wrong.empty())
                     return wrong;
                 for (const auto& written : *a.tools)
                     if (auto wrong = wrong_pattern(written); !wrong.empty()) return wrong;
                 for (auto& written : *a.tools) written = core::trimmed(written);
                 return std::string();
             }},
    AgentKey{"description", [](Agent& a, N v) { return take_text(a.description, v); }},
};

std::span<const AgentKey> agent_keys() {
    return kAgentKeys;
}

// Known so that a file written for a later version is told so, and not offered the nearest name.
const std::vector<std::string>& keys_for_later() {
    static const std::vector<std::string> keys = {"bundles", "executors", "search"};
    return keys;
}

}  // namespace patchbay::config
