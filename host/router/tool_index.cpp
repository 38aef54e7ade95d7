#include "router/tool_index.hpp"

#include "pins/listed.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::router {

namespace {

bool by_public_name(const ToolIndex::Entry& a, const ToolIndex::Entry& b) {
    return a.public_name < b.public_name;
}

}  // namespace

// All servers anew, though one has changed: how two names that clash are told apart depends on every
// other.
void ToolIndex::build() {
    if (version_ == catalogue_.version()) return;
    version_ = catalogue_.version();
    by_name_.clear();
    entries_.clear();
    listings_.clear();
    names_ = {};
    for (const auto& [server, listing] : catalogue_.listings()) {
        auto connections = pool_.find(server);
        if (!connections) continue;
        listings_.push_back(listing);
        for (const auto& tool : listing->tools)
            entries_.push_back({protocol::public_name(server, tool.name), server, &tool,
                                protocol::quoted(tool.name), &connections->get()});
    }
    std::sort(entries_.begin(), entries_.end(), by_public_name);
    tell_apart();
}

// `names_` knows a pair that it was not given by the name that it has alone: where no two clash it is
// not needed, and it costs more than all the rest.
void ToolIndex::tell_apart() {
    const auto clash = std::adjacent_find(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.public_name == b.public_name; });
    if (clash == entries_.end()) return;
    for (const auto& entry : entries_) names_.add(entry.server, entry.tool->name);
    for (auto& entry : entries_)
        entry.public_name = names_.public_name(entry.server, entry.tool->name);
    std::sort(entries_.begin(), entries_.end(), by_public_name);
}

// Another list, or a record that is read, is another generation: what was found counts from then on.
const pins::Judged* ToolIndex::judge(const Entry& entry) const {
    entry.judged = &pins_->of_tool(entry.server, *entry.tool, entry.public_name);
    entry.judged_at = pins_->generation();
    return entry.judged;
}

const std::string& ToolIndex::digest_of(const Entry& entry) {
    if (entry.digest.empty()) entry.digest = pins::digest_of(pins::canonical_form(*entry.tool));
    return entry.digest;
}

const ToolIndex::Entry* ToolIndex::find(std::string_view public_name) {
    build();
    if (by_name_.empty()) {  // who lists them all needs none of it
        by_name_.reserve(entries_.size());
        for (const auto& entry : entries_) by_name_.emplace(entry.public_name, &entry);
    }
    const auto found = by_name_.find(public_name);
    return found == by_name_.end() ? nullptr : found->second;
}

const ToolIndex::Entry* ToolIndex::find_raw(const std::string& server, const std::string& tool) {
    const auto* entry = find(public_name(server, tool));
    const bool same = entry && entry->server == server && entry->tool->name == tool;
    return same ? entry : nullptr;
}

const std::vector<ToolIndex::Entry>& ToolIndex::entries() {
    build();
    return entries_;
}

std::string ToolIndex::public_name(const std::string& server, const std::string& tool) {
    build();
    return names_.public_name(server, tool);
}

bool ToolIndex::any(std::string_view server, std::string_view name, bool or_longer) const {
    const auto listing = catalogue_.listings().find(server);
    if (listing == catalogue_.listings().end()) return false;
    const auto& tools = listing->second->tools;
    const auto tool = std::lower_bound(
        tools.begin(), tools.end(), name,
        [](const auto& each, std::string_view wanted) { return each.name < wanted; });
    return tool != tools.end() && (or_longer ? tool->name.starts_with(name) : tool->name == name);
}

}  // namespace patchbay::router
