// Where a program is, found as exec would find it.
//
// Threads: [any].
#pragma once

#include "core/result.hpp"

#include <string>
#include <string_view>

namespace patchbay::core {

// The folders that are searched where PATH says none.
inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// "is a directory", "is not executable"; empty: `path` can be executed.
std::string trouble_with_program(const std::string& path);

// The first `name` in the folders of `path` that can be executed, as it is called from inside `cwd`
// (empty: where we are). NotFound, with what was in the way.
Result<std::string> find_on_path(const std::string& name, std::string_view path,
                                 const std::string& cwd);

// The same file by its own name, without links or `..` on the way; empty: there is none.
std::string behind_links(const std::string& path);

}  // namespace patchbay::core
