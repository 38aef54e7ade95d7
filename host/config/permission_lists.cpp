#include "config/permission_lists.hpp"

#include "config/approval.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace patchbay::config {

std::vector<std::string> intersection(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b) {
    const auto covers = [](const std::string& wide, const std::string& narrow) {
        if (!wide.ends_with('*')) return wide == narrow;
        return narrow.starts_with(std::string_view(wide).substr(0, wide.size() - 1));
    };
    std::vector<std::string> both;
    const auto add = [&](const std::string& pattern) {
        if (std::find(both.begin(), both.end(), pattern) == both.end()) both.push_back(pattern);
    };
    for (const auto& x : a) {
        for (const auto& y : b) {
            if (covers(x, y))
                add(y);
            else if (covers(y, x))
                add(x);
        }
    }
    return both;
}

void join_permissions(Permissions& now, const Permissions& said, const Member& table,
                      const Source& source, std::vector<Diagnostic>& told) {
    const auto note = [&](RuleId rule, Place place, std::string text) {
        told.push_back({rule, Severity::Error, std::move(place), std::move(text), {}});
    };
    const auto remember = [&](const char* key, std::map<std::string, Place>& places) {
        const auto* list = table.value.find(key);
        if (!list) return;
        for (const auto& item : list->items) places[item.text] = source.place(item.mark);
    };
    remember("deny", now.deny_places);
    remember("ask", now.ask_places);
    remember("allow", now.allow_places);
    const auto join = [](std::vector<std::string>& list, const std::vector<std::string>& more) {
        for (const auto& pattern : more)
            if (std::find(list.begin(), list.end(), pattern) == list.end()) list.push_back(pattern);
    };
    join(now.deny, said.deny);
    join(now.ask, said.ask);
    const auto* written = table.value.find("allow");
    if (!said.allow || !written) return;
    if (said.allow->empty()) {
        note(RuleId::EmptyList, source.place(written->mark),
             "permissions.allow is empty, which allows nothing; name tools, or leave the key "
             "out");
    }
    if (from_project(source.scope) && !now.allow && !said.allow->empty()) {
        return note(RuleId::NotAllowedHere, source.place(written->mark),
                    std::string("permissions.allow: a ") + name_of(source.scope) +
                        " file may narrow an allow list, not grant one; write it to your user "
                        "config");
    }
    // A user's stronger list replaces the weaker one, both are theirs; a checkout and an
    // enterprise only narrow what is there.
    const bool ceiling = from_project(source.scope) || source.scope == Scope::Enterprise;
    if (!ceiling) now.allow_lists.clear();
    const auto first = written->items.empty() ? written->mark : written->items.front().mark;
    now.allow_lists.push_back({*said.allow, source.place(first)});
    now.allow = ceiling && now.allow ? intersection(*now.allow, *said.allow) : *said.allow;
}

void tell_empty_deny(const Place& empty, const Permissions& permissions,
                     std::vector<Diagnostic>& told) {
    const auto& places = permissions.deny_places;
    if (places.empty()) return;
    const auto strongest = std::max_element(
        places.begin(), places.end(),
        [](const auto& a, const auto& b) { return a.second.scope < b.second.scope; });
    const auto& place = strongest->second;
    told.push_back({RuleId::EmptyList,
                    Severity::Warning,
                    empty,
                    "permissions.deny: an empty list lifts nothing, since lists add up: what " +
                        to_string(place) + " denies stays denied" +
                        (place.scope == Scope::Enterprise ? "; ask your administrator" : ""),
                    {}});
}

}  // namespace patchbay::config
