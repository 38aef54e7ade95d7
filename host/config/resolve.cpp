#include "config/resolve.hpp"

#include "config/agents.hpp"
#include "config/executors.hpp"
#include "config/show.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace patchbay::config {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostSessionBytes = 64;

std::string public_beginning(const std::string& id) {
    return "mcp__" + id + "__";
}

// What a pattern of public names says of the server whose names begin with `beginning`.
enum class Reach { Nothing, Some, All };
Reach reach_of(std::string_view pattern, std::string_view beginning) {
    const auto star = pattern.find('*');
    const auto stem = pattern.substr(0, star);
    if (star != pattern.npos && beginning.starts_with(stem)) return Reach::All;
    return stem.starts_with(beginning) ? Reach::Some : Reach::Nothing;
}

// A rule that forbids is read widely: the server's name alone is all of it.
Reach reach_of_rule(std::string_view pattern, std::string_view beginning) {
    const auto name = beginning.substr(0, beginning.size() - 2);
    return pattern == name ? Reach::All : reach_of(pattern, beginning);
}

json::array names_of(const json::value* table) {
    json::array names;
    if (const auto* members = table ? table->if_object() : nullptr)
        for (const auto& member : *members) names.emplace_back(member.key());
    return names;
}

class Resolver {
public:
    Resolver(const Config& config, Executor executor, Given& given)
        : config_(config), executor_(std::move(executor)), given_(given) {}

    void run() {
        if (given_.agent && !given_.agent->enabled)
            return warn(RuleId::LeftOut, given_.agent->place,
                        "agent \"" + given_.agent->name +
                            "\" is disabled, so it has no servers; set "
                            "enabled = true");
        if (!config_.permissions.closed.empty())
            return warn(RuleId::LeftOut, {},
                        "no tool is allowed until the rules are mended, so there are no "
                        "servers: " +
                            config_.permissions.closed);
        for (const auto& server : config_.servers)
            if (is_shown(server)) give(server);
        tell_of_config();
    }

private:
    void warn(RuleId rule, const Place& place, std::string text, const std::string& server = {}) {
        given_.warnings.push_back({rule, Severity::Warning, place, std::move(text), server});
    }
    void leave_out(const Server& server, const Place& place, const std::string& why) {
        warn(RuleId::LeftOut, place, "server \"" + server.id + "\" is left out: " + why, server.id);
    }

    bool is_picked(const std::string& id) const {
        const auto& picks = given_.agent ? given_.agent->servers : std::nullopt;
        return picks && std::find(picks->begin(), picks->end(), id) != picks->end();
    }

    bool is_shown(const Server& server) const {
        if (given_.agent && given_.agent->servers) return is_picked(server.id);
        return server.agent.empty() || (given_.agent && server.agent == given_.agent->name);
    }

    void give(const Server& server) {
        if (!server.enabled) {
            if (is_picked(server.id)) leave_out(server, server.place, why_disabled(server));
            return;
        }
        GivenServer one{server};
        if (!narrow_tools(one) || !bears_rules(one) || !reaches(one.server) ||
            !settle_mode(one.server))
            return;
        rewrite(one);
        inject(one);
        given_.servers.push_back(std::move(one));
    }

    // False: it has none that the agent is shown.
    bool narrow_tools(GivenServer& one) {
        if (!given_.agent || !given_.agent->tools) return true;
        const auto beginning = public_beginning(one.server.id);
        one.tools.emplace();
        for (const auto& pattern : *given_.agent->tools) {
            const auto reach = reach_of(pattern, beginning);
            if (reach == Reach::All) return one.tools.reset(), true;
            if (reach == Reach::Some && pattern.size() > beginning.size())
                one.tools->push_back(pattern.substr(beginning.size()));
        }
        if (!one.tools->empty()) return true;
        if (is_picked(one.server.id))
            leave_out(one.server, given_.agent->place,
                      "agents." + given_.agent->name + ".tools shows none of it");
        return false;
    }

    // Who speaks with the server itself is bound by no rule of ours. What an administrator forbids is not given
    // away so; of the rest it is said.
    bool bears_rules(GivenServer& one) {
        const auto& server = one.server;
        const auto beginning = public_beginning(server.id);
        const auto& rules = config_.permissions;
        std::vector<std::string> told;
        const auto judge = [&](const std::string& rule, const Place& place) {
            told.push_back(rule);
            if (place.scope != Scope::Enterprise) return true;
            leave_out(server, place,
                      rule +
                          " is your administrator's, and holds only where calls go through "
                          "Patchbay: patchbay serve");
            return false;
        };
        for (const auto& pattern : rules.deny) {
            const auto reach = reach_of_rule(pattern, beginning);
            const auto found = rules.deny_places.find(pattern);
            const auto place = found == rules.deny_places.end() ? Place() : found->second;
            if (reach == Reach::All) {
                leave_out(server, place, "permissions.deny has \"" + pattern + "\"");
                return false;
            }
            if (reach == Reach::Some && !judge("permissions.deny \"" + pattern + "\"", place))
                return false;
            if (reach == Reach::Some && pattern.starts_with(beginning))
                one.denied.push_back(pattern.substr(beginning.size()));
        }
        for (const auto& list : rules.allow_lists) {
            auto most = Reach::Nothing;
            for (const auto& pattern : list.patterns)
                most = std::max(most, reach_of(core::trimmed(pattern), beginning));
            if (most == Reach::Nothing) {
                leave_out(server, list.place, "permissions.allow has nothing of it");
                return false;
            }
            if (most == Reach::Some && !judge("permissions.allow", list.place)) return false;
        }
        if (server.trust == "untrusted") {
            const auto place = server.place_of_rule("trust");
            if (!server.enabled_tools && server.tools.empty()) {
                leave_out(server, place, "trust = \"untrusted\", and no rule names a tool of it");
                return false;
            }
            if (!judge("trust = \"untrusted\"", place)) return false;
        }
        if (server.enabled_tools && !judge("enabled_tools", server.place_of_rule("enabled_tools")))
            return false;
        for (const auto& tool : server.disabled_tools)
            if (!judge("disabled_tools \"" + core::printable(tool, 80) + "\"",
                       server.place_of_rule("disabled_tools", tool)))
                return false;
        one.denied.insert(one.denied.end(), server.disabled_tools.begin(),
                          server.disabled_tools.end());
        for (const auto& [tool, level] : server.tools)
            if (level <= Level::Deny) one.denied.push_back(tool);
        for (const auto& [tool, level] : server.tools)
            if (level < Level::AllowOnce &&
                !judge("tools." + core::printable(tool, 80), server.place_of_rule("tools." + tool)))
                return false;
        if (!told.empty())
            warn(
                RuleId::NotCarriedOver, server.place,
                "server \"" + server.id + "\": " + core::printable(core::join(told, ", "), 300) +
                    (told.size() == 1 ? " holds" : " hold") +
                    " only where calls go through Patchbay; a client that speaks with it itself is "
                    "not bound by that",
                server.id);
        return true;
    }

    // The place of what the table of the executor says; where its type says it, that of the server.
    Place place_of(const std::string& key, const Server& server) const {
        const auto found = executor_.places.find(key);
        return found == executor_.places.end() ? server.place : found->second;
    }

    bool reaches(Server& server) {
        const bool program = is_program(server);
        std::erase_if(server.fallback, [&](const auto& transport) {
            return !forbidden_by(executor_, transport, false).empty();
        });
        const auto key = forbidden_by(executor_, server.transport, program);
        if (key.empty()) return true;
        leave_out(server, place_of(key, server),
                  std::string(program ? "it is a program, " : "it speaks ") +
                      (program ? "and executor \"" : server.transport + ", and executor \"") +
                      executor_.name + "\" has " + key + " = false" +
                      (executor_.places.contains(key) ? "" : ", as nothing else is said of it"));
        return false;
    }

    bool settle_mode(Server& server) {
        const bool program = is_program(server);
        auto place = server.place;
        auto mode = server.mode;
        if (given_.agent)
            if (const auto own = given_.agent->modes.find(server.id);
                own != given_.agent->modes.end()) {
                mode = own->second;
                if (const auto found = given_.agent->mode_places.find(server.id);
                    found != given_.agent->mode_places.end())
                    place = found->second;
            }
        if (mode != "shared" && mode != "per_session") mode = program ? "per_session" : "shared";
        server.mode = mode;
        if (mode != "shared" || !program || config_.host.stdio_sharing) return true;
        leave_out(server, place,
                  "mode \"shared\" has a program serve several, which [host] stdio_sharing = true "
                  "allows; \"per_session\" gives each its own");
        return false;
    }

    void rewrite(GivenServer& one) {
        auto* value = one.server.settings.if_contains("url");
        const auto url = value ? core::text_of(*value) : std::nullopt;
        if (!url) return;
        const auto* found = rewrite_of(executor_, *url);
        if (!found) {
            if (one.server.expand && rewrite_is_open(executor_, *url))
                warn(RuleId::NotCarriedOver, one.server.place,
                     "server \"" + one.server.id +
                         "\": its url begins with a reference, so no http_url_rewrite is looked "
                         "for; write its host as it is",
                     one.server.id);
            return;
        }
        one.url_before = std::string(*url);
        *value = rewritten(*found, one.url_before);
    }

    void inject(GivenServer& one) {
        if (!is_program(one.server)) return;
        for (const auto& [name, text] : executor_.env_injection) {
            auto& env = one.server.settings["env"];
            if (!env.is_object()) env.emplace_object();
            const bool own = env.get_object().contains(name);
            if (own && server_wins(executor_, name)) continue;
            env.get_object()[name] = text;
            one.injected.push_back(name);
            if (own)
                warn(RuleId::NotCarriedOver, place_of("env_injection." + name, one.server),
                     "server \"" + one.server.id + "\": its own " + core::printable(name, 80) +
                         " gives way to that of executor \"" + executor_.name +
                         "\"; env_server_wins lets it keep its own",
                     one.server.id);
        }
    }

    void tell_of_config() {
        std::set<std::string> given;
        for (const auto& one : given_.servers) given.insert(one.server.id);
        const auto concerns = [&](const Diagnostic& each) {
            if (!each.server.empty()) return given.contains(each.server) || is_picked(each.server);
            return (given_.agent && each.message.starts_with("agents." + given_.agent->name)) ||
                   each.message.starts_with("executors." + executor_.name);
        };
        for (const auto& each : config_.diagnostics)
            if (concerns(each)) given_.warnings.push_back(each);
        if (!given_.agent) return;
        for (auto& each : missing_servers(config_, *given_.agent))
            given_.warnings.push_back(std::move(each));
    }

    const Config& config_;
    const Executor executor_;
    Given& given_;
};

json::object to_json(const GivenServer& one) {
    const auto& settings = one.server.settings;
    json::object out{{"name", one.server.id},
                     {"transport", one.server.transport},
                     {"mode", one.server.mode},
                     {"endpoint", endpoint_of(one.server.settings)},
                     {"env", names_of(settings.if_contains("env"))},
                     {"headers", names_of(settings.if_contains("headers"))}};
    auto& headers = out["headers"].get_array();
    if (!one.server.bearer_token_env_var.empty() &&
        std::find(headers.begin(), headers.end(), json::value("Authorization")) == headers.end())
        headers.emplace_back("Authorization");
    if (!one.injected.empty()) out["injected"] = json::value_from(one.injected);
    if (!one.url_before.empty()) {
        const auto shown = masked({{"url", one.url_before}});
        out["url_before"] = shown.at("url");
    }
    if (one.tools) out["tools"] = json::value_from(*one.tools);
    out["place"] = to_string(one.server.place);
    return out;
}

json::object meta_of(const Agent& agent) {
    json::object meta;
    for (const auto& [key, text] : {std::pair("name", &agent.meta.name),
                                    {"description", &agent.meta.description},
                                    {"url", &agent.meta.url},
                                    {"icon", &agent.meta.icon}})
        if (!text->empty()) meta[key] = *text;
    return meta;
}

}  // namespace

bool is_program(const Server& server) {
    return server.transport == "stdio" || server.settings.contains("command");
}

std::string endpoint_of(const json::object& settings) {
    const auto shown = masked(settings);
    if (const auto url = core::text_in(&shown, "url")) return std::string(*url);
    std::vector<std::string> words;
    if (const auto command = core::text_in(&shown, "command"))
        words.push_back(core::shell_word(*command));
    if (const auto* args = core::array_in(&shown, "args"))
        for (const auto& each : *args)
            words.push_back(core::shell_word(each.is_string() ? std::string(each.get_string())
                                                              : json::serialize(each)));
    const auto* port = shown.if_contains("port");
    if (!words.empty() || !port) return core::join(words, " ");
    return std::string(core::text_in(&shown, "host").value_or("127.0.0.1")) + ":" +
           json::serialize(*port);
}

Result<void> check_session(const std::string& session) {
    const bool fine = session.size() <= kMostSessionBytes &&
                      std::all_of(session.begin(), session.end(), [](char letter) {
                          const char low = core::lower(letter);
                          return (low >= 'a' && low <= 'z') || (letter >= '0' && letter <= '9') ||
                                 letter == '-' || letter == '_';
                      });
    if (fine) return {};
    return Error{ErrorCode::Invalid, "session \"" + core::printable(session, 80) +
                                         "\": expected letters, digits, \"-\" and \"_\", " +
                                         std::to_string(kMostSessionBytes) + " at most"};
}

Result<Given> resolve(const Config& config, const Whereabouts& where) {
    if (auto fine = check_session(where.session); !fine) return fine.error();
    auto executor = executor_named(config, where.executor);
    if (!executor) return executor.error();
    Given given{{}, where.executor, where.session.empty() ? "default" : where.session, {}, {}};
    if (!where.agent.empty()) {
        const auto agent = agent_named(config, where.agent);
        if (!agent) return agent.error();
        given.agent = **agent;
    }
    Resolver(config, std::move(*executor), given).run();
    return given;
}

json::object to_json(const Given& given) {
    json::object out;
    if (given.agent) {
        out["agent"] = given.agent->name;
        out["enabled"] = given.agent->enabled;
        if (auto meta = meta_of(*given.agent); !meta.empty()) out["meta"] = std::move(meta);
    }
    out["executor"] = given.executor;
    out["session"] = given.session;
    auto& servers = out["servers"].emplace_array();
    for (const auto& one : given.servers) servers.push_back(to_json(one));
    auto& warnings = out["warnings"].emplace_array();
    for (const auto& each : given.warnings) warnings.push_back(to_json(each));
    return out;
}

}  // namespace patchbay::config
