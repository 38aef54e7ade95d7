// What comes of merging while it lasts: the configuration as far as it is made, where each part of it came from, and what
// closes it. Internal to this room.
//
// Threads: [value].
// Errors:  none: what is wrong is noted.
#pragma once

#include "config/compile.hpp"
#include "core/spelling.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace patchbay::config {

// Neither is stronger: the first that was read counts.
bool same_strength(const Source& a, const Source& b);
std::string at(const Source& source, Mark mark);

struct Merging {
    explicit Merging(const MergeDefaults& those) : defaults(those) {}

    void note(RuleId rule, Severity severity, Place place, std::string text,
              std::string server = {});
    bool has_error_since(std::size_t told) const;
    // Of followed files it is a warning, from there on: who reads them cannot mend them.
    void soften_followed_since(std::size_t told);
    // Rules that could not be read are no reason to allow more: nothing is, until they are mended.
    void close(const std::string& why);
    // Nor is it a reason to let anybody in who may have been meant to be kept out. A checkout has no say in that.
    void close_gateway(const Source& source, Mark mark, const std::string& why);
    // Where an enterprise file says it, what is noted next is why nothing is allowed at all.
    void forbid_all_of(const Source& source);

    const MergeDefaults& defaults;
    core::Effort hints{core::Effort::kOneLoad};
    Config config;
    Origins origins;
    std::optional<std::size_t> denied_by;  // the diagnostic of an enterprise file, if one is
};

}  // namespace patchbay::config
