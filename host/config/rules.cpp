#include "config/rules.hpp"

#include "config/compile.hpp"
#include "config/keys.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::config {

namespace {

namespace json = boost::json;

// As plain() makes them. Lists of tools, as Gemini, Codex, Cursor, Windsurf, Cline, Goose, Amp and the
// programming interfaces of models call them, and the switches.
const std::vector<std::string>& rule_names() {
    static const std::vector<std::string> names = {
        "enabled",         "disabled",        "trust",
        "tools",           "enabledtools",    "disabledtools",
        "allow",           "allowed",         "allowlist",
        "allowtools",      "allowedtools",    "availabletools",
        "include",         "includetools",    "includedtools",
        "exclude",         "excluded",        "excludetools",
        "excludedtools",   "blocked",         "blocklist",
        "blocktools",      "blockedtools",    "deny",
        "denied",          "denylist",        "denytools",
        "deniedtools",     "disallow",        "disallowed",
        "disallowedtools", "forbid",          "forbiddentools",
        "hiddentools",     "permissions",     "requireapproval",
        "toolfilter",      "toolpermissions", "toolconfiguration",
        "active",          "isactive",        "block",
        "blacklist",       "toolsblacklist",  "whitelist",
        "toolwhitelist",   "toolswhitelist",  "hidden",
        "skiptools",       "ignoretools",     "toolsdisabled",
        "toolsdenied",     "prohibited",      "filters",
        "alwaysdeny",      "alwaysdenied",    "alwaysblocked",
        "alwaysask",       "alwaysconfirm",   "alwaysreject",
        "neverallow",      "neverallowed",    "neverapprove",
        "neverrun",        "autodeny",        "autoblock",
        "reject",          "rejected",        "rejecttools",
        "rejectedtools",   "prohibittools",   "restrictedtools",
        "removetools",     "confirmtools",    "requireconfirmation",
        "denypatterns"};
    return names;
}

// As plain() makes them: what programs and people write beside a server that is no rule whatever its
// value. Labels for readers, and what asks less of a person than this host does, so that nothing is
// forbidden by it.
const std::vector<std::string>& harmless_names() {
    static const std::vector<std::string> names = {
        "annotations", "author",      "authors",     "autoallow", "autoapprove",   "autorun",
        "alwaysallow", "categories",  "category",    "color",     "comment",       "comments",
        "description", "dev",         "displayname", "docs",      "documentation", "gallery",
        "homepage",    "icon",        "icons",       "inputs",    "keywords",      "labels",
        "license",     "maintainers", "metadata",    "name",      "note",          "notes",
        "publisher",   "repository",  "tags",        "title",     "version"};
    return names;
}

// How people mark a key as their own, or write one out.
constexpr std::string_view kOwnPrefixes[] = {"x-", "x_", "_", "$", "//"};

// As plain() makes them.
const std::vector<std::string>& words_of_refusal() {
    static const std::vector<std::string> words = {
        "disable",   "disabled",       "off",        "no",
        "none",      "never",          "false",      "deny",
        "denied",    "hide",           "hidden",     "block",
        "blocked",   "forbid",         "forbidden",  "prohibited",
        "disallow",  "disallowed",     "exclude",    "excluded",
        "readonly",  "inactive",       "stopped",    "paused",
        "suspended", "locked",         "restricted", "untrusted",
        "ask",       "prompt",         "confirm",    "manual",
        "approval",  "requireapproval"};
    return words;
}

constexpr std::size_t kMostOfAName = 32;  // a file may hold many long keys
constexpr std::size_t kLeastOfAKey = 4;   // letters that say what is meant
constexpr std::size_t kMostKeys = 4096;   // below one unknown key

std::string plain(std::string_view key) {
    auto text = core::lower(key);
    std::erase_if(text, [](char c) { return c == '_' || c == '-'; });
    return text;
}

// No budget: each key costs at most what there are names, whatever others the file holds.
bool is_near(std::string_view plain_key, const std::vector<std::string>& names) {
    if (plain_key.size() > kMostOfAName) return false;
    const core::Spelling spelling(plain_key);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return spelling.distance(name).has_value();
    });
}

bool forbids_nothing(std::string_view plain_key, const json::value& value) {
    if (value.is_bool())
        return (value.get_bool() && is_near(plain_key, {"enabled", "active", "isactive"})) ||
               (!value.get_bool() && is_near(plain_key, {"disabled", "hidden"}));
    return value.is_string() && value.get_string() == "trusted" && is_near(plain_key, {"trust"});
}

bool is_strict_level(const json::value& value) {
    if (!value.is_string()) return false;
    const auto level = level_from(std::string_view(value.get_string()));
    return level && *level <= Level::RequireApproval;
}

// `left`: keys that are still looked at, since comparing names costs time and a checkout may bring
// thousands. What is not looked at may be a rule.
bool holds_a_rule(std::string_view key, const json::value& value, std::size_t& left);

bool any_below(const json::value& value, std::size_t& left) {
    if (const auto* object = value.if_object())
        return std::any_of(object->begin(), object->end(), [&](const auto& member) {
            return holds_a_rule(member.key(), member.value(), left);
        });
    const auto* array = value.if_array();
    return array && std::any_of(array->begin(), array->end(),
                                [&](const auto& item) { return any_below(item, left); });
}

bool holds_a_rule(std::string_view key, const json::value& value, std::size_t& left) {
    if (left == 0) return true;
    --left;
    if (is_strict_level(value) || any_below(value, left)) return true;
    const auto name = plain(key);
    return is_near(name, rule_names()) && !forbids_nothing(name, value);
}

// "enabled", "disabled", "active" and their like.
bool is_switch(const Member& member) {
    return member.value.is(Node::Kind::Flag) &&
           is_near(plain(member.key), {"enabled", "disabled", "active", "isactive"});
}

constexpr std::size_t kMostNames = 64;  // beside the switches of one table

// Takes the switches out of `table`. `path`: of the tables down to it. Those that forbid nothing name
// nothing.
void take_switches(Node& table, std::vector<std::string>& path, std::vector<std::string>& names) {
    bool any = false;
    std::erase_if(table.members, [&](const Member& member) {
        if (!is_switch(member)) return false;
        any = any || !forbids_nothing(plain(member.key), to_json(member.value));
        return true;
    });
    if (any) {
        names.insert(names.end(), path.begin(), path.end());
        for (const auto& member : table.members)
            if (member.value.is(Node::Kind::Text)) names.push_back(member.value.text);
    }
    for (auto& member : table.members) {
        if (names.size() > kMostNames) return;
        path.push_back(member.key);
        take_switches(member.value, path, names);
        path.pop_back();
    }
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_harmless(std::string_view key) {
    return is_own_key(key) || holds(harmless_names(), plain(key));
}

// Of a key of ours that is no rule.
bool is_misspelt(std::string_view key) {
    static const std::vector<std::string> names = [] {
        auto all = names_in_a_server();
        std::erase_if(all, [](const std::string& name) { return names_a_rule(name); });
        return all;
    }();
    return is_near(key, names);
}

// An empty list names no tool, which may mean that none is allowed.
bool is_list_of_texts(const json::value& value) {
    const auto* list = value.if_array();
    return list &&
           (list->empty() || std::any_of(list->begin(), list->end(),
                                         [](const json::value& item) { return item.is_string(); }));
}

// What turns a server off, or makes it read only, in another program's words. As plain() makes them.
bool is_a_state(std::string_view plain_key) {
    constexpr std::string_view states[] = {"off", "readonly", "state", "status"};
    return std::find(std::begin(states), std::end(states), plain_key) != std::end(states);
}

// As holds_a_rule(), by the kind of value.
bool may_refuse(std::string_view key, const json::value& value, std::size_t& left) {
    if (left == 0) return true;
    --left;
    if (is_harmless(key)) return false;
    if (value.is_bool()) return !forbids_nothing(plain(key), value);
    if (is_list_of_texts(value) || refuses(value)) return true;
    if (const auto* list = value.if_array())
        return std::any_of(list->begin(), list->end(),
                           [&](const auto& item) { return may_refuse({}, item, left); });
    const auto* table = value.if_object();
    return table && std::any_of(table->begin(), table->end(), [&](const auto& member) {
               return may_refuse(member.key(), member.value(), left);
           });
}

}  // namespace

bool refuses(const json::value& value) {
    return value.is_string() &&
           holds(words_of_refusal(), plain(std::string_view(value.get_string())));
}

ServerList kind_of_server_list(std::string_view key) {
    const auto name = plain(key);
    std::string_view what = name;
    const auto drop = [&what](std::string_view end) {
        const bool ends_so = what.ends_with(end);
        if (ends_so) what.remove_suffix(end.size());
        return ends_so;
    };
    if (!drop("servers")) return ServerList::None;
    if (!drop("mcpjson")) drop("mcp");
    if (what == "allow" || what == "allowed") return ServerList::Only;
    return holds(words_of_refusal(), std::string(what)) ? ServerList::Off : ServerList::None;
}

bool can_be_denied(std::string_view pattern) {
    constexpr std::string_view prefix = "mcp__";
    pattern = core::trimmed(pattern);
    const bool open = pattern.ends_with('*');
    if (open && prefix.starts_with(pattern.substr(0, pattern.size() - 1))) return true;
    return pattern.starts_with(prefix) && pattern != prefix &&
           (open || !pattern.starts_with("mcp____"));
}

bool is_own_key(std::string_view key) {
    return std::any_of(std::begin(kOwnPrefixes), std::end(kOwnPrefixes),
                       [&](std::string_view begin) { return key.starts_with(begin); });
}

bool names_a_rule(std::string_view key) {
    return is_near(plain(key), rule_names());
}

bool may_forbid(std::string_view key, const json::value& value) {
    auto left = kMostKeys;
    return holds_a_rule(key, value, left);
}

bool may_forbid(const Member& member) {
    return may_forbid(member.key, to_json(member.value));
}

std::optional<std::vector<std::string>> names_beside_switches(const Member& table) {
    auto rest = table;
    std::vector<std::string> path{table.key}, names;
    if (is_switch(table)) return std::nullopt;  // of the whole file
    take_switches(rest.value, path, names);
    if (names.empty() || names.size() > kMostNames || may_forbid(rest)) return std::nullopt;
    return names;
}

bool is_rule_of_a_server(std::string_view key, const json::value& value, Words words) {
    if (words == Words::Ours && is_harmless(key)) return false;
    if (names_a_rule(key) || may_forbid(key, value)) return true;
    if (words == Words::AnotherPrograms)
        return is_a_state(plain(key)) && (value == json::value(true) || refuses(value));
    if (refuses(value)) return true;
    if (is_misspelt(key)) return false;
    auto left = kMostKeys;
    return may_refuse(key, value, left);
}

const Member* misplaced_rule(const Node& body, Words words) {
    // A transport that we do not ship may read any setting, and its schema is not known here.
    const auto* transport = body.find("transport");
    if (transport && std::none_of(usual_settings().begin(), usual_settings().end(),
                                  [name = canonical_transport(transport->text)](const auto& usual) {
                                      return usual.transport == name;
                                  }))
        words = Words::AnotherPrograms;
    const auto first_in = [words](const Node& table, bool settings_only) -> const Member* {
        for (const auto& member : table.members) {
            const auto& names = settings_only ? names_of_settings() : names_in_a_server();
            if (std::find(names.begin(), names.end(), member.key) != names.end()) continue;
            if (is_rule_of_a_server(member.key, to_json(member.value), words)) return &member;
        }
        return nullptr;
    };
    if (const auto* found = first_in(body, false)) return found;
    const auto* nested = body.find("config");
    return nested ? first_in(*nested, true) : nullptr;
}

std::string unread_rule(std::string_view key) {
    return "unknown key \"" + core::printable(key, 80) + "\", which may be meant to forbid";
}

std::string hint_of_key(const std::string& key, const std::vector<std::string>& known,
                        core::Effort& hints) {
    if (auto near = core::did_you_mean(key, known, hints); !near.empty()) return near;
    std::vector<std::string> longer;
    for (const auto& each : known)
        if (key.size() >= kLeastOfAKey &&
            ("_" + each + "_").find("_" + core::lower(key) + "_") != std::string::npos)
            longer.push_back(each);
    return longer.empty() ? "" : "; keys of that word: " + core::join(longer, ", ");
}

bool nearly_servers(std::string_view key) {
    static const std::vector<std::string> names = {"servers", "mcpservers"};
    return is_near(plain(key), names);
}

}  // namespace patchbay::config
