// Base64 of RFC 4648, sections 4 and 5, with our errors. The code is the sdk's, which plugins have too.
//
// Threads: [any], pure.
#pragma once

#include "core/result.hpp"

#include <string>
#include <string_view>

namespace patchbay::core {

std::string base64(std::string_view bytes);  // padded
// Protocol: a letter that is none of base64, white space too, or a length that no bytes have.
// Padding may be missing.
Result<std::string> base64_decoded(std::string_view text);

// That of URLs, in which neither has padding.
std::string base64url(std::string_view bytes);
Result<std::string> base64url_decoded(std::string_view text);

}  // namespace patchbay::core
