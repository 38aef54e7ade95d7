#include "protocol/qualified_name.hpp"

#include "core/digest.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <set>

namespace patchbay::protocol {

namespace {

constexpr std::size_t kHashBytes = 9;  // `_` and 8 hex digits

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

std::string raw_name(std::string_view server, std::string_view tool) {
    std::string name = "mcp__";
    return name.append(server).append("__").append(tool);
}

// What every public name of a server begins with: a hashed one may be cut inside a long id.
std::string prefix_of(std::string_view server) {
    auto prefix = raw_name(server, "");
    prefix.resize(std::min(prefix.size(), kPublicNameBytes - kHashBytes));
    return prefix;
}

bool fits(std::string_view name) {
    return name.size() <= kPublicNameBytes && std::all_of(name.begin(), name.end(), is_plain);
}

}  // namespace

std::string public_beginning(std::string_view server, std::string_view beginning) {
    std::string name = raw_name(server, beginning);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !is_plain(c); }, '_');
    name.resize(std::min(name.size(), kPublicNameBytes - kHashBytes));
    return name;
}

std::string name_told_apart(std::string_view server, std::string_view tool) {
    std::string pair(server);
    pair += '\0';
    pair += tool;
    return public_beginning(server, tool) + "_" + core::sha256_hex(pair).substr(0, 8);
}

std::string public_name(std::string_view server, std::string_view tool) {
    std::string name = raw_name(server, tool);
    return fits(name) && !tool.empty() ? name : name_told_apart(server, tool);
}

void NameTable::add(const std::string& server, const std::string& tool) {
    if (names_.emplace(Pair{server, tool}, "").second) settled_ = false;
}

// Hashed names may meet a plain one too (a tool may be called anything, also what another is hashed
// to), so pairs that share a name are hashed until none do. Every round hashes at least one more.
void NameTable::settle() const {
    if (settled_) return;
    settled_ = true;
    std::set<Pair> told_apart;
    for (bool again = true; again;) {
        again = false;
        std::map<std::string, std::vector<const Pair*>> wanted;
        for (auto& [pair, name] : names_) {
            const auto& [server, tool] = pair;
            name = told_apart.count(pair) ? name_told_apart(server, tool)
                                          : protocol::public_name(server, tool);
            wanted[name].push_back(&pair);
        }
        pairs_.clear();
        for (const auto& [name, wanting] : wanted) {
            pairs_.emplace(name, *wanting.front());
            if (wanting.size() == 1) continue;
            for (const auto* pair : wanting) again |= told_apart.insert(*pair).second;
        }
    }
}

std::string NameTable::public_name(const std::string& server, const std::string& tool) const {
    settle();
    const auto found = names_.find({server, tool});
    return found == names_.end() ? protocol::public_name(server, tool) : found->second;
}

std::optional<std::pair<std::string, std::string>> NameTable::find(const std::string& name) const {
    settle();
    const auto found = pairs_.find(name);
    if (found == pairs_.end()) return std::nullopt;
    return found->second;
}

std::vector<std::string> NameTable::names() const {
    settle();
    std::vector<std::string> names;
    for (const auto& [name, pair] : pairs_) names.push_back(name);
    return names;
}

std::vector<std::string> servers_for(std::string_view name, const std::vector<std::string>& ids) {
    std::vector<std::string> owners;
    for (const auto& id : ids) {
        const auto prefix = prefix_of(id);
        if (name.substr(0, prefix.size()) == prefix) owners.push_back(id);
    }
    return owners;
}

std::vector<std::string> servers_beginning(std::string_view beginning,
                                           const std::vector<std::string>& ids) {
    std::vector<std::string> owners;
    for (const auto& id : ids) {
        const auto prefix = core::lower(prefix_of(id));
        const auto shared = std::min(prefix.size(), beginning.size());
        if (core::lower(beginning.substr(0, shared)) == prefix.substr(0, shared))
            owners.push_back(id);
    }
    return owners;
}

bool matches(std::string_view pattern, std::string_view name) {
    if (!pattern.empty() && pattern.back() == '*') {
        pattern.remove_suffix(1);
        return name.substr(0, pattern.size()) == pattern;
    }
    return pattern == name;
}

}  // namespace patchbay::protocol
