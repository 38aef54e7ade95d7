#include "app/visible_json.hpp"

#include "core/json.hpp"
#include "core/text.hpp"

#include <cstdio>

namespace patchbay::app {
namespace json = boost::json;

std::string escaped(const json::value& value) {
    const std::string text = json::serialize(value);
    std::string out;
    const auto unit = [&](unsigned code) {
        char digits[16];  // wider than any: compilers do not know that it is one unit
        std::snprintf(digits, sizeof digits, "\\u%04x", code);
        out += digits;
    };
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        if (lead >= 0x20 && lead < 0x7f) {
            out += text[i++];
            continue;
        }
        // Configuration is valid UTF-8, and Boost.JSON writes what it was given.
        const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        unsigned code = size == 1 ? lead : lead & (0x7fu >> size);
        for (std::size_t k = 1; k < size && i + k < text.size(); ++k)
            code = (code << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3f);
        i += size;
        if (code < 0x10000) {
            unit(code);
        } else {
            unit(0xd800 + ((code - 0x10000) >> 10));
            unit(0xdc00 + ((code - 0x10000) & 0x3ff));
        }
    }
    return out;
}

std::string printable_in(const json::object& object, std::string_view key, std::size_t most_bytes) {
    return core::printable(core::text_in(&object, key).value_or(""), most_bytes);
}

std::string visible(const json::value& value) {
    const auto plain = escaped(value), text = core::printable_json(json::serialize(value));
    return text == plain ? text : text + "  which is " + plain;
}

}  // namespace patchbay::app
