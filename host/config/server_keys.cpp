#include "config/forwarded_headers.hpp"
#include "config/keys.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace patchbay::config {

namespace {

constexpr std::string_view kFlag = "true or false";
constexpr std::string_view kTexts = "a list of text";
// What people write for a flag, above all where YAML 1.1 read it as one.
constexpr std::pair<const char*, std::array<std::string_view, 4>> kWordsForFlags[] = {
    {"true", {"yes", "on", "y", "true"}}, {"false", {"no", "off", "n", "false"}}};

constexpr double kMostMs = 366.0 * 24 * 3600 * 1000;  // a year: far from any overflow

std::string take_level(Level& target, const Node& value) {
    static const std::vector<std::string> names = {
        "disable",       "deny",          "require-approval", "allow-once",
        "allow-session", "allow-project", "allow-always"};
    std::string word;
    if (auto wrong = take_one_of(word, value, names); !wrong.empty()) return wrong;
    target = *level_from(word);
    return {};
}

std::string take_levels(std::map<std::string, Level>& target, const Node& value) {
    if (!value.is(Node::Kind::Map)) return mismatch("a table of tool = level", value);
    std::map<std::string, Level> levels;
    for (const auto& [tool, mark, level] : value.members) {
        if (auto wrong = take_level(levels[tool], level); !wrong.empty()) {
            return "\"" + core::printable(tool, 80) + "\": " + wrong;
        }
    }
    target = std::move(levels);
    return {};
}

const std::vector<std::string>& protocols() {
    static const std::vector<std::string> words = {"auto",       "2026-07-28", "2025-11-25",
                                                   "2025-06-18", "2025-03-26", "2024-11-05"};
    return words;
}

std::string take_transports(std::vector<std::string>& target, const Node& value) {
    auto wrong = take_texts(target, value);
    for (auto& name : target) name = canonical_transport(name);
    return wrong;
}

std::string take_warm(unsigned& target, const Node& value) {
    if (!value.is(Node::Kind::Integer) || value.integer < 0 || value.integer > 1)
        return wrong_number("0 or 1", value);
    target = static_cast<unsigned>(value.integer);
    return {};
}

// It was a flag once, and other programs have one of that name.
std::string take_restart(Restart& target, const Node& value) {
    if (value.is(Node::Kind::Flag)) {
        target = value.flag ? Restart::OnFailure : Restart::Never;
        return {};
    }
    static const std::vector<std::string> words = {"on-failure", "always", "never"};
    std::string word;
    if (auto wrong = take_one_of(word, value, words); !wrong.empty()) return wrong;
    target = word == "always"  ? Restart::Always
             : word == "never" ? Restart::Never
                               : Restart::OnFailure;
    return {};
}

namespace json = boost::json;
using S = Server;
using N = const Node&;
using J = json::value;
constexpr auto kYes = Overlay::Yes;
constexpr auto kNo = Overlay::No;

// Errors name the key that was written, of the two units that a limit may be written in.
template <std::size_t at, Unit unit>
std::string take_time(Server& server, N value) {
    constexpr auto& limit = kTimeLimits[at];
    server.*limit.from = limit.key(unit);
    return take_duration(server.*limit.time, value, unit == Unit::Seconds ? 1000 : 1);
}

template <std::size_t at, Unit unit>
J told_time(const Server& server) {
    constexpr auto& limit = kTimeLimits[at];
    if (unit != limit.told_in) return {};
    const auto time = server.*limit.time;
    return unit == Unit::Seconds ? told_in_seconds(time) : J(time.count());
}

template <std::size_t at, Unit unit>
constexpr ServerKey kTime{kTimeLimits[at].key(unit), kYes, Effect::Adjust, take_time<at, unit>,
                          told_time<at, unit>};

template <std::size_t... at>
constexpr auto time_keys(std::index_sequence<at...>) {
    std::array<ServerKey, 2 * sizeof...(at)> keys{};
    ((keys[2 * at] = kTime<at, kTimeLimits[at].told_in>), ...);
    ((keys[2 * at + 1] = kTime < at,
      kTimeLimits[at].told_in == Unit::Seconds ? Unit::Milliseconds : Unit::Seconds >),
     ...);
    return keys;
}

// Only what was set or differs from the default: a reader looks for what is special.
template <auto field>
J told(const Server& server) {
    const auto& value = server.*field;
    if (value == std::decay_t<decltype(value)>{}) return {};
    return json::value_from(value);
}

J told_levels(const Server& server) {
    if (server.tools.empty()) return {};
    json::object levels;
    for (const auto& [tool, level] : server.tools) levels[tool] = name_of(level);
    return levels;
}

// `transport` and the settings (command, url, ...) are taken by take_settings(), since what they
// mean depends on each other; `config` nests settings.
constexpr std::array kFirstKeys = {
    ServerKey{"transport", kNo, Effect::Restart,
              [](S& s, N v) {
                  // Empty would mean "guess it", which is what leaving the key out is for.
                  auto wrong = take_text(s.transport, v);
                  s.transport = canonical_transport(s.transport);
                  return wrong.empty() && s.transport.empty()
                             ? std::string("expected the name of a transport, found an empty text")
                             : wrong;
              },
              [](const S& s) { return J(s.transport); }},
    ServerKey{"enabled", kYes, Effect::Switch, [](S& s, N v) { return take_flag(s.enabled, v); },
              [](const S& s) { return J(s.enabled); }},
    ServerKey{"config", kNo, Effect::Restart,
              [](S&, N v) {
                  return v.is(Node::Kind::Map) ? std::string() : mismatch("a table of settings", v);
              },
              [](const S&) { return J(); }},
    ServerKey{"expand", kNo, Effect::Restart, [](S& s, N v) { return take_flag(s.expand, v); },
              [](const S& s) { return s.expand ? J() : J(false); }},
    ServerKey{"auth", kNo, Effect::Restart, [](S& s, N v) { return take_text(s.auth, v); },
              told<&S::auth>},
    ServerKey{"bearer_token_env_var", kNo, Effect::Restart,
              [](S& s, N v) { return take_text(s.bearer_token_env_var, v); },
              told<&S::bearer_token_env_var>},
    ServerKey{"oauth", kNo, Effect::Restart, [](S& s, N v) { return take_object(s.oauth, v); },
              told<&S::oauth>},
};
constexpr auto kTimeKeys = time_keys(std::make_index_sequence<kTimeLimits.size()>());
constexpr std::array kOtherKeys = {
    ServerKey{
        "enabled_tools", kYes, Effect::Judge,
        [](S& s, N v) { return take_texts(s.enabled_tools.emplace(), v); },
        [](const S& s) { return s.enabled_tools ? json::value_from(*s.enabled_tools) : J(); }},
    ServerKey{"disabled_tools", kYes, Effect::Judge,
              [](S& s, N v) { return take_texts(s.disabled_tools, v); }, told<&S::disabled_tools>},
    ServerKey{"tools", kYes, Effect::Judge, [](S& s, N v) { return take_levels(s.tools, v); },
              told_levels},
    ServerKey{"trust", kYes, Effect::Judge,
              [](S& s, N v) {
                  return take_one_of(s.trust, v, {"trusted", "untrusted"});
              },
              told<&S::trust>},
    ServerKey{"mode", kYes, Effect::Adjust, [](S& s, N v) { return take_text(s.mode, v); },
              told<&S::mode>},
    ServerKey{"lazy", kNo, Effect::Adjust, [](S& s, N v) { return take_flag(s.lazy, v); },
              told<&S::lazy>},
    ServerKey{"idle_timeout_sec", kNo, Effect::Adjust,
              [](S& s, N v) { return take_duration(s.idle_timeout.emplace(), v, 1000, 0); },
              [](const S& s) { return s.idle_timeout ? told_in_seconds(*s.idle_timeout) : J(); }},
    ServerKey{"warm", kNo, Effect::Adjust, [](S& s, N v) { return take_warm(s.warm, v); },
              told<&S::warm>},
    ServerKey{"protocol", kNo, Effect::Restart,
              [](S& s, N v) { return take_one_of(s.protocol, v, protocols()); },
              [](const S& s) { return s.protocol == "auto" ? J() : J(s.protocol); }},
    ServerKey{"fallback", kNo, Effect::Restart,
              [](S& s, N v) { return take_transports(s.fallback, v); }, told<&S::fallback>},
    ServerKey{"forward_headers", kNo, Effect::Adjust,
              [](S& s, N v) { return take_forwarded_headers(s.forward_headers, v); },
              told<&S::forward_headers>},
    ServerKey{"required", kNo, Effect::Adjust, [](S& s, N v) { return take_flag(s.required, v); },
              told<&S::required>},
    ServerKey{
        "restart", kNo, Effect::Adjust, [](S& s, N v) { return take_restart(s.restart, v); },
        [](const S& s) { return s.restart == Restart::OnFailure ? J() : J(name_of(s.restart)); }},
};

constexpr auto kServerKeys = [] {
    std::array<ServerKey, kFirstKeys.size() + kTimeKeys.size() + kOtherKeys.size()> all{};
    auto at = std::copy(kFirstKeys.begin(), kFirstKeys.end(), all.begin());
    at = std::copy(kTimeKeys.begin(), kTimeKeys.end(), at);
    std::copy(kOtherKeys.begin(), kOtherKeys.end(), at);
    return all;
}();

// Environment values written as numbers or true/false are meant as text.
bool to_scalar_text(const Node& value, std::string& text) {
    switch (value.kind) {
        case Node::Kind::Text:
            text = value.text;
            return true;
        case Node::Kind::Integer:
            text = std::to_string(value.integer);
            return true;
        case Node::Kind::Flag:
            text = value.flag ? "true" : "false";
            return true;
        default:
            return false;
    }
}

constexpr const char* kLimits[] = {"memory", "cpu_seconds", "processes", "files", "output_bytes"};
constexpr std::int64_t kMostOfALimit = std::int64_t{1} << 50;  // far from any overflow

std::string take_whole(std::int64_t& target, const Node& value) {
    const std::string expected = "a whole number from 1 to 1000000000";
    auto number = value.is(Node::Kind::Integer) ? value.integer : 0;
    if (value.is(Node::Kind::Text)) {  // as `config show` has it
        const auto* const end = value.text.data() + value.text.size();
        const auto [read, failed] = std::from_chars(value.text.data(), end, number);
        if (failed != std::errc() || read != end) return mismatch(expected, value);
    }
    if (number < 1 || number > 1'000'000'000) return wrong_number(expected, value);
    target = number;
    return {};
}

// 1073741824, "1 GiB", "512MiB", "2 GB"
std::string take_bytes(std::int64_t& target, const Node& value) {
    constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {{"", 1},
                                                                    {"b", 1},
                                                                    {"kib", 1 << 10},
                                                                    {"mib", 1 << 20},
                                                                    {"gib", 1 << 30},
                                                                    {"tib", std::int64_t{1} << 40},
                                                                    {"kb", 1'000},
                                                                    {"mb", 1'000'000},
                                                                    {"gb", 1'000'000'000},
                                                                    {"tb", 1'000'000'000'000}};
    const std::string expected = "bytes, or text such as \"512 MiB\" or \"1 GiB\", up to 1024 TiB";
    std::int64_t number = value.is(Node::Kind::Integer) ? value.integer : 0, unit = 1;
    if (value.is(Node::Kind::Text)) {
        const auto text = core::trimmed(value.text);
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
        const auto word = core::lower(
            core::trimmed({end, static_cast<std::size_t>(text.data() + text.size() - end)}));
        const auto* const found =
            std::find_if(std::begin(kUnits), std::end(kUnits),
                         [&](const auto& each) { return each.first == word; });
        if (failed != std::errc() || found == std::end(kUnits))
            return "expected " + expected + ", found \"" + core::printable(value.text, 40) + "\"";
        unit = found->second;
    } else if (!value.is(Node::Kind::Integer)) {
        return mismatch(expected, value);
    }
    if (number < 1 || number > kMostOfALimit / unit) return "expected " + expected;
    target = number * unit;
    return {};
}

class SettingsTaker {
public:
    SettingsTaker(Server& server, std::vector<Complaint>& complaints)
        : server_(server), complaints_(complaints) {}

    void take(const Member& member) {
        const auto& [key, mark, value] = member;
        if (key == "command") return command(value);
        if (key == "args") return texts(key, value);
        if (key == "env" || key == "headers") return text_map(key, value);
        if (key == "cwd" || key == "url" || key == "host") return text(key, value);
        if (key == "port") return port(value);
        if (key == "limits") return limits(value);
        // Of some other transport, and judged by its schema once the plugin is known.
        server_.settings[key] = to_json(value);
    }

    // `command = ["npx", "-y", "x"]` and `args = ["z"]` are one argument list.
    void finish() {
        if (more_args_.empty()) return;
        if (const auto* args = server_.settings.if_contains("args")) {
            for (const auto& arg : args->get_array()) more_args_.push_back(arg);
        }
        server_.settings["args"] = std::move(more_args_);
    }

private:
    void complain(std::string_view key, const Node& value, std::string_view expected) {
        complaints_.push_back({value.mark, std::string(key) + ": " + mismatch(expected, value)});
    }

    void command(const Node& value) {
        if (value.is(Node::Kind::Text) && !value.text.empty()) {
            server_.settings["command"] = value.text;
            return;
        }
        std::vector<std::string> words;
        if (value.is(Node::Kind::List)) {
            if (const auto wrong = take_texts(words, value); !wrong.empty())
                return complaints_.push_back({value.mark, "command: " + wrong});
        }
        if (words.empty() || words.front().empty())
            return complain("command", value, "a program, or a list that begins with one");
        server_.settings["command"] = words.front();
        for (std::size_t i = 1; i < words.size(); ++i)
            more_args_.push_back(boost::json::string(words[i]));
    }

    void texts(const std::string& key, const Node& value) {
        boost::json::array list;
        std::string item_text;
        if (!value.is(Node::Kind::List)) return complain(key, value, kTexts);
        for (const auto& item : value.items) {
            if (!to_scalar_text(item, item_text)) return complain(key, item, kTexts);
            list.push_back(boost::json::string(item_text));
        }
        server_.settings[key] = std::move(list);
    }

    void text_map(const std::string& key, const Node& value) {
        if (!value.is(Node::Kind::Map)) return complain(key, value, "a table of name = text");
        boost::json::object map;
        std::string member_text;
        for (const auto& member : value.members) {
            if (!to_scalar_text(member.value, member_text)) {
                return complain(key + "." + core::printable(member.key, 80), member.value, "text");
            }
            // A "=" would end the name early in the child's environment and set another variable.
            if (member.key.empty() || (key == "env" && member.key.find('=') != std::string::npos)) {
                complaints_.push_back({member.mark, key + ": \"" + core::printable(member.key, 80) +
                                                        "\" cannot be a name"});
                return;
            }
            map[member.key] = member_text;
        }
        server_.settings[key] = std::move(map);
    }

    void text(const std::string& key, const Node& value) {
        if (!value.is(Node::Kind::Text)) return complain(key, value, "text");
        server_.settings[key] = value.text;
    }

    void port(const Node& value) {
        const bool later = value.is(Node::Kind::Text) && value.text.find("${") != std::string::npos;
        if (later ||
            (value.is(Node::Kind::Integer) && value.integer > 0 && value.integer < 65536)) {
            server_.settings["port"] = to_json(value);
            return;
        }
        complaints_.push_back({value.mark, "port: expected a number from 1 to 65535"});
    }

    // Of a program. In bytes when they reach the transport, whose schema knows the same names.
    void limits(const Node& value) {
        if (!value.is(Node::Kind::Map)) return complain("limits", value, "a table of limits");
        boost::json::object taken;
        for (const auto& [key, mark, limit] : value.members) {
            if (std::find(std::begin(kLimits), std::end(kLimits), key) == std::end(kLimits)) {
                complaints_.push_back(
                    {mark, "limits: unknown key \"" + core::printable(key, 80) + "\"; there are " +
                               core::join({std::begin(kLimits), std::end(kLimits)}, ", ") +
                               core::did_you_mean(key, {std::begin(kLimits), std::end(kLimits)})});
                return;
            }
            const bool bytes = key == "memory" || key == "output_bytes";
            std::int64_t number = 0;
            if (auto wrong = bytes ? take_bytes(number, limit) : take_whole(number, limit);
                !wrong.empty()) {
                complaints_.push_back({limit.mark, "limits." + key + ": " + wrong});
                return;
            }
            taken[key] = std::to_string(number);  // an sdk::Config has no numbers this deep
        }
        server_.settings["limits"] = std::move(taken);
    }

    Server& server_;
    std::vector<Complaint>& complaints_;
    boost::json::array more_args_;
};

bool is_server_key(std::string_view name) {
    return std::any_of(kServerKeys.begin(), kServerKeys.end(),
                       [&](const ServerKey& key) { return key.name == name; });
}

}  // namespace

std::span<const ServerKey> server_keys() {
    return kServerKeys;
}

const ServerKey* find_server_key(std::string_view name) {
    const auto* const it = std::find_if(std::begin(kServerKeys), std::end(kServerKeys),
                                        [&](const auto& key) { return key.name == name; });
    return it == std::end(kServerKeys) ? nullptr : it;
}

const std::vector<TransportKeys>& usual_settings() {
    static const std::vector<std::string> kRemote = {
        "url",        "headers", "connect_timeout_ms", "ca_file", "client_certificate",
        "client_key", "proxy",   "unix_socket"};
    static const std::vector<std::string> kHttp = [] {
        auto keys = kRemote;
        keys.emplace_back("keep_alive_sec");
        return keys;
    }();
    static const std::vector<TransportKeys> settings = {
        {"stdio",
         {"command", "args", "cwd", "env", "pass_env", "pid_namespace", "stop_grace_ms", "limits"}},
        {"tcp",
         {"host", "port", "allow_remote", "command", "args", "cwd", "env", "pass_env",
          "connect_timeout_ms", "stop_grace_ms", "limits"}},
        {"http", kHttp},
        {"sse", kHttp},
        {"ws", kRemote},
    };
    return settings;
}

std::vector<Complaint> take_settings(const Node& body, Server& server) {
    std::vector<Complaint> complaints;
    SettingsTaker taker(server, complaints);
    if (const auto* nested = body.find("config")) {
        for (const auto& member : nested->members) taker.take(member);
    }
    // After `config`, so that what stands beside it wins.
    for (const auto& member : body.members) {
        if (!is_server_key(member.key)) taker.take(member);
    }
    if (complaints.empty()) taker.finish();
    return complaints;
}

std::string canonical_transport(std::string_view written) {
    if (written == "streamable_http" || written == "streamable-http" ||
        written == "streamableHttp") {
        return "http";
    }
    if (written == "websocket") return "ws";
    return std::string(written);
}

std::string transport_for(bool has_command, std::string_view url) {
    if (has_command) return "stdio";
    return url.starts_with("ws://") || url.starts_with("wss://") ? "ws" : "http";
}

bool defines_connection(const Node& body) {
    const auto* nested = body.find("config");
    return body.find("transport") || body.find("command") || body.find("url") ||
           (nested && (nested->find("command") || nested->find("url")));
}

std::string mismatch(std::string_view expected, const Node& value) {
    const auto told = "expected " + std::string(expected) + ", found ";
    if (value.is(Node::Kind::Text) && expected == kFlag) {
        // No other text is shown: it may be a secret that landed in the wrong place.
        const auto small = core::lower(value.text);
        for (const auto& [meant, words] : kWordsForFlags)
            if (std::find(words.begin(), words.end(), small) != words.end())
                return told + "\"" + value.text + "\"; write " + meant;
    }
    if (value.is(Node::Kind::Text) && value.text.empty()) return told + "an empty text";
    const bool one_text = value.is(Node::Kind::Text) && expected == kTexts;
    return told + name_of(value.kind) + (one_text ? "; write [...] around it" : "");
}

std::string wrong_number(std::string_view expected, const Node& value) {
    const bool number = value.is(Node::Kind::Integer) || value.is(Node::Kind::Real);
    if (!number) return mismatch(expected, value);
    return "expected " + std::string(expected) + ", found " +
           boost::json::serialize(to_json(value));
}

std::string take_text(std::string& target, const Node& value) {
    if (!value.is(Node::Kind::Text)) return mismatch("text", value);
    target = value.text;
    return {};
}

std::string take_flag(bool& target, const Node& value) {
    if (!value.is(Node::Kind::Flag)) return mismatch(kFlag, value);
    target = value.flag;
    return {};
}

std::string take_texts(std::vector<std::string>& target, const Node& value) {
    if (!value.is(Node::Kind::List)) return mismatch(kTexts, value);
    std::vector<std::string> texts;
    texts.reserve(value.items.size());
    for (const auto& item : value.items) {
        if (!item.is(Node::Kind::Text))
            return "expected " + std::string(kTexts) + ", and item " +
                   std::to_string(texts.size() + 1) + " of it is " + name_of(item.kind);
        texts.push_back(item.text);
    }
    target = std::move(texts);
    return {};
}

std::string take_object(boost::json::object& target, const Node& value) {
    if (!value.is(Node::Kind::Map)) return mismatch("a table", value);
    target = to_object(value);
    return {};
}

std::string take_duration(std::chrono::milliseconds& target, const Node& value, double unit_ms,
                          double least_ms) {
    const double given =
        value.is(Node::Kind::Integer) ? static_cast<double>(value.integer) : value.real;
    const double ms = given * unit_ms;
    const bool number = value.is(Node::Kind::Integer) || value.is(Node::Kind::Real);
    // Negated, since nan is within no bounds and outside of none.
    if (!number || !(ms >= least_ms) || !(ms <= kMostMs)) {
        char least[32];
        auto* const end = std::to_chars(least, least + sizeof least, least_ms / unit_ms).ptr;
        return wrong_number(
            (unit_ms == 1 ? "a number of milliseconds from " : "a number of seconds from ") +
                std::string(least, static_cast<std::size_t>(end - least)) +
                (unit_ms == 1 ? " to 31622400000" : " to 31622400"),
            value);
    }
    target = std::chrono::milliseconds(std::llround(ms));
    return {};
}

boost::json::value told_in_seconds(std::chrono::milliseconds time) {
    if (time.count() % 1000 == 0) return time.count() / 1000;
    return static_cast<double>(time.count()) / 1000.0;
}

std::string take_one_of(std::string& target, const Node& value,
                        const std::vector<std::string>& words) {
    if (value.is(Node::Kind::Text) &&
        std::find(words.begin(), words.end(), value.text) != words.end()) {
        target = value.text;
        return {};
    }
    const auto legal = "one of " + core::join(words, ", ");
    if (!value.is(Node::Kind::Text)) return mismatch(legal, value);
    // Such words are no secrets, so the wrong one is shown.
    return "expected " + legal + ", found \"" + core::printable(value.text, 40) + "\"" +
           core::did_you_mean(value.text, words);
}

}  // namespace patchbay::config
