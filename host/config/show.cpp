#include "config/show.hpp"

#include "config/secret_names.hpp"
#include "config/secret_values.hpp"

#include <algorithm>
#include <vector>

namespace patchbay::config {

namespace {

namespace json = boost::json;

constexpr const char* kHidden = "***";

// Of a table whose values may all be secrets; the names tell a reader what is set.
json::value hide_all(const json::value& value) {
    if (!value.is_object()) return kHidden;
    json::object hidden;
    for (const auto& member : value.get_object()) hidden[member.key()] = kHidden;
    return hidden;
}

std::string hide_parts(std::string text, const std::vector<Part>& parts) {
    std::string shown;
    std::size_t at = 0;
    for (const auto& part : parts) {
        shown.append(text, at, part.begin - at).append(kHidden);
        at = part.end;
    }
    return shown.append(text, at);
}

// The names of parameters are kept, as those of `env` and `headers` are: any value may be a key.
std::string hide_in_url(const std::string& url) {
    const auto query = std::min(url.find('?'), url.size());
    auto shown = hide_parts(url.substr(0, query), secret_parts(url.substr(0, query)));
    for (auto at = query; at < url.size();) {
        const auto end = std::min(url.find_first_of("&#", at + 1), url.size());
        const auto equals = url.find('=', at);
        const auto value = equals < end ? equals + 1 : at + 1;
        shown.append(url, at, value - at).append(value < end ? kHidden : "");
        at = end;
    }
    return shown;
}

json::value hide(const json::value& value) {
    if (value.is_string()) {
        const std::string text(value.get_string());
        return json::string(hide_parts(text, secret_parts(text)));
    }
    if (value.is_array()) {
        // Together, not one by one: the word after `--token` is a secret because of the one before.
        const auto parts = secret_parts(value.get_array());
        json::array list;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto& item = value.get_array()[i];
            list.push_back(item.is_string()
                               ? json::string(hide_parts(std::string(item.get_string()), parts[i]))
                               : hide(item));
        }
        return list;
    }
    if (!value.is_object()) return value;
    json::object shown;
    for (const auto& member : value.get_object()) {
        const auto key = member.key();
        const bool table = (key == "env" || key == "headers") && member.value().is_object();
        if (key == "url" && member.value().is_string())
            shown[key] = json::string(hide_in_url(std::string(member.value().get_string())));
        else
            shown[key] =
                table || names_a_secret(key) ? hide_all(member.value()) : hide(member.value());
    }
    return shown;
}

template <class List>
json::array texts(const List& list) {
    json::array out;
    for (const auto& text : list) out.push_back(json::string(text));
    return out;
}

json::value seconds(std::chrono::milliseconds time) {
    // Written as it is mostly given: 30, not 30.0.
    if (time.count() % 1000 == 0) return time.count() / 1000;
    return static_cast<double>(time.count()) / 1000.0;
}

json::object place_json(const Place& place) {
    return {{"scope", name_of(place.scope)},
            {"file", place.file},
            {"line", place.line},
            {"column", place.column}};
}

json::object client_json(const ClientSettings& client) {
    return {{"name", hide(json::value(client.name))},
            {"version", hide(json::value(client.version))},
            {"title", hide(json::value(client.title))},
            {"roots", hide(texts(client.roots))},
            {"elicitation", client.elicitation},
            {"elicitation_content", hide(client.elicitation_content)},
            {"sampling", client.sampling},
            {"sampling_text", hide(json::value(client.sampling_text))},
            {"capabilities", hide(client.capabilities)}};
}

json::object health_json(const HealthSettings& health) {
    return {{"ping_interval_sec", seconds(health.ping_interval)},
            {"ping_timeout_sec", seconds(health.ping_timeout)},
            {"misses", health.misses},
            {"reconnect_first_ms", health.reconnect_first.count()},
            {"reconnect_most_ms", health.reconnect_most.count()},
            {"reconnect_attempts", health.reconnect_attempts},
            {"stable_sec", seconds(health.stable)},
            {"tool_cache_sec", seconds(health.tool_cache)}};
}

json::object limits_json(const core::Limits& limits) {
    return {{"message_bytes", limits.message_bytes},
            {"json_depth", limits.json_depth},
            {"queue_bytes", limits.queue_bytes},
            {"queue_messages", limits.queue_messages},
            {"tools_per_server", limits.tools_per_server},
            {"pages_per_list", limits.pages_per_list},
            {"items_per_list", limits.items_per_list},
            {"list_bytes", limits.list_bytes},
            {"schema_bytes", limits.schema_bytes},
            {"schema_depth", limits.schema_depth},
            {"description_bytes", limits.description_bytes},
            {"stderr_line_bytes", limits.stderr_line_bytes},
            {"batch_items", limits.batch_items},
            {"input_rounds", limits.input_rounds},
            {"input_requests", limits.input_requests},
            {"subscriptions", limits.subscriptions},
            {"server_requests", limits.server_requests},
            {"server_request_bytes", limits.server_request_bytes},
            {"connections_per_server", limits.connections_per_server},
            {"local_starts", limits.local_starts},
            {"remote_starts", limits.remote_starts}};
}

json::object to_json(const Agent& agent) {
    json::object out{{"enabled", agent.enabled}};
    if (agent.servers) out["servers"] = texts(*agent.servers);
    if (agent.tools) out["tools"] = texts(*agent.tools);
    if (!agent.description.empty()) out["description"] = hide(json::value(agent.description));
    if (!agent.fault.empty()) out["fault"] = agent.fault;
    return out;
}

// None of it is a secret by its name: keys are named by their files, and an address has no password.
json::object gateway_json(const GatewaySettings& gateway) {
    const auto& listener = gateway.listener;
    const auto shown = [](const std::string& text) { return hide(json::value(text)); };
    return {{"approvals", gateway.approvals},
            {"first_list_ms", gateway.first_list.count()},
            {"host_tools", gateway.host_tools},
            {"http", shown(listener.http)},
            {"sse", listener.sse},
            {"auth", listener.auth},
            {"public_url", shown(listener.public_url)},
            {"allow_host", texts(listener.allow_host)},
            {"allow_origin", texts(listener.allow_origin)},
            {"tls_cert", listener.tls_cert},
            {"tls_key", listener.tls_key},
            {"allow_plain", listener.allow_plain},
            {"oauth_issuer", texts(listener.oauth_issuer)},
            {"oauth_scope", texts(listener.oauth_scope)},
            {"oauth_audience", shown(listener.oauth_audience)},
            {"oauth_keys", json::string(hide_in_url(listener.oauth_keys))},
            {"metrics", shown(listener.metrics)}};
}

json::object permissions_json(const Permissions& permissions) {
    json::object out;
    // Without a list nothing is barred, by an empty one everything.
    if (permissions.allow) out["allow"] = texts(*permissions.allow);
    out["deny"] = texts(permissions.deny);
    return out;
}

}  // namespace

json::object to_json(const Server& server) {
    json::object out;
    out["transport"] = server.transport;
    out["enabled"] = server.enabled;
    const auto settings = hide(server.settings);
    for (const auto& setting : settings.get_object()) out[setting.key()] = setting.value();
    // From here on, but for the time-outs, only what was set or differs from the default: a reader looks
    // for what is special.
    if (!server.expand) out["expand"] = false;
    if (!server.auth.empty()) out["auth"] = server.auth;
    if (!server.bearer_token_env_var.empty())
        out["bearer_token_env_var"] = server.bearer_token_env_var;
    if (!server.oauth.empty()) out["oauth"] = hide(server.oauth);
    out["startup_timeout_sec"] = seconds(server.startup_timeout);
    out["request_timeout_ms"] = server.request_timeout.count();
    out["tool_timeout_sec"] = seconds(server.tool_timeout);
    if (server.enabled_tools) out["enabled_tools"] = texts(*server.enabled_tools);
    if (!server.disabled_tools.empty()) out["disabled_tools"] = texts(server.disabled_tools);
    if (!server.tools.empty()) {
        auto& tools = out["tools"].emplace_object();
        for (const auto& [tool, level] : server.tools) tools[tool] = name_of(level);
    }
    if (!server.trust.empty()) out["trust"] = server.trust;
    if (!server.mode.empty()) out["mode"] = server.mode;
    if (server.lazy) out["lazy"] = true;
    if (server.idle_timeout) out["idle_timeout_sec"] = seconds(*server.idle_timeout);
    if (server.warm > 0) out["warm"] = server.warm;
    if (server.protocol != "auto") out["protocol"] = server.protocol;
    if (!server.fallback.empty()) out["fallback"] = texts(server.fallback);
    if (!server.forward_headers.empty()) out["forward_headers"] = texts(server.forward_headers);
    if (server.required) out["required"] = true;
    if (server.restart != Restart::OnFailure) out["restart"] = name_of(server.restart);
    return out;
}

json::object to_json(const Diagnostic& diagnostic) {
    json::object out{{"severity", diagnostic.severity == Severity::Error ? "error" : "warning"}};
    for (const auto& member : place_json(diagnostic.place)) out[member.key()] = member.value();
    out["message"] = diagnostic.message;
    if (!diagnostic.server.empty()) out["server"] = diagnostic.server;
    return out;
}

json::value to_json(const Config& config, bool with_origins) {
    json::object out;
    auto& servers = out["servers"].emplace_object();
    for (const auto& server : config.servers) servers[server.id] = to_json(server);
    auto& auth = out["auth"].emplace_object();
    for (const auto& [id, settings] : config.auth) auth[id] = hide(settings);
    out["client"] = client_json(config.client);
    out["health"] = health_json(config.health);
    out["permissions"] = permissions_json(config.permissions);
    out["limits"] = limits_json(config.limits);
    out["host"] = json::object{{"spin_us", config.host.spin.count()},
                               {"stdio_sharing", config.host.stdio_sharing}};
    out["gateway"] = gateway_json(config.gateway);
    auto& agents = out["agents"].emplace_object();
    for (const auto& agent : config.agents) agents[agent.name] = to_json(agent);
    out["plugins"] = json::object{{"directories", texts(config.plugins.directories)},
                                  {"disabled", texts(config.plugins.disabled)},
                                  {"hang_limit", seconds(config.plugins.hang_limit)},
                                  {"stdio", {{"pass_env", texts(config.plugins.stdio_pass_env)}}}};
    out["secrets"] = json::object{{"store", config.secret_store}};
    out["log"] = json::object{{"level", config.log.level},
                              {"server_bytes", config.log.server_bytes},
                              {"server_age_sec", seconds(config.log.server_age)},
                              {"server_files", config.log.server_files}};
    if (config.deny_all) out["deny_all"] = true;
    if (with_origins) {
        auto& origins = out["origins"].emplace_object();
        for (const auto& [key, place] : config.origins) origins[key] = place_json(place);
        for (const auto& server : config.servers) {
            const auto told = [&](const char* from, const char* variable, const char* key) {
                if (std::string_view(from) == variable)
                    origins["servers." + server.id + key] =
                        place_json({Scope::Session, variable, 0, 0});
            };
            told(server.startup_timeout_from, kStartupTimeoutVariable, ".startup_timeout_sec");
            told(server.tool_timeout_from, kToolTimeoutVariable, ".tool_timeout_sec");
        }
    }
    return out;
}

}  // namespace patchbay::config
