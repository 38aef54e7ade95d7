#include "config/show.hpp"

#include "config/keys.hpp"
#include "config/references.hpp"
#include "config/secret_names.hpp"
#include "config/secret_values.hpp"
#include "core/secret_name.hpp"
#include "core/secrets.hpp"

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
    for (const auto& member : value.get_object())
        hidden[member.key()] =
            member.value().is_string() && is_a_reference_alone(member.value().get_string())
                ? member.value()
                : json::value(kHidden);
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

// A reference says where a secret is, and neither it nor a part of it is one.
json::value without_references(const json::value& value) {
    if (const auto* text = value.if_string())
        return text->find("${") == text->npos ? value : json::value("");
    if (const auto* list = value.if_array()) {
        json::array out;
        for (const auto& each : *list) out.push_back(without_references(each));
        return out;
    }
    if (!value.is_object()) return value;
    json::object out;
    for (const auto& member : value.get_object())
        out[member.key()] = without_references(member.value());
    return out;
}

std::vector<std::string> known_in(const json::object& settings) {
    auto known = secret_values(without_references(settings).get_object());
    std::erase_if(known, [](const auto& value) { return value.size() < core::Secrets::kShortest; });
    // The longest first: one may be a part of another.
    std::sort(known.begin(), known.end(),
              [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return known;
}

void hide_known(json::value& value, const std::vector<std::string>& known) {
    if (auto* table = value.if_object())
        for (auto& member : *table) hide_known(member.value(), known);
    if (auto* list = value.if_array())
        for (auto& each : *list) hide_known(each, known);
    auto* text = value.if_string();
    if (!text) return;
    for (const auto& secret : known)
        for (auto at = text->find(secret); at != text->npos; at = text->find(secret, at))
            text->replace(at, secret.size(), kHidden);
}

// What one place shows to be a secret is none to be shown in another.
json::value hide_settings(const json::object& settings) {
    auto shown = hide(settings);
    hide_known(shown, known_in(settings));
    return shown;
}

template <class List>
json::array texts(const List& list) {
    json::array out;
    for (const auto& text : list) out.push_back(json::string(text));
    return out;
}

json::object to_json(const Agent& agent) {
    json::object out{{"enabled", agent.enabled}};
    if (agent.servers) out["servers"] = texts(*agent.servers);
    if (agent.tools) out["tools"] = texts(*agent.tools);
    if (!agent.bundle.empty()) out["bundle"] = agent.bundle;
    if (!agent.modes.empty()) out["modes"] = json::value_from(agent.modes);
    if (!agent.description.empty()) out["description"] = hide(json::value(agent.description));
    json::object meta;
    for (const auto& [key, text] : {std::pair("name", &agent.meta.name),
                                    {"description", &agent.meta.description},
                                    {"url", &agent.meta.url},
                                    {"icon", &agent.meta.icon}})
        if (!text->empty()) meta[key] = hide(json::value(*text));
    if (!meta.empty()) out["meta"] = std::move(meta);
    if (!agent.fault.empty()) out["fault"] = agent.fault;
    return out;
}

json::object to_json(const Bundle& bundle) {
    json::object out{{"servers", texts(bundle.servers)}, {"mode", bundle.mode}};
    if (bundle.allow) out["allow"] = texts(*bundle.allow);
    if (!bundle.deny.empty()) out["deny"] = texts(bundle.deny);
    if (!bundle.trust.empty()) out["trust"] = bundle.trust;
    if (!bundle.fault.empty()) out["fault"] = bundle.fault;
    return out;
}

// What is put into an environment is nobody's to see, whatever it is called.
json::object to_json(const Executor& executor) {
    json::object out;
    for (const auto& [transport, allowed] : executor.allow) out["allow_" + transport] = allowed;
    json::array rewrites;
    for (const auto& each : executor.http_url_rewrite)
        rewrites.push_back({{"from", hide_in_url(each.from)}, {"to", hide_in_url(each.to)}});
    if (!rewrites.empty()) out["http_url_rewrite"] = std::move(rewrites);
    json::object variables;
    for (const auto& [name, value] : executor.env_injection) variables[name] = "***";
    if (!variables.empty()) out["env_injection"] = std::move(variables);
    if (!executor.env_server_wins.empty()) out["env_server_wins"] = texts(executor.env_server_wins);
    if (!executor.fault.empty()) out["fault"] = executor.fault;
    return out;
}

// A key of a table is no secret by its name, since files and tools are named there. Rules are shown as
// they are: their reader compares them with the names of tools.
json::value shown(const TableKey& key, const Config& config) {
    auto value = key.tell(config);
    if (key.table == "permissions") return value;
    if (key.name == "oauth_keys")
        return json::string(hide_in_url(config.gateway.listener.oauth_keys));
    return hide(value);
}

}  // namespace

json::object to_json(const Place& place) {
    return {{"scope", name_of(place.scope)},
            {"file", place.file},
            {"line", place.line},
            {"column", place.column}};
}

// A default may be a secret itself.
bool is_a_reference_alone(std::string_view text) {
    const auto pieces = pieces_of(text);
    if (pieces.size() != 1 || !pieces.front().reference) return false;
    std::string_view name(pieces.front().text);
    for (const auto kind : kStoredSecrets)
        if (name.starts_with(kind)) return core::may_name_a_secret(name.substr(kind.size()));
    return name.find(":-") == name.npos && !variable_in(name).empty();
}

json::object masked(const json::object& settings) {
    const auto shown = hide_settings(settings);
    const auto* table = shown.if_object();
    return table ? *table : json::object();
}

json::object to_json(const Server& server) {
    json::object out;
    for (const auto& key : server_keys()) {
        if (key.name == "config") {
            const auto settings = hide_settings(server.settings);
            for (const auto& setting : settings.get_object()) out[setting.key()] = setting.value();
        }
        auto value = key.tell(server);
        if (value.is_null()) continue;
        // Rules name tools; what reaches the transport or its credentials may be a secret, whatever its key.
        out[key.name] = key.effect == Effect::Restart ? hide(value) : std::move(value);
    }
    return out;
}

json::object definition_of(const Server& server) {
    json::object out;
    for (const auto& key : server_keys()) {
        if (key.name == "config")
            for (const auto& setting : server.settings) out[setting.key()] = setting.value();
        if (auto value = key.tell(server); !value.is_null()) out[key.name] = std::move(value);
    }
    return out;
}

json::object to_json(const Diagnostic& diagnostic) {
    json::object out{{"rule", name_of(diagnostic.rule)},
                     {"severity", diagnostic.severity == Severity::Error ? "error" : "warning"}};
    for (const auto& member : to_json(diagnostic.place)) out[member.key()] = member.value();
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
    for (const auto& key : table_keys()) {
        auto& table = out[key.table];
        if (!table.is_object()) table.emplace_object();
        if (auto value = shown(key, config); !value.is_null())
            table.get_object()[key.name] = std::move(value);
    }
    auto& agents = out["agents"].emplace_object();
    for (const auto& agent : config.agents) agents[agent.name] = to_json(agent);
    auto& bundles = out["bundles"].emplace_object();
    for (const auto& bundle : config.bundles) bundles[bundle.name] = to_json(bundle);
    auto& executors = out["executors"].emplace_object();
    for (const auto& executor : config.executors) executors[executor.name] = to_json(executor);
    if (config.deny_all) out["deny_all"] = true;
    if (with_origins) {
        auto& origins = out["origins"].emplace_object();
        for (const auto& [key, place] : config.origins) {
            auto told = to_json(place);
            if (const auto over = config.overruled.find(key); over != config.overruled.end())
                for (const auto& each : over->second) {
                    auto& list = told["over"];
                    (list.is_array() ? list.get_array() : list.emplace_array())
                        .push_back(to_json(each));
                }
            origins[key] = std::move(told);
        }
        for (const auto& server : config.servers) {
            for (const auto& limit : kTimeLimits)
                if (limit.variable && std::string_view(server.*limit.from) == limit.variable)
                    origins["servers." + server.id + "." + limit.key(limit.told_in)] =
                        to_json(Place{Scope::Session, limit.variable, 0, 0});
        }
    }
    return out;
}

}  // namespace patchbay::config
