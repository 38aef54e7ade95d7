#include "protocol/uri_template.hpp"

#include <algorithm>

namespace patchbay::protocol {

namespace {

// `text` cut at expressions: literal, expression, literal, ..., literal.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto open = text.find('{');
        const auto close = open == text.npos ? text.npos : text.find('}', open);
        if (close == text.npos) break;
        parts.push_back(text.substr(0, open));
        parts.push_back(text.substr(open + 1, close - open - 1));
        text.remove_prefix(close + 1);
    }
    parts.push_back(text);
    return parts;
}

}  // namespace

std::vector<std::string> template_variables(std::string_view uri_template) {
    std::vector<std::string> names;
    const auto parts = parts_of(uri_template);
    for (std::size_t i = 1; i < parts.size(); i += 2) {
        auto list = parts[i];
        if (!list.empty() && std::string_view("+#./;?&=,!@|").find(list.front()) != list.npos)
            list.remove_prefix(1);
        while (!list.empty()) {
            const auto one = list.substr(0, list.find(','));
            list.remove_prefix(std::min(list.size(), one.size() + 1));
            if (const auto name = one.substr(0, one.find_first_of("*:")); !name.empty())
                names.emplace_back(name);
        }
    }
    return names;
}

bool may_come_of(std::string_view uri, std::string_view uri_template) {
    const auto parts = parts_of(uri_template);
    if (parts.size() == 1) return uri == uri_template;
    if (!uri.starts_with(parts.front())) return false;
    uri.remove_prefix(parts.front().size());
    if (!uri.ends_with(parts.back())) return false;
    uri.remove_suffix(parts.back().size());
    for (std::size_t i = 2; i + 1 < parts.size(); i += 2) {
        const auto at = uri.find(parts[i]);
        if (at == uri.npos) return false;
        uri.remove_prefix(at + parts[i].size());
    }
    return true;
}

}  // namespace patchbay::protocol
