// What can only be said once plugins are known: whether a transport exists and what it reads.
#include "config/compile.hpp"
#include "config/forwarded_headers.hpp"
#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/merge.hpp"
#include "config/remote_settings.hpp"
#include "config/rules.hpp"
#include "config/transport_settings.hpp"
#include "core/json.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <unistd.h>

namespace patchbay::config {

namespace {

namespace json = boost::json;

bool waits_for_expansion(const json::value& value) {
    if (value.is_string()) return value.get_string().find("${") != json::string::npos;
    if (value.is_array()) {
        return std::any_of(value.get_array().begin(), value.get_array().end(), waits_for_expansion);
    }
    if (value.is_object()) {
        return std::any_of(value.get_object().begin(), value.get_object().end(),
                           [](const auto& member) { return waits_for_expansion(member.value()); });
    }
    return false;
}

// Text stays text when it is expanded; a url or a number that a schema looks into does not.
bool must_wait(const json::object& settings) {
    return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
        const auto key = setting.key();
        const bool text =
            key == "command" || key == "args" || key == "cwd" || key == "env" || key == "headers";
        return !text && waits_for_expansion(setting.value());
    });
}

// The names a schema admits, or nothing when it leaves the door open.
std::optional<std::vector<std::string>> closed_names(const json::value& schema) {
    const auto* object = schema.if_object();
    if (!object) return {};
    const auto* properties = object->if_contains("properties");
    const auto* more = object->if_contains("additionalProperties");
    const bool closed = !more || (more->is_bool() && !more->get_bool());
    if (!properties || !properties->is_object() || !closed || object->contains("patternProperties"))
        return {};
    std::vector<std::string> names;
    for (const auto& property : properties->get_object()) names.emplace_back(property.key());
    return names;
}

class Checker {
public:
    Checker(Config& config, core::Effort& hints) : config_(config), hints_(hints) {}

    void fail(RuleId rule, const Server& server, const std::string& text) {
        config_.diagnostics.push_back({rule, severity_of(server.place), server.place,
                                       "server \"" + server.id + "\": " + text, server.id});
    }

    void fail(RuleId rule, const Server& server, const std::string& key, const std::string& text) {
        const auto& place = place_of(server, key);
        config_.diagnostics.push_back(
            {rule, severity_of(place), place, "server \"" + server.id + "\": " + text, server.id});
    }

    void warn(RuleId rule, const Server& server, const std::string& key, const std::string& text) {
        config_.diagnostics.push_back({rule, Severity::Warning, place_of(server, key),
                                       "server \"" + server.id + "\": " + text, server.id});
    }

    // Warns of settings outside of `names` and takes them out. False: one of them may be a rule, and
    // by a wrong name it would forbid nothing.
    bool take_out_strangers(Server& server, const std::vector<std::string>& names) {
        std::vector<std::string> found;
        bool harmless = true;
        for (const auto& setting : server.settings) {
            if (std::find(names.begin(), names.end(), setting.key()) == names.end())
                found.emplace_back(setting.key());
        }
        auto legal = names;
        for (const auto& key : server_keys()) legal.emplace_back(key.name);
        for (const auto& name : found) {
            if (server.words == Words::Ours && is_own_key(name) &&
                server.place.scope != Scope::Enterprise) {
                server.settings.erase(name);
                continue;
            }
            const auto& place = place_of(server, name);
            const bool rule = is_rule_of_a_server(name, server.settings.at(name), server.words);
            // What belongs to the server and stands in its `config` is offered as itself.
            const auto hint = find_server_key(name)
                                  ? "; it stands in the server itself, not in its config"
                                  : hint_of_key(name, legal, hints_);
            const bool fails = rule || server.place.scope == Scope::Enterprise;
            if (fails) harmless = false;
            config_.diagnostics.push_back(
                {rule ? RuleId::UnreadRule : RuleId::UnknownKey,
                 fails || place.is_flag() ? severity_of(place) : Severity::Warning, place,
                 "server \"" + server.id + "\": unknown key \"" + core::printable(name, 80) +
                     "\" for transport \"" + server.transport + "\"" +
                     (rule ? ", which may be meant to forbid" : "") +
                     (rule && hint.empty() ? what_forbids(server) : hint),
                 server.id});
            server.settings.erase(name);
        }
        return harmless;
    }

    // The first setting that only an open schema lets pass, and that may be a rule by its name or one
    // below it; empty: none. Of its value nobody can tell, since the transport may read it.
    std::string rule_that_passes(const Server& server, const json::value& schema) {
        const auto* object = schema.if_object();
        const auto* properties = object ? object->if_contains("properties") : nullptr;
        const auto& usual = names_of_settings();
        for (const auto& setting : server.settings) {
            const std::string key(setting.key());
            const bool named =
                (properties && properties->is_object() && properties->get_object().contains(key)) ||
                std::find(usual.begin(), usual.end(), key) != usual.end();
            if (!named && is_rule_of_a_server(key, setting.value(), Words::AnotherPrograms))
                return key;
        }
        return {};
    }

private:
    // What is wrong in a followed file takes its server out all the same.
    static Severity severity_of(const Place& place) {
        return is_followed(place.scope) ? Severity::Warning : Severity::Error;
    }

    static std::string what_forbids(const Server& server) {
        return std::string(
                   "; what forbids is enabled, enabled_tools, disabled_tools, tools and trust") +
               (server.words == Words::Ours ? ", and a key of your own begins with \"x-\"" : "");
    }

    const Place& place_of(const Server& server, const std::string& setting) const {
        const auto* origin = config_.find_origin("servers." + server.id + "." + setting);
        return origin ? *origin : server.place;
    }

    Config& config_;
    core::Effort& hints_;
};

// What the server's transport and those of its fallback read; nothing when one reads anything.
std::optional<std::vector<std::string>> names_of_all(const Server& server,
                                                     const std::vector<KnownTransport>& known) {
    std::vector<std::string> names;
    for (const auto& transport : known) {
        const bool used = transport.name == server.transport ||
                          std::find(server.fallback.begin(), server.fallback.end(),
                                    transport.name) != server.fallback.end();
        if (!used) continue;
        const auto closed = closed_names(transport.schema);
        if (!closed) return {};
        names.insert(names.end(), closed->begin(), closed->end());
    }
    return names;
}

// `command = "npx -y x"`: no shell splits it.
bool is_command_line(const Server& server) {
    const auto* value = server.settings.if_contains("command");
    if (!value || !value->is_string()) return false;
    const std::string command(value->get_string());
    const auto space = command.find(' ');
    if (space == std::string::npos || space == 0 || command.find("${") != std::string::npos)
        return false;
    return command.find('/') >= space || ::access(command.c_str(), F_OK) != 0;
}

// The first of these keys whose path begins with the home folder as a shell writes it; empty: none.
std::string home_in_a_path(const json::object& settings) {
    for (const char* key : {"command", "cwd"}) {
        const auto path = core::text_in(&settings, key);
        if (path == "~" || (path && path->starts_with("~/"))) return key;
    }
    return {};
}

}  // namespace

json::object settings_for(const json::object& settings, const json::value& schema) {
    const auto names = closed_names(schema);
    if (!names) return settings;
    json::object own;
    for (const auto& setting : settings) {
        if (std::find(names->begin(), names->end(), setting.key()) != names->end())
            own[setting.key()] = setting.value();
    }
    return own;
}

namespace {

// One configuration against the transports that there are.
class TransportCheck {
public:
    TransportCheck(Config& config, const std::vector<KnownTransport>& known,
                   const SchemaCompiler& compiler)
        : config_(config), known_(known), compiler_(compiler) {
        for (const auto& transport : known)
            if (transport.unusable.empty()) names_.push_back(transport.name);
        std::sort(names_.begin(), names_.end());
    }

    // False: it cannot be used, and why has been said. What is of no use in it is taken out.
    bool keep(Server& server) {
        const auto* transport = find(server.transport);
        if (!is_there(server, transport)) return false;
        server.local = transport->local;
        warn_of_vain_mode(server);
        drop_missing_fallbacks(server);
        if (!judge_names(server, *transport)) return false;
        if (is_command_line(server)) {
            checker_.warn(RuleId::ShellSyntax, server, "command",
                          "command: there are spaces in it, and no shell splits it; write the "
                          "program alone and the rest as args, or a list of all of them");
        }
        if (!judge_where(server, *transport)) return false;
        warn_of_vain_settings(server);
        if (const auto wrong = fault_of_references(server); !wrong.empty()) {
            checker_.fail(RuleId::InvalidReference, server, wrong);
            return false;
        }
        return judge_settings(server, *transport);
    }

private:
    const KnownTransport* find(const std::string& name) const {
        const auto it = std::find_if(known_.begin(), known_.end(),
                                     [&](const auto& each) { return each.name == name; });
        return it == known_.end() ? nullptr : &*it;
    }
    std::string loaded() const {
        return "; loaded transports: " + (names_.empty() ? "none" : core::join(names_, ", "));
    }

    bool is_there(const Server& server, const KnownTransport* transport) {
        const auto name = "transport \"" + core::printable(server.transport, 80) + "\"";
        if (!transport)
            checker_.fail(RuleId::UnknownTransport, server,
                          "unknown " + name + loaded() +
                              core::did_you_mean(server.transport, names_, hints_));
        else if (!transport->unusable.empty())
            checker_.fail(RuleId::UnknownTransport, server,
                          name + " is not there: " + transport->unusable + loaded());
        return transport && transport->unusable.empty();
    }

    void warn_of_vain_mode(const Server& server) {
        if (server.local && server.mode == "shared" && server.words == Words::Ours &&
            !config_.host.stdio_sharing)
            checker_.warn(RuleId::NoEffect, server, "mode",
                          "mode: \"shared\" counts for a program of this machine only with [host] "
                          "stdio_sharing = true; each caller gets a process of its own");
    }

    void drop_missing_fallbacks(Server& server) {
        std::erase_if(server.fallback, [&](const std::string& name) {
            if (std::binary_search(names_.begin(), names_.end(), name)) return false;
            const auto* missing = find(name);
            checker_.warn(RuleId::UnknownTransport, server, "fallback",
                          "unknown transport \"" + core::printable(name, 80) +
                              "\" in fallback is passed over" +
                              (missing ? ": " + missing->unusable : "") + loaded() +
                              core::did_you_mean(name, names_, hints_));
            return true;
        });
    }

    bool judge_names(Server& server, const KnownTransport& transport) {
        const auto closed = names_of_all(server, known_);
        if (closed) return checker_.take_out_strangers(server, *closed);
        const auto rule = checker_.rule_that_passes(server, transport.schema);
        if (!rule.empty())
            checker_.fail(
                RuleId::UnreadRule, server, rule,
                unread_rule(rule) + core::did_you_mean(rule, names_in_a_server(), hints_));
        return rule.empty();
    }

    bool judge_where(const Server& server, const KnownTransport& transport) {
        for (const auto& wrong :
             {trouble_with_url(server), trouble_with_headers(server, transport.schema)}) {
            if (!wrong) continue;
            checker_.fail(RuleId::InvalidValue, server, wrong->setting, wrong->text);
            return false;
        }
        return true;
    }

    void warn_of_vain_settings(Server& server) {
        if (const auto vain = without_vain_headers(server); !vain.empty())
            checker_.warn(RuleId::NoEffect, server, "forward_headers", vain);
        if (const auto [key, lost] = lost_token(server, config_); !key.empty()) {
            checker_.warn(RuleId::InvalidAuth, server, key, lost);
            server.bearer_token_env_var.clear();  // nothing asks for it, or says that there is one
        }
        if (const auto key = home_in_a_path(server.settings); !key.empty())
            checker_.warn(RuleId::ShellSyntax, server, key,
                          key +
                              ": no shell expands ~, so it is the name of a folder here; "
                              "write ${HOME}");
    }

    bool judge_settings(const Server& server, const KnownTransport& transport) {
        const auto complaints = complaints_of(server, transport);
        for (const auto& complaint : complaints)
            checker_.fail(
                RuleId::RefusedSettings, server,
                "transport \"" + server.transport + "\" refuses its settings: " + complaint);
        for (const auto& name : server.fallback)
            for (const auto& complaint : complaints_of(server, *find(name)))
                checker_.warn(RuleId::RefusedSettings, server, "fallback",
                              "transport \"" + name +
                                  "\" in fallback would refuse its settings: " + complaint);
        return complaints.empty();
    }

    std::vector<std::string> complaints_of(const Server& server, const KnownTransport& transport) {
        if (!compiler_ || transport.schema.is_null()) return {};
        const auto settings = settings_for(server.settings, transport.schema);
        if (server.expand && must_wait(settings)) return {};
        auto& validate = validators_[transport.name];
        if (!validate) validate = compiler_(transport.schema);
        return validate(settings);
    }

    Config& config_;
    const std::vector<KnownTransport>& known_;
    const SchemaCompiler& compiler_;
    core::Effort hints_{core::Effort::kOneLoad};
    Checker checker_{config_, hints_};
    std::map<std::string, SettingsValidator> validators_;  // by transport
    std::vector<std::string> names_;                       // of those that can be used
};

}  // namespace

void check_transports(Config& config, const std::vector<KnownTransport>& known,
                      const SchemaCompiler& compiler) {
    TransportCheck check(config, known, compiler);
    std::erase_if(config.servers, [&](Server& server) {
        const bool keeps = check.keep(server);
        if (!keeps) config.faulty.push_back({server, {server.place.file}});
        return !keeps;
    });
    if (config.stop.empty()) config.stop = wrong_source(config.diagnostics);
}

}  // namespace patchbay::config
