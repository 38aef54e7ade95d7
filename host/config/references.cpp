#include "config/references.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::config {

namespace {

constexpr std::string_view kEnv = "env:";  // as VS Code and Cursor write it

}  // namespace

bool is_variable(std::string_view name) {
    const auto is_of_one = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
           std::all_of(name.begin(), name.end(), is_of_one);
}

std::vector<Piece> pieces_of(std::string_view text) {
    std::vector<Piece> pieces;
    std::string plain;
    while (!text.empty()) {
        const auto at = text.find("${");
        const auto close = at == text.npos ? text.npos : text.find('}', at);
        if (at == text.npos || close == text.npos) break;
        if (at > 0 && text[at - 1] == '$') {
            plain.append(text.substr(0, at - 1)).append("${");
            text.remove_prefix(at + 2);
            continue;
        }
        plain.append(text.substr(0, at));
        if (!plain.empty()) pieces.push_back({false, std::exchange(plain, {})});
        pieces.push_back({true, std::string(text.substr(at + 2, close - at - 2))});
        text.remove_prefix(close + 1);
    }
    plain.append(text);
    if (!plain.empty()) pieces.push_back({false, std::move(plain)});
    return pieces;
}

std::string_view variable_in(std::string_view reference) {
    auto name = reference.substr(0, reference.find(":-"));
    if (name.starts_with(kEnv)) name.remove_prefix(kEnv.size());
    return is_variable(name) ? name : std::string_view();
}

}  // namespace patchbay::config
