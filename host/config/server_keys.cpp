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
        // As a name it would be nobody's, and closed the server without a word.
        if (const auto star = tool.find('*'); star != tool.npos && star + 1 < tool.size())
            return "\"" + core::printable(tool, 80) +
                   "\" is no name of a tool and no beginning of names: expected a \"*\" at the end "
                   "alone, as in create_*";
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
        [](S& s, N v) { return take_patterns(s.enabled_tools.emplace(), v); },
        [](const S& s) { return s.enabled_tools ? json::value_from(*s.enabled_tools) : J(); }},
    ServerKey{"disabled_tools", kYes, Effect::Judge,
              [](S& s, N v) { return take_patterns(s.disabled_tools, v); },
              told<&S::disabled_tools>},
    ServerKey{"tools", kYes, Effect::Judge, [](S& s, N v) { return take_levels(s.tools, v); },
              told_levels},
    ServerKey{"trust", kYes, Effect::Judge,
              [](S& s, N v) {
                  return take_one_of(s.trust, v, {"trusted", "untrusted"});
              },
              told<&S::trust>},
    ServerKey{"pins", kYes, Effect::Judge,
              [](S& s, N v) {
                  return take_one_of(s.pins, v, {"block", "warn", "off"});
              },
              told<&S::pins>},
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
    ServerKey{"check_arguments", kNo, Effect::Adjust,
              [](S& s, N v) { return take_flag(s.check_arguments, v); },
              [](const S& s) { return s.check_arguments ? J() : J(false); }},
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

}  // namespace

std::span<const ServerKey> server_keys() {
    return kServerKeys;
}

const ServerKey* find_server_key(std::string_view name) {
    const auto* const it = std::find_if(std::begin(kServerKeys), std::end(kServerKeys),
                                        [&](const auto& key) { return key.name == name; });
    return it == std::end(kServerKeys) ? nullptr : it;
}

RuleId rule_of_fault(const Node& value, std::string_view wrong) {
    if (wrong.find(kUnknownKey) != wrong.npos) return RuleId::UnknownKey;
    return value.is(Node::Kind::List) && value.items.empty() ? RuleId::EmptyList
                                                             : RuleId::InvalidValue;
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

void Wrongs::add(std::string_view wrong) {
    if (++count_ > kMost) return;
    if (count_ > 1) text_ += between_;
    text_ += wrong;
}

std::string Wrongs::told() const {
    return count_ <= kMost ? text_
                           : text_ + between_ + "and " + std::to_string(count_ - kMost) + " more";
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
    Wrongs wrongs{", "};
    for (const auto& item : value.items) {
        texts.push_back(item.text);
        if (!item.is(Node::Kind::Text))
            wrongs.add("item " + std::to_string(texts.size()) + " of it is " + name_of(item.kind));
    }
    if (!wrongs.told().empty()) return "expected " + std::string(kTexts) + ", and " + wrongs.told();
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
