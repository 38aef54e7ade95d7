#include "registry/imprint.hpp"

#include "config/levels.hpp"
#include "config/show.hpp"
#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::registry {
namespace json = boost::json;

namespace {

constexpr std::size_t kDigestDigits = 32;  // 128 bits: nobody looks for two that are equal

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Of another server the same value has another digest: who shares a token is nobody's business. Without a
// salt a value stands for itself.
class Digester {
public:
    Digester(const std::string* salt, const std::string& of)
        : begin_(salt ? std::optional(*salt + '\0' + of + '\0') : std::nullopt) {}
    std::string operator()(const std::string& key, const json::value& value) const {
        auto text = json::serialize(core::sorted_by_key(value));
        if (!begin_) return text;
        return core::sha256_hex(*begin_ + key + '\0' + text).substr(0, kDigestDigits);
    }
    Digests operator()(const std::vector<Part>& parts) const {
        Digests digests;
        for (const auto& part : parts) digests[part.key] = (*this)(part.key, part.value);
        return digests;
    }

private:
    std::optional<std::string> begin_;
};

json::object texts(const Digests& all) {
    json::object out;
    for (const auto& [key, digest] : all) out[key] = digest;
    return out;
}

// Rules are kept in clear: a plan names the tools that it widens, and no rule holds a secret.
json::object to_json(const ServerImprint& server) {
    json::object out{{"enabled", server.enabled},
                     {"connection", texts(server.connection)},
                     {"conduct", texts(server.conduct)}};
    const auto& rules = server.rules;
    if (rules.enabled_tools) out["enabled_tools"] = core::array_of(*rules.enabled_tools);
    out["disabled_tools"] = core::array_of(rules.disabled_tools);
    auto& tools = out["tools"].emplace_object();
    for (const auto& [tool, level] : rules.tools) tools[tool] = config::name_of(level);
    out["untrusted"] = rules.untrusted;
    if (!rules.pins.empty()) out["pins"] = rules.pins;
    return out;
}

// Takes what was kept apart; the first member that makes no sense is the error.
class Taker {
public:
    Imprint take(const json::object& kept) {
        Imprint made;
        const auto salt = core::text_in(&kept, "salt");
        if (!salt || salt->empty())
            complain("salt");
        else
            made.salt = *salt;
        for (const auto& member : members(kept, "servers")) {
            const std::string id(member.key());
            if (const auto* server = member.value().if_object())
                made.servers[id] = this->server(*server, "servers." + id + ".");
            else
                complain("servers." + id);
        }
        const auto* permissions = core::object_in(&kept, "permissions");
        if (!permissions) {
            complain("permissions");
        } else {
            at_ = "permissions.";
            if (permissions->contains("allow")) made.allow = names(*permissions, "allow");
            made.deny = names(*permissions, "deny");
            if (permissions->contains("ask")) made.ask = names(*permissions, "ask");
            made.closed = flag(*permissions, "closed");
            at_.clear();
        }
        made.tables = digests(kept, "tables");
        return made;
    }
    const std::string& wrong() const { return wrong_; }

private:
    // The first is enough: a file that somebody has changed is written anew, not mended.
    void complain(std::string_view key) {
        if (wrong_.empty()) wrong_ = at_ + std::string(key);
    }

    const json::object& members(const json::object& object, std::string_view key) {
        static const json::object kNone;
        const auto* found = core::object_in(&object, key);
        if (!found) complain(key);
        return found ? *found : kNone;
    }

    ServerImprint server(const json::object& kept, const std::string& at) {
        at_ = at;
        ServerImprint made;
        made.enabled = flag(kept, "enabled");
        made.connection = digests(kept, "connection");
        made.conduct = digests(kept, "conduct");
        if (kept.contains("enabled_tools")) made.rules.enabled_tools = names(kept, "enabled_tools");
        made.rules.disabled_tools = names(kept, "disabled_tools");
        for (const auto& member : members(kept, "tools")) {
            const auto word = core::text_of(member.value());
            const auto level = word ? config::level_from(*word) : std::nullopt;
            if (level)
                made.rules.tools[member.key()] = *level;
            else
                complain("tools." + std::string(member.key()));
        }
        made.rules.untrusted = flag(kept, "untrusted");
        made.rules.pins = core::text_in(&kept, "pins").value_or("");
        at_.clear();
        return made;
    }

    bool flag(const json::object& object, std::string_view key) {
        const auto found = core::flag_in(&object, key);
        if (!found) complain(key);
        return found.value_or(false);
    }

    std::vector<std::string> names(const json::object& object, std::string_view key) {
        std::vector<std::string> made;
        const auto* array = core::array_in(&object, key);
        if (!array) complain(key);
        for (const auto& item : array ? *array : json::array()) {
            if (const auto text = core::text_of(item))
                made.emplace_back(*text);
            else
                complain(key);
        }
        return made;
    }

    Digests digests(const json::object& object, std::string_view key) {
        Digests made;
        for (const auto& member : members(object, key)) {
            if (const auto text = core::text_of(member.value()))
                made[member.key()] = *text;
            else
                complain(std::string(key) + "." + std::string(member.key()));
        }
        return made;
    }

    std::string at_, wrong_;
};

}  // namespace

bool ServerRules::show(const std::string& tool) const {
    if (contains(disabled_tools, tool)) return false;
    if (enabled_tools && !contains(*enabled_tools, tool)) return false;
    return level_of(tool) != config::Level::Disable;
}

std::optional<config::Level> ServerRules::level_of(const std::string& name) const {
    if (tools.empty()) return {};
    if (const auto found = tools.find(name); found != tools.end()) return found->second;
    std::string key(config::beginning_in(name));
    for (;; key.pop_back()) {
        if (const auto found = tools.find(key + "*"); found != tools.end()) return found->second;
        if (key.empty()) return {};
    }
}

namespace {

// A key may count for less than it says: a stronger file's says otherwise of all that begin so.
std::map<std::string, config::Level> levels_of(const config::Server& server) {
    auto levels = server.tools;
    for (auto& [key, level] : levels) level = config::level_for(server, key, level);
    return levels;
}

Imprint made_of(const Snapshot& snapshot, const std::string* salt) {
    const auto& config = snapshot.config;
    Imprint made;
    if (salt) made.salt = *salt;
    for (const auto& server : config.servers) {
        const Digester digest(salt, server.id);
        // Where a broken enterprise file denies all, nothing runs, whatever stands there.
        made.servers[server.id] = {server.enabled && !config.deny_all,
                                   digest(parts_of_connection(spec_of(server, config))),
                                   digest(parts_of_conduct(server)),
                                   {server.enabled_tools, server.disabled_tools, levels_of(server),
                                    server.trust == "untrusted", server.pins}};
    }
    made.allow = config.permissions.allow;
    made.deny = config.permissions.deny;
    made.ask = config.permissions.ask;
    made.closed = config.deny_all || !config.permissions.closed.empty();
    // In the words of `config show`, so that a table which comes later is in it too.
    const auto shown = config::to_json(config, false);
    const Digester digest(salt, "");
    for (const auto& table : shown.get_object()) {
        const std::string name(table.key());
        // These have parts of their own above; what [auth.*] says is among what reaches each server that uses it, and
        // what [import] brings are servers.
        if (!table.value().is_object() || name == "servers" || name == "auth" ||
            name == "permissions" || name == "import")
            continue;
        for (const auto& member : table.value().get_object()) {
            const auto key = name + "." + std::string(member.key());
            made.tables[key] = digest(key, member.value());
        }
    }
    return made;
}

}  // namespace

Imprint imprint_of(const Snapshot& snapshot, const std::string& salt) {
    return made_of(snapshot, &salt);
}

Imprint clear_imprint_of(const Snapshot& snapshot) {
    return made_of(snapshot, nullptr);
}

json::object to_json(const Imprint& imprint) {
    json::object out{{"salt", imprint.salt}};
    auto& servers = out["servers"].emplace_object();
    for (const auto& [id, server] : imprint.servers) servers[id] = to_json(server);
    auto& permissions = out["permissions"].emplace_object();
    if (imprint.allow) permissions["allow"] = core::array_of(*imprint.allow);
    permissions["deny"] = core::array_of(imprint.deny);
    permissions["ask"] = core::array_of(imprint.ask);
    permissions["closed"] = imprint.closed;
    out["tables"] = texts(imprint.tables);
    return out;
}

Result<Imprint> imprint_from(const json::object& kept) {
    Taker taker;
    auto made = taker.take(kept);
    if (taker.wrong().empty()) return made;
    return Error{ErrorCode::Invalid,
                 "\"" + core::printable(taker.wrong(), 200) + "\" is missing or makes no sense"};
}

}  // namespace patchbay::registry
