// What servers list, for a policy that asks.
#pragma once

#include "policy/policy.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::policy {

struct Listing final : ListedTools {
    using Tools = std::map<std::string, std::set<std::string>, std::less<>>;  // by server
    explicit Listing(Tools its_tools) : tools(std::move(its_tools)) {}
    std::uint64_t version() const override { return 1; }
    bool any(std::string_view server, std::string_view name, bool or_longer) const override {
        ++asked;
        const auto found = tools.find(server);
        if (found == tools.end()) return false;
        return std::any_of(found->second.begin(), found->second.end(), [&](const auto& tool) {
            return or_longer ? tool.starts_with(name) : tool == name;
        });
    }
    Tools tools;  // as they are before the first question of a policy
    mutable std::size_t asked = 0;
};

}  // namespace patchbay::policy
