// Whether a server's settings bring credentials of their own: a refusal is then about those.
//
// Threads: [value].
#pragma once

#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::config {

inline bool writes_authorization(const boost::json::object& settings) {
    const auto* headers = core::object_in(&settings, "headers");
    return headers && std::any_of(headers->begin(), headers->end(), [](const auto& header) {
               return core::lower(std::string_view(header.key())) == "authorization";
           });
}

}  // namespace patchbay::config
