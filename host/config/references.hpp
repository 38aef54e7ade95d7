// `${...}` in the texts of a configuration, as expand() reads it: where references stand, and what may be the
// name of a variable. What one leads to is expand.cpp's.
//
// Threads: [any], pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

// A letter or `_`, then digits as well: `NAME` of `${NAME}`.
bool is_variable(std::string_view name);

struct Piece {
    bool reference;    // what stands between `${` and `}`
    std::string text;  // else what a reader is given: of `$${` the characters `${`
    bool operator==(const Piece&) const = default;
};
// One that is never closed is text.
std::vector<Piece> pieces_of(std::string_view text);

// What a person keeps by name (`patchbay secret`), in whichever of both words.
inline constexpr std::string_view kStoredSecrets[] = {"secret:", "keyring:"};

// Behind `env:`, which means the same, and ahead of `:-DEFAULT`; empty: the reference is to no variable.
std::string_view variable_in(std::string_view reference);

}  // namespace patchbay::config
