// Values as text of each format.
//
// Threads: [any], pure.
#pragma once

#include <boost/json.hpp>

#include <string>
#include <string_view>

namespace patchbay::config::edit {

inline constexpr auto npos = std::string_view::npos;

struct Layout {
    std::string newline = "\n";
    std::string unit = "  ";  // one level of indentation
    std::string indent;       // of the line that the value begins in
};

// Tables on lines of their own, lists of plain values on one.
std::string json_block(const boost::json::value& value, const Layout& layout);
// On one line; `colon` and `comma` say how tightly.
std::string json_inline(const boost::json::value& value, std::string_view colon = ": ",
                        std::string_view comma = ", ");
std::string json_text(std::string_view text);  // in quotes

// A key; a value with tables between braces. No null: TOML has none.
std::string toml_key(std::string_view key);
std::string toml_inline(const boost::json::value& value);

// What stands behind "key:", with its leading blank or line.
std::string yaml_value(const boost::json::value& value, const Layout& layout);
std::string yaml_key(std::string_view key);

}  // namespace patchbay::config::edit
