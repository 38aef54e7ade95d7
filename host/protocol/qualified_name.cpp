#include "protocol/qualified_name.hpp"

#include "core/digest.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::protocol {

namespace {

constexpr std::size_t kHashBytes = 9;  // `_` and 8 hex digits

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

std::string raw_name(std::string_view server, std::string_view tool) {
    std::string name;
    name.reserve(server.size() + tool.size() + 7);
    return name.append("mcp__").append(server).append("__").append(tool);
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
// to), so pairs that share a name are hashed until none do. Which these are does not depend on who
// is looked at first, and each is hashed once.
void NameTable::settle() const {
    if (settled_) return;
    settled_ = true;
    struct Sharing {
        std::vector<const Pair*> as_they_are;
        const Pair* told_apart = nullptr;
    };
    std::map<std::string, Sharing> sharing;
    std::vector<decltype(sharing)::iterator> met;  // names that several may share
    for (auto& [pair, name] : names_) {
        name = protocol::public_name(pair.first, pair.second);
        const auto at = sharing.try_emplace(name).first;
        at->second.as_they_are.push_back(&pair);
        met.push_back(at);
    }
    while (!met.empty()) {
        const auto at = met.back();
        met.pop_back();
        auto& [as_they_are, told_apart] = at->second;
        if (as_they_are.size() + (told_apart ? 1 : 0) < 2) continue;
        for (const auto* pair : std::exchange(as_they_are, {})) {
            auto& name = names_.find(*pair)->second;
            name = name_told_apart(pair->first, pair->second);
            const auto now = sharing.try_emplace(name).first;
            auto& first = now->second.told_apart;
            if (!first || *pair < *first) first = pair;
            met.push_back(now);
        }
    }
    pairs_.clear();
    for (const auto& [name, wanting] : sharing) {
        const auto* pair = wanting.told_apart;
        if (!pair && !wanting.as_they_are.empty()) pair = wanting.as_they_are.front();
        if (pair) pairs_.emplace_hint(pairs_.end(), name, *pair);
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
