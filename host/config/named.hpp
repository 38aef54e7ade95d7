// Of tables that people name: the one that is meant, or why there is none. Internal to this room.
//
// Threads: [any], pure. Errors: Invalid: its table is faulty; NotFound, with the nearest.
#pragma once

#include "core/result.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <string>
#include <vector>

namespace patchbay::config {

// `kind`: "agent", of the tables [agents.NAME]. `is_offered`: whether one without a fault is named to who asks for another.
template <class T, class Offered>
Result<const T*> one_named(const std::vector<T>& all, const std::string& name,
                           const std::string& kind, Offered is_offered) {
    const auto called = kind + " \"" + core::printable(name, 80) + "\"";
    std::vector<std::string> names;
    for (const auto& each : all) {
        if (each.fault.empty() && is_offered(each)) names.push_back(each.name);
        if (each.name != name) continue;
        if (each.fault.empty()) return &each;
        return Error{ErrorCode::Invalid,
                     called + " cannot be used until it is mended: " + each.fault};
    }
    const auto known = names.empty() ? "[" + kind + "s.NAME] in your user config makes one"
                                     : "known: " + core::join(names, ", ");
    return Error{ErrorCode::NotFound,
                 core::behind_hint(
                     "no " + called + " is configured" + core::did_you_mean(name, names), known)};
}

}  // namespace patchbay::config
