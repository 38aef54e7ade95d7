#include "net/header_list.hpp"

#include "ascii.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <algorithm>
#include <array>

namespace patchbay::net {
namespace {

// Of a token, RFC 9110 section 5.6.2.
constexpr auto kTokenBytes = [] {
    std::array<bool, 256> allowed{};
    for (const unsigned char byte :
         std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        allowed[byte] = true;
    return allowed;
}();

// Safe to show: a token, or nothing.
std::string shown(std::string_view name) {
    return is_token(name) ? "header \"" + sdk::excerpt(name, 64) + "\"" : "a header";
}

bool is_reserved(std::string_view lower) {
    return lower.rfind("mcp-", 0) == 0 ||
           std::find(kReserved.begin(), kReserved.end(), lower) != kReserved.end();
}

}  // namespace

bool is_token(std::string_view name) {
    return !name.empty() && name.size() <= 256 &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char byte) { return kTokenBytes[byte]; });
}

bool is_field_value(std::string_view value) {
    const auto blank = [](char byte) { return byte == ' ' || byte == '\t'; };
    if (!value.empty() && (blank(value.front()) || blank(value.back()))) return false;
    return value.size() <= 8192 && std::all_of(value.begin(), value.end(), [](unsigned char byte) {
               return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
           });
}

void HeaderList::set(std::string_view name, std::string_view value) {
    if (!is_token(name))
        throw sdk::Failure(PATCHBAY_E_INVALID, "the name of a header must be a token (RFC 9110)");
    if (!is_field_value(value))
        throw sdk::Failure(PATCHBAY_E_INVALID,
                           shown(name) +
                               ": its value holds a control character (line break?), "
                               "begins or ends with a space, or is over 8192 bytes");
    for (auto& field : fields_) {
        if (!ascii::same(field.first, name)) continue;
        field.second = value;
        return;
    }
    fields_.emplace_back(name, value);
}

void HeaderList::set_foreign(std::string_view name, std::string_view value) {
    if (is_reserved(ascii::lower(name)))
        throw sdk::Failure(PATCHBAY_E_INVALID,
                           shown(name) + " is set by Patchbay itself and cannot be configured");
    set(name, value);
}

void HeaderList::set_all(const patchbay_kv* fields, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        set(sdk::view(fields[i].name), sdk::view(fields[i].value));
}

bool HeaderList::has(std::string_view name) const {
    return std::any_of(fields_.begin(), fields_.end(),
                       [&](const Field& field) { return ascii::same(field.first, name); });
}

}  // namespace patchbay::net
