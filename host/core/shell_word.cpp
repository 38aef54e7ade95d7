#include "core/shell_word.hpp"

#include "core/text.hpp"

namespace patchbay::core {

std::string shell_word(std::string_view text, std::size_t most_bytes) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@,+";
    const auto shown = printable(text, most_bytes);
    if (!shown.empty() && shown.find_first_not_of(kPlain) == std::string::npos) return shown;
    std::string quoted = "'";
    for (const char c : shown) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace patchbay::core
