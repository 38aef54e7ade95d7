// Why words on a command line cannot be taken, in words that say what may have been meant.
//
// Threads: [value].
#pragma once

#include "app/verb.hpp"

#include <string>

namespace patchbay::app {

// That a verb is missing, and no word stands where it would.
bool lacks_a_verb(const CLI::App& app, const CLI::ParseError& error);
// Of an error with which `app` ended its parsing. No value of an option is in it: it may be a secret.
std::string refusal_of(const CLI::App& app, const CLI::ParseError& error);
// That a word stands where a verb should, and is none; empty: it does not.
std::string unknown_verb(const CLI::App& app);

}  // namespace patchbay::app
