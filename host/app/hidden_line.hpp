// What a person types at the terminal that nobody is to see.
//
// Threads: the calling one, which waits for the person.
// Errors:  Unavailable: there is no terminal. Cancelled: Ctrl-C, Ctrl-D, or the terminal has gone; it shows what is
//          typed again, whatever happens.
// Limits:  kMostBytes.
#pragma once

#include "core/result.hpp"

#include <string>
#include <string_view>

namespace patchbay::app {

Result<std::string> hidden_line(std::string_view prompt);

}  // namespace patchbay::app
