#include "auth/query.hpp"

namespace patchbay::auth {

namespace {

int digit_of(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    return -1;
}

// application/x-www-form-urlencoded; a broken escape stands for itself.
std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '%' && text.size() - i > 2;
        const int high = escape ? digit_of(text[i + 1]) : -1;
        const int low = escape ? digit_of(text[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            out += static_cast<char>(high << 4 | low);
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

}  // namespace

std::optional<std::string> query_value(std::string_view query_or_url, std::string_view name) {
    auto query = query_or_url.substr(0, query_or_url.find('#'));
    query.remove_prefix(query.find('?') == query.npos ? 0 : query.find('?') + 1);
    std::optional<std::string> value;
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(pair.size() < query.size() ? pair.size() + 1 : query.size());
        const auto equals = pair.find('=');
        if (decoded(pair.substr(0, equals)) != name) continue;
        if (value) return {};
        value = equals == pair.npos ? std::string() : decoded(pair.substr(equals + 1));
    }
    return value;
}

}  // namespace patchbay::auth
