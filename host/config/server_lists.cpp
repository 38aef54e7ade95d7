#include "config/server_lists.hpp"

#include "config/dialects.hpp"
#include "config/rules.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::config {

// Each name as a text, or Claude's way as a table.
void ServerLists::take(const Member& member, bool in_mcp) {
    auto kind = kind_of_server_list(member.key);
    if (in_mcp && member.key == "excluded") kind = ServerList::Off;
    if (in_mcp && member.key == "allowed") kind = ServerList::Only;
    if (kind == ServerList::None || !member.value.is(Node::Kind::List) ||
        member.value.items.size() > kMostInOne)
        return;
    List list{(in_mcp ? "mcp." : "") + core::printable(member.key, 80), member.mark, {}};
    for (const auto& item : member.value.items) {
        const auto* name = item.is(Node::Kind::Map) ? item.find("serverName") : &item;
        if (!name || !name->is(Node::Kind::Text)) return;
        list.names.emplace(name->text, item.mark);
    }
    taken_.insert(&member);
    (kind == ServerList::Off ? off_ones_ : only_).push_back(std::move(list));
}

std::string ServerLists::left_out(const std::string& server) const {
    for (const auto& list : off_ones_)
        if (list.names.contains(server)) return "take it out of " + list.place();
    for (const auto& list : only_)
        if (!list.names.contains(server)) return "add it to " + list.place();
    return {};
}

Mark ServerLists::place_of(const std::string& server) const {
    for (const auto& list : off_ones_)
        if (const auto named = list.names.find(server); named != list.names.end())
            return named->second;
    for (const auto& list : only_)
        if (!list.names.contains(server)) return list.mark;
    return {};
}

std::map<std::string, Mark> ServerLists::off() const {
    std::map<std::string, Mark> names;
    for (const auto& list : off_ones_) names.insert(list.names.begin(), list.names.end());
    return names;
}

}  // namespace patchbay::config
