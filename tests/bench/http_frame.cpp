#include "http_frame.hpp"

#include <charconv>

namespace bench {

HttpFrame first_frame(std::string_view text) {
    const auto end = text.find("\r\n\r\n");
    if (end == text.npos) return {};
    const auto head = text.substr(0, end + 2);
    std::size_t length = 0;
    const auto digits = between(head, "\r\nContent-Length: ", "\r");
    std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (text.size() - end - 4 < length) return {};
    return {head, text.substr(end + 4, length), end + 4 + length};
}

std::string_view between(std::string_view text, std::string_view before, std::string_view ends) {
    const auto at = text.find(before);
    if (at == text.npos) return {};
    text.remove_prefix(at + before.size());
    return text.substr(0, text.find_first_of(ends));
}

}  // namespace bench
