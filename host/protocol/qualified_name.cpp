#include "protocol/qualified_name.hpp"

#include <algorithm>

#include "core/digest.hpp"

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

bool fits(std::string_view name) {
    return name.size() <= kPublicNameBytes && std::all_of(name.begin(), name.end(), is_plain);
}

std::string hashed(std::string_view server, std::string_view tool) {
    std::string name = raw_name(server, tool);
    std::replace_if(name.begin(), name.end(), [](char c) { return !is_plain(c); }, '_');
    name.resize(std::min(name.size(), kPublicNameBytes - kHashBytes));
    std::string pair(server);
    pair += '\0';
    pair += tool;
    return name + "_" + core::sha256_hex(pair).substr(0, 8);
}

}  // namespace

std::string public_name(std::string_view server, std::string_view tool) {
    std::string name = raw_name(server, tool);
    return fits(name) && !tool.empty() ? name : hashed(server, tool);
}

void NameTable::add(const std::string& server, const std::string& tool) {
    auto& wanting = by_base_[protocol::public_name(server, tool)];
    const Pair pair{server, tool};
    if (std::find(wanting.begin(), wanting.end(), pair) == wanting.end()) wanting.push_back(pair);
}

std::string NameTable::public_name(const std::string& server, const std::string& tool) const {
    const auto base = protocol::public_name(server, tool);
    const auto found = by_base_.find(base);
    const bool collides = found != by_base_.end() && found->second.size() > 1;
    return collides ? hashed(server, tool) : base;
}

std::optional<std::pair<std::string, std::string>> NameTable::find(const std::string& name) const {
    const auto found = by_base_.find(name);
    if (found != by_base_.end() && found->second.size() == 1) return found->second.front();
    for (const auto& [base, wanting] : by_base_) {
        if (wanting.size() == 1) continue;
        for (const auto& [server, tool] : wanting) {
            if (hashed(server, tool) == name) return Pair{server, tool};
        }
    }
    return std::nullopt;
}

std::vector<std::string> NameTable::names() const {
    std::vector<std::string> names;
    for (const auto& [base, wanting] : by_base_) {
        for (const auto& [server, tool] : wanting) names.push_back(public_name(server, tool));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> servers_for(std::string_view name, const std::vector<std::string>& ids) {
    std::vector<std::string> owners;
    for (const auto& id : ids) {
        std::string prefix = raw_name(id, "");
        // A hashed name may have been cut inside a long server id.
        const bool cut = prefix.size() > kPublicNameBytes - kHashBytes;
        if (cut) prefix.resize(kPublicNameBytes - kHashBytes);
        if (name.substr(0, prefix.size()) == prefix) owners.push_back(id);
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
