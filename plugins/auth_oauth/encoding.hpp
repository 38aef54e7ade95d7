// Bytes as text and back: what goes into URLs, forms, tokens and messages.
//
// Threads: [value]. Follows: RFC 4648 (base64, base64url), the form encoding of the URL standard.
#pragma once

#include <patchbay/cpp/base64.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::oauth {

using Form = std::vector<std::pair<std::string, std::string>>;

using sdk::base64;
using sdk::base64url;  // without padding
using sdk::base64url_decoded;

std::string form_encode(std::string_view text);
std::string form_encode(const Form& form);
// A query string without its "?". Broken escapes are kept as they stand.
Form form_decode(std::string_view text);

// The one value of `name`; nothing if it is missing or there more than once.
std::optional<std::string> only(const Form& form, std::string_view name);

// Foreign text for people: control characters and bytes beyond ASCII escaped, cut at 200
// characters.
std::string printable(std::string_view text);

std::vector<std::string> words(std::string_view text);  // at spaces, each once
std::string joined(const std::vector<std::string>& parts, std::string_view between = " ");

}  // namespace patchbay::oauth
