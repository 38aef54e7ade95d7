#include "config/rules.hpp"

#include "config/compile.hpp"
#include "config/keys.hpp"
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
        "toolsdenied",     "prohibited",      "filters"};
    return names;
}

constexpr std::size_t kMostOfAName = 32;  // a file may hold many long keys
constexpr std::size_t kMostKeys = 4096;   // below one unknown key

std::string plain(std::string_view key) {
    auto text = core::lower(key);
    std::erase_if(text, [](char c) { return c == '_' || c == '-'; });
    return text;
}

bool is_near(std::string_view plain_key, const std::vector<std::string>& names) {
    return plain_key.size() <= kMostOfAName && !core::nearest(plain_key, names, 1).empty();
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

}  // namespace

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

bool is_rule_of_a_server(std::string_view key, const json::value& value) {
    return names_a_rule(key) || may_forbid(key, value);
}

const Member* misplaced_rule(const Node& body) {
    const auto first_in = [](const Node& table, bool settings_only) -> const Member* {
        for (const auto& member : table.members) {
            const auto& names = settings_only ? names_of_settings() : names_in_a_server();
            if (std::find(names.begin(), names.end(), member.key) != names.end()) continue;
            if (is_rule_of_a_server(member.key, to_json(member.value))) return &member;
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

bool nearly_servers(std::string_view key) {
    static const std::vector<std::string> names = {"servers", "mcpservers"};
    return is_near(plain(key), names);
}

}  // namespace patchbay::config
