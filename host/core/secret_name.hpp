// What a secret may be called that a person keeps, for `${secret:NAME}` in configuration files.
//
// Threads: [any], pure. Errors: Invalid, with what is expected.
#pragma once

#include "core/result.hpp"

#include <string_view>

namespace patchbay::core {

// A "-" ahead would make an option of it and, behind "secret:", the default of a variable; a "." a file that is
// hidden.
inline constexpr const char* kNamesOfSecrets =
    "1 to 64 letters, digits, \".\", \"-\" and \"_\", the first one no \".\" or \"-\"";

bool may_name_a_secret(std::string_view name);
Result<void> check_secret_name(std::string_view name);

}  // namespace patchbay::core
