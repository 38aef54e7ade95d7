// Where a value ends in valid JSON. Internal to this room: those outside take members and items (envelope.hpp).
//
// Threads: [value]. Errors: none; what is no valid JSON is read as something, and nothing beyond its end.
#pragma once

#include <cstddef>
#include <string_view>

namespace patchbay::protocol {

std::string_view trimmed(std::string_view text);  // of white space on both sides
// To the comma or bracket that follows the value at `at`, or the end of the text.
std::size_t past_value(std::string_view text, std::size_t at);

}  // namespace patchbay::protocol
