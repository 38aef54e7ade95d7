// Lines on stderr, for whoever started this program.
//
// Threads: [any]. Errors: none: there is nobody to tell.
// Limits:  a program that stays must not stand still because nobody reads what it says (an unread pipe holds 64 KiB): with
//          do_not_wait() a line that nobody makes room for is lost, and the next one that is taken says how many were.
#pragma once

#include <string_view>

namespace patchbay::core::standard_error {

void write(std::string_view lines);  // whole ones, each with its newline
// From now on, of what stderr is now: to be said again when that is something else. Where it is a file nothing changes.
void do_not_wait();

}  // namespace patchbay::core::standard_error
