#include "catalogue/drift.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace patchbay::catalogue {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostNameShown = 80;
constexpr std::size_t kMostValueShown = 60, kMostContext = 20, kMostFirstShown = 400;

std::string shown(const std::string& name) {
    return core::printable(name, kMostNameShown);
}

using Members = std::map<std::string, std::string_view, std::less<>>;

// Of one tool, those that we read and those that we pass on unread: a change of either is one to a model.
Members members_of(const protocol::Tool& tool) {
    Members members;
    for (const auto* text : {&tool.known, &tool.others})
        protocol::each_of(*text, [&](std::string_view key, std::string_view value) {
            members.emplace(key, value);
            return true;
        });
    return members;
}

std::string shown(const json::value& value) {
    return core::printable(json::serialize(value), kMostValueShown);
}

// Of two texts that begin alike what is shown is not what is the same.
std::pair<std::string, std::string> shown(const json::value& a, const json::value& b) {
    if (!a.is_string() || !b.is_string()) return {shown(a), shown(b)};
    std::string_view old = a.get_string(), fresh = b.get_string();
    const auto same = std::mismatch(old.begin(), old.end(), fresh.begin(), fresh.end()).first;
    auto from = static_cast<std::size_t>(same - old.begin());
    from = core::utf8_prefix(old, from > kMostValueShown / 2 ? from - kMostContext : 0).size();
    const std::string mark = from > 0 ? "..." : "";
    return {mark + shown(json::value(old.substr(from))),
            mark + shown(json::value(fresh.substr(from)))};
}

// `/properties/x/type was "string", is "number"`; empty: they are the same.
std::string first_difference(const json::value& a, const json::value& b, const std::string& at) {
    if (a == b) return {};
    const auto* old = a.if_object();
    const auto* fresh = b.if_object();
    if (old && fresh) {
        for (const auto& [key, value] : *old) {
            const auto below = at + core::pointer_token(key);
            const auto* found = fresh->if_contains(key);
            if (!found) return below + " is gone, was " + shown(value);
            if (auto told = first_difference(value, *found, below); !told.empty()) return told;
        }
        for (const auto& [key, value] : *fresh)
            if (!old->contains(key))
                return at + core::pointer_token(key) + " is new, " + shown(value);
    }
    const auto* olds = a.if_array();
    const auto* news = b.if_array();
    for (std::size_t i = 0; olds && news && i < std::min(olds->size(), news->size()); ++i)
        if (auto told = first_difference((*olds)[i], (*news)[i], at + "/" + std::to_string(i));
            !told.empty())
            return told;
    const auto [was, is] = shown(a, b);
    return at + " was " + was + ", is " + is;
}

// Compares texts first, and reads only what differs.
class Comparison {
public:
    std::vector<std::string> differing(const protocol::Tool& before, const protocol::Tool& now) {
        std::vector<std::string> keys;
        const auto old = members_of(before);
        auto fresh = members_of(now);
        for (const auto& [key, value] : old) {
            const auto found = fresh.find(key);
            if (found == fresh.end() || !same(value, found->second)) keys.push_back(key);
            if (found != fresh.end()) fresh.erase(found);
        }
        for (const auto& [key, value] : fresh) keys.push_back(key);
        std::sort(keys.begin(), keys.end());
        if (first_.empty() && !keys.empty()) name_first(before, now, keys.front());
        return keys;
    }
    const std::string& first() const { return first_; }

private:
    void name_first(const protocol::Tool& before, const protocol::Tool& now,
                    const std::string& key) {
        const auto old = members_of(before), fresh = members_of(now);
        const auto was = old.find(key), is = fresh.find(key);
        const auto name = shown(now.name) + ": /" + core::printable(key, kMostNameShown);
        if (was == old.end() || is == fresh.end()) {
            first_ = name + (is == fresh.end() ? " is gone" : " is new");
            return;
        }
        if (was->second.size() + is->second.size() > kComparedBytes) return;
        const auto one = core::parse_json(was->second), other = core::parse_json(is->second);
        if (one && other)
            first_ = core::printable(first_difference(*one, *other, name), kMostFirstShown);
    }

    std::string first_;
    bool same(std::string_view a, std::string_view b) {
        // Most that are the same are the same bytes; another order of members, or other blanks, is no other meaning.
        if (a == b) return true;
        // A server may change all it lists at once, and as often as it likes: beyond that it differs.
        const auto bytes = a.size() + b.size();
        if (bytes > left_) return false;
        left_ -= bytes;
        const auto one = core::parse_json(a), other = core::parse_json(b);
        return one && other && *one == *other;
    }

    std::size_t left_ = kComparedBytes;
};

// By name, each once, as tools are.
Listing comparable(List list, const Items& items) {
    Listing listing;
    auto& tools = listing.tools;
    for (const auto& text : items.texts) {
        protocol::Tool one;
        protocol::each_member(text, [&](std::string_view key, std::string_view value) {
            if (key == key_of(list))
                one.name = protocol::text_of_raw(value).value_or("");
            else
                protocol::append_member(one.others, key, value);
            return true;
        });
        // What has no name cannot be found again in the other list.
        if (!one.name.empty()) tools.push_back(std::move(one));
    }
    std::stable_sort(tools.begin(), tools.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; });
    tools.erase(std::unique(tools.begin(), tools.end(),
                            [](const auto& a, const auto& b) { return a.name == b.name; }),
                tools.end());
    return listing;
}

// What a server adds or renames without end takes no more memory here than this; the rest is counted.
void add(std::vector<std::string>& names, std::size_t& more, const std::string& name) {
    if (names.size() < kMostDriftNames)
        names.push_back(name);
    else
        ++more;
}

void add(Drift& drift, const std::string& name, std::vector<std::string> members) {
    if (members.empty()) return;
    if (drift.changed.size() < kMostDriftNames)
        drift.changed.push_back({name, std::move(members)});
    else
        ++drift.more_changed;
}

std::string shown(const ChangedItem& item) {
    return shown(item.name) + ": " +
           core::printable(core::join(item.members, ", "), kMostNameShown);
}

template <class Items>
void tell(std::vector<std::string>& parts, const char* what, const Items& items, std::size_t more,
          std::size_t most) {
    const auto count = items.size() + more;
    if (count == 0) return;
    std::vector<std::string> named;
    for (const auto& each : items)
        if (named.size() < most) named.push_back(shown(each));
    if (count > named.size()) named.push_back("...");
    parts.push_back(std::to_string(count) + " " + what + " (" + core::join(named, ", ") + ")");
}

}  // namespace

const char* name_of(List list) {
    switch (list) {
        case List::Resources:
            return "resources";
        case List::Templates:
            return "resourceTemplates";
        case List::Prompts:
            return "prompts";
        default:
            return "tools";
    }
}

const char* capability_of(List list) {
    return list == List::Templates ? "resources" : name_of(list);
}

const char* key_of(List list) {
    return list == List::Resources ? "uri" : list == List::Templates ? "uriTemplate" : "name";
}

std::optional<Drift> drift_of(List list, const Items& before, const Items& now) {
    auto drift = drift_of(comparable(list, before), comparable(list, now));
    if (drift) drift->list = list;
    return drift;
}

std::optional<Drift> drift_of(const Listing& before, const Listing& now) {
    Drift drift;
    Comparison comparison;  // one for all of them: its bound is of the whole list
    // Both are in order of their names, so one pass finds what only one of them has.
    auto old = before.tools.begin();
    auto fresh = now.tools.begin();
    while (old != before.tools.end() || fresh != now.tools.end()) {
        const bool gone =
            fresh == now.tools.end() || (old != before.tools.end() && old->name < fresh->name);
        if (gone) {
            add(drift.removed, drift.more_removed, (old++)->name);
        } else if (old == before.tools.end() || fresh->name < old->name) {
            add(drift.added, drift.more_added, (fresh++)->name);
        } else {
            add(drift, fresh->name, comparison.differing(*old, *fresh));
            ++old, ++fresh;
        }
    }
    drift.first = comparison.first();
    drift.instructions = before.instructions != now.instructions;
    const bool none = drift.added.empty() && drift.removed.empty() && drift.changed.empty() &&
                      !drift.instructions;
    if (none) return {};
    return drift;
}

std::string summary(const Drift& drift, std::size_t most) {
    std::vector<std::string> parts;
    tell(parts, "added", drift.added, drift.more_added, most);
    tell(parts, "removed", drift.removed, drift.more_removed, most);
    tell(parts, "changed", drift.changed, drift.more_changed, most);
    if (drift.instructions) parts.emplace_back("other instructions");
    return core::join(parts, ", ");
}

}  // namespace patchbay::catalogue
