// What a change of a text is, for people: the lines that differ, in the form of `diff -U0`.
//
// Threads: [any], pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

// Empty: they are one. Of a long line only what is around the difference is shown. Every text of
// `secrets` is masked.
std::string difference(std::string_view before, std::string_view after, const std::string& name,
                       const std::vector<std::string>& secrets);

}  // namespace patchbay::app
