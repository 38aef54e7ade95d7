// Changes one key of a configuration file in place: text in, text out. All that is not of that key
// stays as it is, byte for byte: comments, order, layout, line ends, a byte order mark.
//
// The three editors say where, and are not believed: what they would write is read again by the readers
// of this room, and has to mean the old text with that one key changed. Otherwise it is an error, and
// nobody gets a text. So a construct that an editor does not know is refused, never broken.
// See decisions/0030.
//
// Threads: [any], pure.
// Errors:  Invalid: the text cannot be read ("3:5: not JSON: ...", line and column), or what is on the
//          way to the key is no table, or a null for TOML. NotFound: nothing is there to remove. Unsupported: no way was
//          found to change that key alone.
// Limits:  kBounds of values and bytes, and what reader.hpp says of depth.
#pragma once

#include "config/reader.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {
class ParsedTexts;
}

namespace patchbay::config::edit {

// From the top of the file down to what is meant; one key at least.
using Path = std::vector<std::string>;

// Other programs keep more in theirs than settings: histories of all projects, for one.
inline constexpr Bounds kBounds{32u << 20, 500'000};

// All that it says. `parsed`, here and below: as Environment has it.
Result<boost::json::object> read(std::string_view text, Format format,
                                 ParsedTexts* parsed = nullptr);
// What stands at `path`; null: nothing.
const boost::json::value* find(const boost::json::object& root, const Path& path);

// With `value` at `path`, in place of what was there. Tables on the way are made, also from null. A table
// that is replaced goes with the comments between its braces or lines.
Result<std::string> set(std::string_view text, Format format, const Path& path,
                        const boost::json::value& value, ParsedTexts* parsed = nullptr);
// Without what is at `path`. Tables that this leaves empty stay, where the format has a way to say so.
Result<std::string> remove(std::string_view text, Format format, const Path& path,
                           ParsedTexts* parsed = nullptr);

// `value` below the keys of `path` from `from` on.
boost::json::value nested(const Path& path, std::size_t from, const boost::json::value& value);

}  // namespace patchbay::config::edit
