#include "app/server_auth.hpp"

#include "config/approval.hpp"
#include "config/own_credentials.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/schema.hpp"

#include <algorithm>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr const char* kOAuth = "oauth";  // the method for servers that say none
constexpr const char* kBearer = "bearer";
constexpr const char* kNone = "none";  // auth = "none": never ask

bool has_url(const config::Server& server) {
    return server.settings.contains("url");
}

bool names_a_variable(const config::Server& server) {
    return !server.bearer_token_env_var.empty();
}

// The transport's own rules of the network are those of its auth method, where that has them too.
void inherit(json::object& settings, const json::object& from, const json::value& schema) {
    const auto* object = schema.if_object();
    const auto* properties = object ? object->if_contains("properties") : nullptr;
    if (!properties || !properties->is_object()) return;
    for (const char* key : {"ca_file", "proxy"}) {
        const auto* value = from.if_contains(key);
        if (value && properties->get_object().contains(key) && !settings.contains(key))
            settings[key] = *value;
    }
}

}  // namespace

config::SettingsValidator compile_schema(const json::value& schema) {
    return [compiled = protocol::Schema::compile(schema)](const json::object& settings) {
        std::vector<std::string> troubles;
        if (!compiled) return std::vector{compiled.error().message};
        for (const auto& error : compiled->validate(settings)) {
            troubles.push_back(error.pointer.empty() ? error.message
                                                     : error.pointer + ": " + error.message);
        }
        return troubles;
    };
}

std::optional<connection::AuthChoice> ServerAuth::choice(const config::Server& server) const {
    if (server.auth == kNone) return {};
    if (!server.auth.empty())
        return connection::AuthChoice{"auth \"" + core::printable(server.auth, 80) + "\"", true};
    if (!server.oauth.empty()) return connection::AuthChoice{kOAuth, true};
    // Who sends credentials of their own has answered the question already: a refusal is then about
    // those, and no browser should open for it.
    if (!has_url(server) || names_a_variable(server) ||
        config::writes_authorization(server.settings))
        return {};
    const auto methods = plugins_.auth_methods();
    if (!std::binary_search(methods.begin(), methods.end(), kOAuth)) return {};
    // Nobody said that it needs a sign-in: without a stored one it is first asked without.
    return connection::AuthChoice{kOAuth, is_stored(server.id)};
}

bool ServerAuth::is_stored(const std::string& server) const {
    if (!stored_) {
        stored_.emplace();
        if (const auto records = secrets_.stored())
            for (const auto& record : *records) stored_->emplace(record.key());
    }
    return stored_->count(server) != 0;
}

Result<std::string> ServerAuth::method_named_by(const json::object& table) const {
    for (const char* key : {"kind", "type"}) {
        const auto named = core::text_in(&table, key);
        if (!named || named->empty()) continue;
        if (const auto schema = plugins_.auth_schema_of(std::string(*named)); !schema)
            return schema.error();
        return std::string(*named);
    }
    return Error{ErrorCode::Invalid, "\"kind\" is missing: the name of an auth method"};
}

Result<ServerAuth::Method> ServerAuth::method_of_table(const json::object& table) const {
    const auto named = method_named_by(table);
    if (!named) return named.error();
    Method method{*named, table};
    for (const char* key : {"kind", "type"}) method.settings.erase(key);
    return method;
}

Result<ServerAuth::Method> ServerAuth::method_of(const config::Config& config,
                                                 const config::Server& server,
                                                 core::Effort& hints) const {
    Method method;
    const auto table = config.auth.find(server.auth);
    if (table != config.auth.end()) {
        auto of_table = method_of_table(table->second);
        if (!of_table) return of_table;
        method = std::move(*of_table);
    } else if (server.auth.empty()) {
        method.name = kOAuth;
    } else {
        const auto methods = plugins_.auth_methods();
        if (!std::binary_search(methods.begin(), methods.end(), server.auth)) {
            // A checkout may bring thousands of both.
            auto known = methods;
            if (hints.left() > 0)
                for (const auto& each : config.auth) known.push_back(each.first);
            return Error{ErrorCode::NotFound, "there is no [auth." +
                                                  core::printable(server.auth, 80) +
                                                  "] table and no auth method of that name" +
                                                  core::did_you_mean(server.auth, known, hints)};
        }
        method.name = server.auth;
    }
    if (method.name == kOAuth) {
        // Key by key over the table: one table serves many servers, each with its own scopes.
        for (const auto& own : server.oauth) method.settings[own.key()] = own.value();
        if (!has_url(server))
            return Error{
                ErrorCode::Invalid,
                "oauth is for servers behind a URL; a program gets its token in a variable "
                "of its environment: auth = \"NAME\" in the server, and a table "
                "[auth.NAME] with kind = \"bearer\", token = \"${TOKEN}\" and env = "
                "\"VARIABLE\""};
    }
    return method;
}

std::string ServerAuth::why_no_sign_in(const config::Server& server) const {
    const auto at = [](const config::Place& place) {
        return " (" + config::to_string(place) + ")";
    };
    const std::string none = "there is nothing to sign in to: ";
    if (server.auth == kNone) return none + "auth = \"none\"" + at(server.place);
    if (server.auth.empty() && server.oauth.empty()) {
        if (names_a_variable(server))
            return none + "its token is the variable " +
                   core::printable(server.bearer_token_env_var, 80) + ", by bearer_token_env_var" +
                   at(server.place);
        if (config::writes_authorization(server.settings))
            return none + "its headers say Authorization" + at(server.place);
        return {};
    }
    core::Effort hints(core::Effort::kOneHint);
    const auto method = method_of(config_, server, hints);
    if (!method || method->name != kBearer) return {};
    return none + "its token is set where it has auth \"" + core::printable(server.auth, 80) +
           "\", a bearer token" + at(spoken_by_its_table(server).place);
}

// What a table may refer to, and where its relative paths lead, is a matter of the file it is
// written in, not of the server that uses it. Mixed with the server's own keys the stricter file
// counts.
config::Server ServerAuth::spoken_by_its_table(const config::Server& server) const {
    auto speaker = server;
    const auto key = "auth." + server.auth;
    const auto program = config_.auth_programs.find(server.auth);
    speaker.program = program == config_.auth_programs.end() ? std::nullopt : program->second;
    for (const auto& [name, place] : config_.origins) {
        if (name == key && (server.oauth.empty() || config::from_project(place.scope)))
            speaker.place = place;
    }
    return speaker;
}

Result<ServerAuth::Method> ServerAuth::method_of(const config::Server& server) const {
    core::Effort hints(core::Effort::kOneHint);
    auto method = method_of(config_, server, hints);
    if (!method) return method;
    const auto schema = schema_of(method->name);
    if (!schema) return schema.error();
    inherit(method->settings, server.settings, *schema);
    return method;
}

Result<std::unique_ptr<plugin::Authenticator>> ServerAuth::authenticator(
    const config::Server& server, const Method& method, std::shared_ptr<plugin::Signer> signer,
    plugin::AuthenticatorEvents& events) {
    if (auto wrong = judge(method, method.settings); !wrong) return wrong.error();
    return plugins_.create_authenticator(method.name,
                                         {server.id, method.settings, std::move(signer)}, events);
}

void ServerAuth::prepare(const Method& method, connection::Prepared ready) {
    plugins_.prepare_auth(method.name, std::move(ready));
}

std::optional<std::string> ServerAuth::variable(const std::string& name) const {
    return environment_.variable ? environment_.variable(name) : std::nullopt;
}

Result<json::value> ServerAuth::schema_of(const std::string& method) const {
    const auto text = plugins_.auth_schema_of(method);
    if (!text) return text.error();
    auto schema = core::parse_json(text->empty() ? "{}" : *text);
    if (schema) return schema;
    return Error{ErrorCode::Invalid,
                 "the schema of auth method \"" + method + "\" " + schema.error().message};
}

Result<void> ServerAuth::judge(const Method& method, const json::object& settings) const {
    const auto schema = schema_of(method.name);
    if (!schema) return schema.error();
    const auto troubles = compile_schema(*schema)(settings);
    if (troubles.empty()) return {};
    return Error{ErrorCode::Invalid, "auth method \"" + method.name +
                                         "\" refuses its settings: " + core::join(troubles, "; ")};
}

Result<void> ServerAuth::judge_as_written(const Result<Method>& method) const {
    if (!method) return method.error();
    const bool later = json::serialize(method->settings).find("${") != std::string::npos;
    return later ? Result<void>() : judge(*method, method->settings);
}

void ServerAuth::check(config::Config& config, core::Effort& hints) const {
    const auto place_of = [&](const std::string& table, const config::Place& otherwise) {
        const auto key = "auth." + table;
        const auto found = std::lower_bound(
            config.origins.begin(), config.origins.end(), key,
            [](const auto& origin, const auto& wanted) { return origin.first < wanted; });
        const bool there = found != config.origins.end() && found->first == key;
        return there ? found->second : otherwise;
    };
    std::set<std::string> used;
    std::erase_if(config.servers, [&](const config::Server& server) {
        if ((server.auth.empty() && server.oauth.empty()) || server.auth == kNone) return false;
        used.insert(server.auth);
        const auto judged = judge_as_written(method_of(config, server, hints));
        if (judged) return false;
        // What is wrong with a table is mended there.
        const auto table = server.oauth.empty() ? server.auth : std::string();
        const auto place = place_of(table, server.place);
        const auto severity =
            config::is_followed(place.scope) ? config::Severity::Warning : config::Severity::Error;
        config.faulty.push_back({server, {server.place.file}});
        config.diagnostics.push_back({config::RuleId::InvalidAuth, severity, place,
                                      "server \"" + server.id + "\": " + choice(server)->name +
                                          ": " + judged.error().message,
                                      server.id});
        return true;
    });
    for (const auto& [name, table] : config.auth) {
        if (used.contains(name)) continue;
        if (const auto judged = judge_as_written(method_of_table(table)); !judged)
            config.diagnostics.push_back({config::RuleId::InvalidAuth,
                                          config::Severity::Warning,
                                          place_of(name, {}),
                                          "auth." + core::printable(name, 80) + ": " +
                                              judged.error().message + "; no server uses it",
                                          {}});
    }
}

}  // namespace patchbay::app
