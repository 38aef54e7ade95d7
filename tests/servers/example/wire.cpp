#include "example/wire.hpp"

#include <charconv>

namespace example {
namespace json = boost::json;

void append_quoted(std::string& out, std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    out += '"';
    std::size_t clean = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        out.append(text, clean, i - clean);
        clean = i + 1;
        if (c == '"' || c == '\\')
            (out += '\\') += static_cast<char>(c);
        else if (c == '\n')
            out += "\\n";
        else
            ((out += "\\u00") += kHex[c >> 4]) += kHex[c & 15];
    }
    out.append(text, clean);
    out += '"';
}

std::string quoted(std::string_view text) {
    std::string out;
    append_quoted(out, text);
    return out;
}

std::string raw_id(const json::value* id) {
    if (!id) return {};
    if (const auto* text = id->if_string()) return quoted({text->data(), text->size()});
    if (const auto* number = id->if_int64()) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, *number).ptr;
        return std::string(digits, end);
    }
    return id->is_number() ? json::serialize(*id) : std::string();
}

const json::object* object_in(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value ? value->if_object() : nullptr;
}

const json::string* string_in(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value ? value->if_string() : nullptr;
}

double number_in(const json::object& object, std::string_view key, double otherwise) {
    const auto* value = object.if_contains(key);
    return value && value->is_number() ? value->to_number<double>() : otherwise;
}

}  // namespace example
