// The way back from the word of an ErrorCode, for who reads what another process wrote.
//
// Threads: [any].
#pragma once

#include "core/result.hpp"

#include <optional>
#include <string_view>

namespace patchbay {

std::optional<ErrorCode> error_code_from(std::string_view name);  // none: it is no such word

}  // namespace patchbay
