#include "config/edit/render.hpp"

#include "config/reader.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::config::edit {
namespace json = boost::json;

namespace {

bool is_plain(const json::value& value) {
    return !value.is_object() && !value.is_array();
}

template <class Items, class Each>
std::string joined(const Items& items, std::string_view between, const Each& each) {
    std::string out;
    for (const auto& item : items) {
        if (!out.empty()) out += between;
        out += each(item);
    }
    return out;
}

Layout deeper(const Layout& layout) {
    return {layout.newline, layout.unit, layout.indent + layout.unit};
}

bool all_of(std::string_view text, std::string_view more) {
    return std::all_of(text.begin(), text.end(), [&](char letter) {
        const bool alphanumeric = (letter >= 'a' && letter <= 'z') ||
                                  (letter >= 'A' && letter <= 'Z') ||
                                  (letter >= '0' && letter <= '9');
        return alphanumeric || more.find(letter) != std::string_view::npos;
    });
}

// Whether YAML, of 1.1 too, takes it for the text that it is when it has no quotes.
bool is_yaml_plain(std::string_view text, std::string_view letters) {
    if (text.empty() || !all_of(text, letters)) return false;
    const char first = text.front();
    if (first == '-' || first == '.' || (first >= '0' && first <= '9')) return false;
    const auto word = core::lower(text);
    for (const auto* special : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
        if (word == special) return false;
    return true;
}

// What is not plain is JSON: every YAML reader takes that, whatever it thinks of its own quoting.
std::string yaml_plain(const json::value& value) {
    if (const auto* text = value.if_string(); text && is_yaml_plain(*text, "_./+-"))
        return std::string(*text);
    return json_inline(value);
}

}  // namespace

std::string json_text(std::string_view text) {
    auto out = json::serialize(json::string(text));
    // TOML and YAML want it written so, and JSON does not mind.
    for (auto at = out.find('\x7f'); at != std::string::npos; at = out.find('\x7f'))
        out.replace(at, 1, "\\u007f");
    return out;
}

std::string json_inline(const json::value& value, std::string_view colon, std::string_view comma) {
    if (const auto* text = value.if_string()) return json_text(*text);
    if (const auto* list = value.if_array())
        return "[" +
               joined(*list, comma,
                      [&](const auto& item) { return json_inline(item, colon, comma); }) +
               "]";
    const auto* table = value.if_object();
    if (!table) return json::serialize(value);
    return "{" +
           joined(*table, comma,
                  [&](const auto& member) {
                      return json_text(member.key()) + std::string(colon) +
                             json_inline(member.value(), colon, comma);
                  }) +
           "}";
}

// Lists of words stay on a line, as people write arguments; all else has a line of its own, so that who
// compares two versions sees which member has changed.
std::string json_block(const json::value& value, const Layout& layout) {
    const auto inner = deeper(layout);
    const auto line = layout.newline + inner.indent;
    const auto end = layout.newline + layout.indent;
    if (const auto* table = value.if_object(); table && !table->empty())
        return "{" + line +
               joined(*table, "," + line,
                      [&](const auto& member) {
                          return json_text(member.key()) + ": " + json_block(member.value(), inner);
                      }) +
               end + "}";
    const auto* list = value.if_array();
    if (!list || std::all_of(list->begin(), list->end(), is_plain)) return json_inline(value);
    return "[" + line +
           joined(*list, "," + line, [&](const auto& item) { return json_block(item, inner); }) +
           end + "]";
}

std::string toml_key(std::string_view key) {
    return !key.empty() && all_of(key, "_-") ? std::string(key) : json_text(key);
}

// Inline tables stand on one line by TOML's own rule. No null comes here: TOML has none, and no entry of
// ours says one.
std::string toml_inline(const json::value& value) {
    if (const auto* list = value.if_array()) return "[" + joined(*list, ", ", toml_inline) + "]";
    const auto* table = value.if_object();
    if (!table) {
        auto text = value.is_string() ? json_text(value.get_string()) : json::serialize(value);
        // 1E2: an exponent, which TOML reads as well.
        return text;
    }
    if (table->empty()) return "{}";
    return "{ " +
           joined(*table, ", ",
                  [](const auto& member) {
                      return toml_key(member.key()) + " = " + toml_inline(member.value());
                  }) +
           " }";
}

std::string yaml_key(std::string_view key) {
    return is_yaml_plain(key, "_-") ? std::string(key) : json_text(key);
}

std::string yaml_value(const json::value& value, const Layout& layout) {
    const auto* table = value.if_object();
    if (!table || table->empty()) return " " + yaml_plain(value);
    const auto inner = deeper(layout);
    std::string out;
    for (const auto& member : *table)
        out += layout.newline + inner.indent + yaml_key(member.key()) + ":" +
               yaml_value(member.value(), inner);
    return out;
}

}  // namespace patchbay::config::edit
