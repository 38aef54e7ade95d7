// A manual page of a verb, from what its help is made of.
//
// Threads: [any], pure.
#pragma once

#include "app/verb.hpp"

#include <string>

namespace patchbay::app {

// "patchbay-mcp-add": what `man` finds its page by.
std::string name_of_page(const CLI::App& verb);
// In the man macros of roff, as man(7) has them; `date`: of the page, as 2026-01-31.
std::string manual_page(const CLI::App& verb, const std::string& date);

}  // namespace patchbay::app
