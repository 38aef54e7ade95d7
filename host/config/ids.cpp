#include "config/ids.hpp"

#include "config/approval.hpp"
#include "config/keys.hpp"
#include "core/digest.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace patchbay::config {

namespace {

constexpr std::size_t kHashDigits = 6;

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Empty: nothing of the name can stand in an id.
std::string slug_of(std::string_view name) {
    std::string slug;
    for (const char c : name) {
        const char kept = is_letter_or_digit(c) || c == '_' ? c : '-';
        const bool again = !slug.empty() && kept == slug.back() && !is_letter_or_digit(kept);
        if (!again) slug += kept;
    }
    while (slug.ends_with('-') || slug.ends_with('_')) slug.pop_back();
    slug.erase(0, std::min(slug.find_first_not_of('-'), slug.size()));
    return std::any_of(slug.begin(), slug.end(), is_letter_or_digit) ? slug : std::string();
}

std::string with_hash(std::string slug, const std::string& name, std::size_t digits) {
    if (slug.empty()) slug = "server";
    slug.resize(std::min(slug.size(), kIdBytes - digits - 1));
    while (slug.ends_with('-')) slug.pop_back();
    return slug + "-" + core::sha256_hex(name).substr(0, digits);
}

// The id that a name has when no other wants the same; what it wants need not be one.
std::string wanted_id(const std::string& name) {
    return valid_id(name) ? name : slug_of(name);
}

// Of the definitions in the files of one scope: their names, by the id that each wants.
using Names = std::map<std::string, std::set<std::string>>;

// Whose name needs no hash to tell it from those that want the same; null: nobody's.
const std::string* plain_one(const std::string& wanted, const std::set<std::string>& names) {
    if (!valid_id(wanted)) return nullptr;
    const auto same = names.find(wanted);
    if (same != names.end()) return &*same;
    return names.size() == 1 ? &*names.begin() : nullptr;
}

// Whose word is asked for first. A definition of a checkout replaces the user's once it is
// approved, and yet it must not rename it.
std::pair<bool, int> by_trust(Scope scope) {
    return {from_project(scope), -static_cast<int>(scope)};
}

class IdTable {
public:
    explicit IdTable(const std::vector<Fragment>& fragments) {
        for (const auto& fragment : fragments)
            for (const auto& entry : fragment.servers)
                if (!entry.id.empty() && defines_connection(entry.body))
                    scopes_[by_trust(fragment.source.scope)][wanted_id(entry.id)].insert(entry.id);
        for (const auto& [scope, wanted] : scopes_) {
            for (const auto& [id, names] : wanted)
                if (const auto* name = plain_one(id, names)) claim_plain(*name, id);
            for (const auto& [id, names] : wanted)
                for (const auto& name : names) claim_hashed(name, id);
        }
    }

    const std::string& of_definition(const std::string& name) const { return ids_.at(name); }

    // Which servers an entry may mean that adjusts one: that of this id, and in each scope the one by
    // that name, or else the one that would have the id if there were no other scope.
    std::vector<std::string> of_overlay(const std::string& name) const {
        std::vector<std::string> meant;
        const auto add = [&](const std::string& id) {
            if (std::find(meant.begin(), meant.end(), id) == meant.end()) meant.push_back(id);
        };
        if (taken_.contains(name)) add(name);
        const auto wanted = wanted_id(name);
        for (const auto& [scope, all] : scopes_) {
            const auto found = all.find(wanted);
            if (found == all.end()) continue;
            if (found->second.contains(name))
                add(ids_.at(name));
            else if (const auto* plain = plain_one(wanted, found->second))
                add(ids_.at(*plain));
        }
        if (meant.empty()) add(valid_id(wanted) ? wanted : with_hash(wanted, name, kHashDigits));
        return meant;
    }

private:
    void claim_plain(const std::string& name, const std::string& id) {
        if (!ids_.contains(name) && taken_.insert(id).second) ids_[name] = id;
    }
    // With as many digits as it takes: who chooses names can choose their hashes too.
    void claim_hashed(const std::string& name, const std::string& wanted) {
        if (ids_.contains(name)) return;
        auto digits = kHashDigits;
        auto id = with_hash(wanted, name, digits);
        while (!taken_.insert(id).second) id = with_hash(wanted, name, digits += 2);
        ids_[name] = std::move(id);
    }

    std::map<std::pair<bool, int>, Names> scopes_;  // most trusted first
    std::map<std::string, std::string> ids_;        // by name
    std::set<std::string> taken_;
};

void rename(ServerEntry& entry, const std::string& id) {
    if (entry.id == id) return;
    entry.written = std::exchange(entry.id, id);
}

}  // namespace

bool valid_id(std::string_view id) {
    return !id.empty() && id.size() <= kIdBytes &&
           std::all_of(id.begin(), id.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; }) &&
           id.find("__") == std::string_view::npos && !id.ends_with('_');
}

std::string bare_name(std::string_view name) {
    auto bare = core::lower(core::seen(name));
    std::erase_if(
        bare, [](char c) { return std::string_view("-_. ").find(c) != std::string_view::npos; });
    return bare;
}

void settle_ids(std::vector<Fragment>& fragments) {
    const IdTable table(fragments);
    for (auto& fragment : fragments) {
        std::vector<ServerEntry> more;
        for (auto& entry : fragment.servers) {
            if (entry.id.empty()) continue;
            if (defines_connection(entry.body)) {
                rename(entry, table.of_definition(entry.id));
                continue;
            }
            const auto meant = table.of_overlay(entry.id);
            for (std::size_t i = 1; i < meant.size(); ++i) {
                auto& other = more.emplace_back(entry);
                other.only_forbids = true;
                rename(other, meant[i]);
            }
            rename(entry, meant.front());
        }
        std::move(more.begin(), more.end(), std::back_inserter(fragment.servers));
    }
}

}  // namespace patchbay::config
