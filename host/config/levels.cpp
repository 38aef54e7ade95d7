#include "config/levels.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace patchbay::config {

namespace {

struct Contender {
    const std::string* key;
    Level level;
    Scope scope;
};

// All keys that cover the name, the most specific first. Its beginnings are looked for one by one, unless there are more
// of them than keys: a name in a file may be as long as the file.
std::vector<Contender> covering(const Server& server, std::string_view name) {
    std::vector<Contender> found;
    const auto take = [&](const auto& entry) {
        const auto& place = server.place_of_rule("tools." + entry.first);
        found.push_back({&entry.first, entry.second, place.scope});
    };
    const auto look = [&](const std::string& key) {
        if (const auto at = server.tools.find(key); at != server.tools.end()) take(*at);
    };
    if (!is_beginning(name)) look(std::string(name));
    std::string key(beginning_in(name));
    if (key.size() <= server.tools.size()) {
        for (;; key.pop_back()) {
            look(key + "*");
            if (key.empty()) return found;
        }
    }
    const auto first = found.size();
    for (const auto& entry : server.tools)
        if (is_beginning(entry.first) && key.starts_with(beginning_in(entry.first))) take(entry);
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
              [](const auto& a, const auto& b) { return a.key->size() > b.key->size(); });
    return found;
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
    const Contender* deciding = nullptr;
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
