// The query string of a redirect, as far as the host looks into it.
//
// Threads: [any]. Errors: a name that is missing, or there twice, is nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace patchbay::auth {

// The decoded value of `name` in `a=1&b=2`; of a URL, what stands behind its question mark.
std::optional<std::string> query_value(std::string_view query_or_url, std::string_view name);

}  // namespace patchbay::auth
