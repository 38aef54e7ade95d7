// Tools by words of their names and descriptions.
//
// Threads: [value]. Errors: none.
// Limits:  kMostWords of a query count, and of a description as much as is shown of it.
#pragma once

#include "router/router.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace patchbay::gateway {

inline constexpr std::size_t kMostWords = 16;

// The best first, at most `most`; of equal ones in the order of `tools`. A word counts for most where
// it is one of the name, for less where it is a part of one, and for least in the description.
std::vector<const router::ListedTool*> best_tools(std::string_view query,
                                                  const std::vector<router::ListedTool>& tools,
                                                  std::size_t most);

}  // namespace patchbay::gateway
