#include "config/executors.hpp"

#include "config/keys.hpp"
#include "config/permission_lists.hpp"
#include "config/rules.hpp"
#include "core/spelling.hpp"

#include <algorithm>
#include <array>

namespace patchbay::config {

namespace {

// Nobody can start a program of this machine elsewhere. A container of this machine is the person's own, and has
// what its image has. Where an executor of another name runs nobody knows, so it is as one elsewhere.
enum class Where { Here, Elsewhere };
struct KnownType {
    const char* name;
    Where where;
};
constexpr std::array kKnownTypes = {
    KnownType{"local_pc", Where::Here}, KnownType{"local_docker", Where::Here},
    KnownType{"remote_docker", Where::Elsewhere}, KnownType{"remote_ssh", Where::Elsewhere},
    KnownType{"k8s", Where::Elsewhere}};

bool allows(const Executor& executor, const std::string& transport) {
    const auto said = executor.allow.find(transport);
    if (said != executor.allow.end()) return said->second;
    if (transport != "stdio") return true;
    return std::any_of(kKnownTypes.begin(), kKnownTypes.end(), [&](const auto& type) {
        return type.name == executor.name && type.where == Where::Here;
    });
}

// Where the authority of a URL ends; 0: it is none.
std::size_t end_of_authority(std::string_view url) {
    const auto begin = url.find("://");
    if (begin == url.npos) return 0;
    return std::min(url.find_first_of("/?#", begin + 3), url.size());
}

std::string_view authority_of(std::string_view url) {
    const auto end = end_of_authority(url);
    return end == 0 ? std::string_view() : url.substr(0, end).substr(url.find("://") + 3);
}

// The colons of an address in brackets are its own.
bool has_port(std::string_view authority) {
    const auto bracket = authority.rfind(']');
    return authority.find(':', bracket == authority.npos ? 0 : bracket) != authority.npos;
}

// Scheme and host mean the same in capitals; a path does not.
bool same_up_to(std::string_view text, std::string_view prefix, std::size_t in_any_case) {
    if (text.size() < prefix.size()) return false;
    for (std::size_t i = 0; i < prefix.size(); ++i) {
        const bool same =
            i < in_any_case ? core::lower(text[i]) == core::lower(prefix[i]) : text[i] == prefix[i];
        if (!same) return false;
    }
    return true;
}

// `:8080/mcp`, and not the user of `http://localhost:1@elsewhere/`.
bool begins_with_port(std::string_view rest) {
    if (!rest.starts_with(':')) return false;
    const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    return end > 1 && (end == rest.size() || std::string_view("/?#").find(rest[end]) != rest.npos);
}

bool matches(const UrlRewrite& rewrite, std::string_view url) {
    const std::string_view from = rewrite.from;
    if (!same_up_to(url, from, end_of_authority(from))) return false;
    const auto rest = url.substr(from.size());
    if (rest.empty() || from.ends_with('/')) return true;
    if (std::string_view("/?#").find(rest.front()) != rest.npos) return true;
    return end_of_authority(from) == from.size() && !has_port(authority_of(from)) &&
           begins_with_port(rest);
}

std::string wrong_url(std::string_view url) {
    static const std::vector<std::string> schemes = {"http", "https", "ws", "wss"};
    const auto scheme = core::lower(url.substr(0, std::min(url.find("://"), url.size())));
    const bool known = std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
    const auto authority = authority_of(url);
    if (!known || authority.empty() || authority.find('@') != authority.npos ||
        url.find_first_of(" \t\r\n\"<>$") != url.npos)
        return "expected the beginning of a URL with its scheme and host, as "
               "\"http://localhost:8080\"";
    return {};
}

std::string take_rewrite(UrlRewrite& rewrite, const Node& value) {
    if (!value.is(Node::Kind::Map)) return mismatch("tables { from = URL, to = URL }", value);
    for (const auto& member : value.members) {
        if (member.key != "from" && member.key != "to")
            return "unknown key \"" + core::printable(member.key, 80) + "\"; expected from and to";
        auto& target = member.key == "from" ? rewrite.from : rewrite.to;
        if (auto wrong = take_text(target, member.value); !wrong.empty())
            return member.key + ": " + wrong;
        if (auto wrong = wrong_url(target); !wrong.empty())
            return member.key + ": " + wrong + ", found \"" + core::printable(target, 200) + "\"";
    }
    if (rewrite.from.empty() || rewrite.to.empty())
        return std::string("expected from and to, and there is no \"") +
               (rewrite.from.empty() ? "from" : "to") + "\"";
    if (rewrite.from.ends_with('/') != rewrite.to.ends_with('/'))
        return "from and to: one ends with \"/\" and the other does not, which would join the "
               "parts of a "
               "URL wrongly; write both alike";
    const auto host = [](const std::string& url) {
        return core::lower(url.substr(0, end_of_authority(url)));
    };
    if (host(rewrite.from) == host(rewrite.to) && rewrite.from.substr(host(rewrite.from).size()) ==
                                                      rewrite.to.substr(host(rewrite.to).size()))
        return "from and to are the same";
    return {};
}

std::string take_rewrites(Executor& executor, const Node& value) {
    if (!value.is(Node::Kind::List)) return mismatch("a list of { from, to }", value);
    for (const auto& item : value.items)
        if (auto wrong = take_rewrite(executor.http_url_rewrite.emplace_back(), item);
            !wrong.empty())
            return "entry " + std::to_string(executor.http_url_rewrite.size()) + ": " + wrong;
    return {};
}

bool may_be_variable(std::string_view name) {
    return !name.empty() && name.find_first_of("= \t\n\0") == name.npos &&
           name.find('\0') == name.npos;
}

std::string take_env(Executor& executor, const Node& value) {
    if (!value.is(Node::Kind::Map)) return mismatch("a table of variables", value);
    for (const auto& member : value.members) {
        if (!may_be_variable(member.key))
            return "\"" + core::printable(member.key, 80) + "\" is no name of a variable";
        if (auto wrong = take_text(executor.env_injection[member.key], member.value);
            !wrong.empty())
            return core::printable(member.key, 80) + ": " + wrong;
    }
    return {};
}

std::string take_winners(Executor& executor, const Node& value) {
    if (auto wrong = take_texts(executor.env_server_wins, value); !wrong.empty()) return wrong;
    for (const auto& written : executor.env_server_wins)
        if (auto wrong = wrong_pattern(written); !wrong.empty()) return wrong;
    return {};
}

template <std::size_t at>
std::string take_allow(Executor& executor, const Node& value) {
    return take_flag(executor.allow[kExecutorTransports[at]], value);
}

const std::array kExecutorKeys = {
    ExecutorKey{"allow_stdio", take_allow<0>},
    ExecutorKey{"allow_http", take_allow<1>},
    ExecutorKey{"allow_sse", take_allow<2>},
    ExecutorKey{"allow_streamable_http", take_allow<3>},
    ExecutorKey{"allow_ws", take_allow<4>},
    ExecutorKey{"allow_tcp", take_allow<5>},
    ExecutorKey{"http_url_rewrite", take_rewrites},
    ExecutorKey{"env_injection", take_env},
    ExecutorKey{"env_server_wins", take_winners},
};

bool may_restrict(const Member& member) {
    return may_forbid(member) || member.key.starts_with("allow") || member.key.starts_with("deny");
}

void note_places(Executor& executor, const Node& table, const Source& source) {
    for (const auto& member : table.members) {
        executor.places[member.key] = source.place(member.mark);
        for (const auto& inner : member.value.members)
            executor.places[member.key + "." + inner.key] = source.place(inner.mark);
    }
    const auto* rewrites = table.find("http_url_rewrite");
    for (std::size_t i = 0; rewrites && i < executor.http_url_rewrite.size(); ++i)
        executor.http_url_rewrite[i].place = source.place(rewrites->items[i].mark);
}

bool is_list_of_names(const std::vector<std::string>& patterns, std::string_view name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
        if (!pattern.ends_with('*')) return pattern == name;
        return name.starts_with(pattern.substr(0, pattern.size() - 1));
    });
}

}  // namespace

std::span<const ExecutorKey> executor_keys() {
    return kExecutorKeys;
}

Executor read_executor(const Member& table, const Source& source, core::Effort& hints,
                       std::vector<Diagnostic>& told) {
    Executor executor;
    executor.name = table.key;
    executor.place = source.place(table.mark);
    const auto note = [&](RuleId rule, Severity severity, Mark mark, const std::string& text) {
        told.push_back(
            {rule, severity, source.place(mark), "executors." + executor.name + text, {}});
    };
    // What makes no sense may have been meant to forbid something: then nobody runs there.
    const auto wrong = [&](RuleId rule, Mark mark, const std::string& text) {
        note(rule, Severity::Error, mark, text);
        if (executor.fault.empty()) executor.fault = to_string(source.place(mark)) + text;
    };
    if (!table.value.is(Node::Kind::Map)) {
        wrong(RuleId::InvalidValue, table.value.mark,
              std::string(": expected a table, found ") + name_of(table.value.kind));
        return executor;
    }
    std::vector<std::string> names;
    for (const auto& key : kExecutorKeys) names.emplace_back(key.name);
    for (const auto& each : table.value.members) {
        const auto key = std::find_if(kExecutorKeys.begin(), kExecutorKeys.end(),
                                      [&](const auto& k) { return k.name == each.key; });
        if (key != kExecutorKeys.end()) {
            for (const auto& fault : take_all(*key, executor, each.value))
                wrong(fault.rule, fault.mark, "." + each.key + ": " + fault.text);
            continue;
        }
        const auto text = ": unknown key \"" + core::printable(each.key, 80) + "\"" +
                          core::did_you_mean(each.key, names, hints);
        if (may_restrict(each) || source.scope == Scope::Enterprise || source.is_flag())
            wrong(RuleId::UnknownKey, each.mark, text);
        else
            note(RuleId::UnknownKey, Severity::Warning, each.mark, text);
    }
    note_places(executor, table.value, source);
    return executor;
}

void narrow(Executor& now, const Executor& said) {
    for (const auto* transport : kExecutorTransports) {
        const auto word = said.allow.find(transport);
        if (word == said.allow.end() || word->second || !allows(now, transport)) continue;
        now.allow[transport] = false;
        const auto key = std::string("allow_") + transport;
        if (const auto place = said.places.find(key); place != said.places.end())
            now.places[key] = place->second;
    }
    now.http_url_rewrite.insert(now.http_url_rewrite.begin(), said.http_url_rewrite.begin(),
                                said.http_url_rewrite.end());
    // A variable that it sets is a server's own only where it says so too; of others all is as it was.
    std::vector<std::string> winners;
    for (const auto& [name, value] : now.env_injection)
        if (!said.env_injection.contains(name) && server_wins(now, name)) winners.push_back(name);
    for (const auto& [name, value] : said.env_injection) {
        const bool won = !now.env_injection.contains(name) || server_wins(now, name);
        if (won && server_wins(said, name)) winners.push_back(name);
        now.env_injection[name] = value;
        if (const auto place = said.places.find("env_injection." + name);
            place != said.places.end())
            now.places[place->first] = place->second;
    }
    now.env_server_wins = std::move(winners);
    if (now.fault.empty()) now.fault = said.fault;
}

std::vector<std::string> executor_names(const Config& config) {
    std::vector<std::string> names;
    for (const auto& executor : config.executors) names.push_back(executor.name);
    for (const auto& type : kKnownTypes)
        if (std::find(names.begin(), names.end(), type.name) == names.end())
            names.emplace_back(type.name);
    return names;
}

Result<Executor> executor_named(const Config& config, const std::string& name) {
    const auto called = "executor \"" + core::printable(name, 80) + "\"";
    for (const auto& executor : config.executors) {
        if (executor.name != name) continue;
        if (executor.fault.empty()) return executor;
        return Error{ErrorCode::Invalid,
                     called + " cannot be used until it is mended: " + executor.fault};
    }
    for (const auto& type : kKnownTypes) {
        if (name != type.name) continue;
        Executor executor;
        executor.name = name;
        return executor;
    }
    const auto names = executor_names(config);
    return Error{ErrorCode::NotFound,
                 core::behind_hint("no " + called + " is known" + core::did_you_mean(name, names),
                                   "known: " + core::join(names, ", ")) +
                     "; [executors.NAME] in your user config makes one"};
}

std::string forbidden_by(const Executor& executor, const std::string& transport, bool program) {
    // Streamable HTTP is what `http` is, and each of both words forbids it.
    if (transport == "http" && !allows(executor, "streamable_http")) return "allow_streamable_http";
    const bool known = std::find(kExecutorTransports.begin(), kExecutorTransports.end(),
                                 transport) != kExecutorTransports.end();
    if (known && !allows(executor, transport)) return "allow_" + transport;
    return program && !allows(executor, "stdio") ? "allow_stdio" : "";
}

const UrlRewrite* rewrite_of(const Executor& executor, std::string_view url) {
    for (const auto& rewrite : executor.http_url_rewrite)
        if (matches(rewrite, url)) return &rewrite;
    return nullptr;
}

std::string rewritten(const UrlRewrite& rewrite, std::string_view url) {
    return rewrite.to + std::string(url.substr(rewrite.from.size()));
}

bool rewrite_is_open(const Executor& executor, std::string_view url) {
    const auto known = url.substr(0, std::min(url.find("${"), url.size()));
    if (known.size() == url.size()) return false;
    return std::any_of(executor.http_url_rewrite.begin(), executor.http_url_rewrite.end(),
                       [&](const UrlRewrite& each) {
                           const auto size = std::min(known.size(), each.from.size());
                           return same_up_to(known, std::string_view(each.from).substr(0, size),
                                             end_of_authority(each.from));
                       });
}

bool server_wins(const Executor& executor, std::string_view variable) {
    return is_list_of_names(executor.env_server_wins, variable);
}

}  // namespace patchbay::config
