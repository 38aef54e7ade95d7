#include "router/tool_index.hpp"

#include "protocol/compose.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::router {

// All servers anew, though one has changed: how two names that clash are told apart depends on every
// other, and verdicts are judged here once so that a call does not.
void ToolIndex::build() {
    if (valid_) return;
    entries_.clear();
    names_ = {};
    std::vector<Entry> found;
    for (const auto& id : connections_.ids()) {
        auto& owner = connections_.find(id).value().get();
        for (const auto& tool : owner.tools()) {
            names_.add(id, tool.name);
            found.push_back({id, &owner, &tool, protocol::quoted(tool.name), {}, {}});
        }
    }
    for (auto& entry : found) {
        const auto name = names_.public_name(entry.server, entry.tool->name);
        policy::Question question{policy::Principal::LocalUser, entry.connection->spec().config,
                                  entry.tool->name, name};
        entry.for_local = policy_.judge(question);
        question.principal = policy::Principal::Agent;
        entry.for_agent = policy_.judge(question);
        entries_.emplace(name, std::move(entry));
    }
    valid_ = true;
}

ToolIndex::Entry* ToolIndex::find(const std::string& public_name) {
    build();
    const auto found = entries_.find(public_name);
    return found == entries_.end() ? nullptr : &found->second;
}

ToolIndex::Entry* ToolIndex::find_raw(const std::string& server, const std::string& tool) {
    auto* entry = find(public_name(server, tool));
    const bool same = entry && entry->server == server && entry->tool->name == tool;
    return same ? entry : nullptr;
}

const std::unordered_map<std::string, ToolIndex::Entry>& ToolIndex::entries() {
    build();
    return entries_;
}

std::string ToolIndex::public_name(const std::string& server, const std::string& tool) {
    build();
    return names_.public_name(server, tool);
}

std::vector<std::string> ToolIndex::listed_names() {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries()) {
        if (entry.for_local.listed) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace patchbay::router
