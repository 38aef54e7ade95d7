#include "core/secret_name.hpp"

#include "core/text.hpp"

#include <string>

namespace patchbay::core {

bool may_name_a_secret(std::string_view name) {
    constexpr std::size_t kMostBytes = 64;
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    return !name.empty() && name.size() <= kMostBytes && name.front() != '.' &&
           name.front() != '-' && name.find_first_not_of(kLetters) == name.npos;
}

Result<void> check_secret_name(std::string_view name) {
    if (may_name_a_secret(name)) return {};
    return Error{ErrorCode::Invalid, "\"" + printable(name, 80) +
                                         "\" is no name of a secret: expected " + kNamesOfSecrets};
}

}  // namespace patchbay::core
