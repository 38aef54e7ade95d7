// Foreign text in a command that we advise somebody to run.
//
// Threads: [any], pure.
#pragma once

#include <string>
#include <string_view>

namespace patchbay::core {

// As one word of a POSIX shell, which runs, expands and splits nothing of it; quoted only where it
// has to be. Printable and cut as printable() does it: what a person cannot see they do not paste.
std::string shell_word(std::string_view text, std::size_t most_bytes = 4096);

}  // namespace patchbay::core
