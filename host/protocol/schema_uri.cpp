#include "protocol/schema_node.hpp"

#include <cctype>

namespace patchbay::protocol::schema {

namespace {

struct Uri {
    std::string scheme, authority, path;  // with their `:` and `//`
    std::string query, fragment;          // with their `?` and `#`
};

Uri split(std::string_view text) {
    Uri uri;
    const auto take = [&](std::size_t length) {
        std::string piece(text.substr(0, length));
        text.remove_prefix(piece.size());
        return piece;
    };
    const auto colon = text.find_first_of(":/?#");
    if (colon != text.npos && colon > 0 && text[colon] == ':' &&
        std::isalpha(static_cast<unsigned char>(text[0]))) {
        uri.scheme = take(colon + 1);
    }
    if (text.substr(0, 2) == "//") {
        const auto end = text.find_first_of("/?#", 2);
        uri.authority = take(end == text.npos ? text.size() : end);
    }
    const auto path = text.find_first_of("?#");
    uri.path = take(path == text.npos ? text.size() : path);
    const auto query = text.find('#');
    uri.query = take(query == text.npos ? text.size() : query);
    uri.fragment = std::string(text);
    return uri;
}

// Takes `.` and `..` out of a path.
std::string without_dots(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        const auto slash = path.find('/', 1);
        const auto piece = path.substr(0, slash);
        path.remove_prefix(piece.size());
        const auto name = piece.substr(piece.front() == '/' ? 1 : 0);
        if (name == "..") {
            out.resize(out.rfind('/') == out.npos ? 0 : out.rfind('/'));
            if (path.empty()) out += '/';
        } else if (name == ".") {
            if (path.empty()) out += '/';
        } else {
            out += piece;
        }
    }
    return out;
}

}  // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
    const Uri from = split(base);
    Uri to = split(reference);
    if (!to.scheme.empty() || !to.authority.empty()) {
        if (to.scheme.empty()) to.scheme = from.scheme;
        to.path = without_dots(to.path);
    } else {
        to.scheme = from.scheme;
        to.authority = from.authority;
        if (to.path.empty()) {
            to.path = from.path;
            if (to.query.empty()) to.query = from.query;
        } else if (to.path.front() == '/') {
            to.path = without_dots(to.path);
        } else {
            const auto slash = from.path.rfind('/');
            std::string directory = slash == from.path.npos ? "" : from.path.substr(0, slash + 1);
            if (directory.empty() && !from.authority.empty()) directory = "/";
            to.path = without_dots(directory + to.path);
        }
    }
    return to.scheme + to.authority + to.path + to.query + to.fragment;
}

std::string percent_decoded(std::string_view text) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() &&
            std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
            std::isxdigit(static_cast<unsigned char>(text[i + 2]))) {
            out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace patchbay::protocol::schema
