// Where in a text of TOML a key or table is set or removed. The text is
// one that config::parse reads as `root`; see edit.hpp for what is promised of the result.
//
// Threads: [any], pure.
#pragma once

#include "config/edit/edit.hpp"
#include "config/edit/splice.hpp"
#include "config/node.hpp"

namespace patchbay::config::edit {

// It has no word for null.
bool toml_can_say(const boost::json::value& value);

Changes toml_set(std::string_view text, const Node& root, const Path& path,
                 const boost::json::value& value);
Changes toml_remove(std::string_view text, const Node& root, const Path& path);

}  // namespace patchbay::config::edit
