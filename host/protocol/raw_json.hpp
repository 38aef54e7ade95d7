// Valid JSON as the bytes that it is: texts and members of it, without a tree.
//
// Threads: [value]. Errors: none; what is no valid JSON is read as something, and nothing beyond its end.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::protocol {

// From a string's opening quote to after the closing one; beyond the end where there is none.
std::size_t past_string(std::string_view text, std::size_t at);

// What a value says that is a text; none: it is of another kind.
std::optional<std::string> text_of_raw(std::string_view value);

// As each_member(), of members without the braces.
void each_of(std::string_view members,
             const std::function<bool(std::string_view key, std::string_view value)>& each);

}  // namespace patchbay::protocol
