#include "config/levels.hpp"

#include <optional>
#include <vector>

namespace patchbay::config {

namespace {

struct Candidate {
    const std::string* key;
    Level level;
    Scope scope;
};

// All keys that cover the name, the most specific first.
std::vector<Candidate> covering(const Server& server, std::string_view name) {
    std::vector<Candidate> found;
    const auto look = [&](const std::string& key) {
        const auto at = server.tools.find(key);
        if (at == server.tools.end()) return;
        const auto& place = server.place_of_rule("tools." + key);
        found.push_back({&at->first, at->second, place.scope});
    };
    if (!is_beginning(name)) look(std::string(name));
    std::string key(beginning_in(name));
    for (;;) {
        look(key + "*");
        if (key.empty()) return found;
        key.pop_back();
    }
}

}  // namespace

bool is_beginning(std::string_view key) {
    return key.ends_with('*');
}

std::string_view beginning_in(std::string_view key) {
    return is_beginning(key) ? key.substr(0, key.size() - 1) : key;
}

const std::string* deciding_key(const Server& server, std::string_view name) {
    if (server.tools.empty()) return nullptr;
    const auto found = covering(server, name);
    const Candidate* deciding = nullptr;
    std::optional<Scope> strongest;  // of those that are more specific
    for (const auto& each : found) {
        if (strongest && each.scope <= *strongest) continue;
        strongest = each.scope;
        if (!deciding || each.level < deciding->level) deciding = &each;
    }
    return deciding ? deciding->key : nullptr;
}

Level level_for(const Server& server, std::string_view name, Level otherwise) {
    const auto* key = deciding_key(server, name);
    return key ? server.tools.at(*key) : otherwise;
}

}  // namespace patchbay::config
