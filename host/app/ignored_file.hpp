// The line of a checkout's .gitignore that keeps a person's own files out of it.
//
// Threads: the calling one; blocks for the disk. Errors: Denied: it is a link, or somebody else's; those of ClientFile.
#pragma once

#include "core/result.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace patchbay::app {

inline constexpr std::string_view kIgnored = ".patchbay.local.*";

// Denied: a link, which may lead to any file of the user: nothing that a checkout has is followed.
Result<void> check_no_link(const std::filesystem::path& path);

// "added", "there already", "no git checkout".
Result<std::string> ignore_local(const std::filesystem::path& project);

}  // namespace patchbay::app
