// Texts of configuration that are read many times and parsed once: a command that changes a file looks at it before and
// after, for itself, for each scope and for the host that judges it, and a file may be a megabyte.
//
// By content, so that a file which has changed meanwhile is another text. For the time of one command: nothing is
// dropped because it is old.
//
// Threads: that of its owner. Errors: those of parse(), which are kept as well.
// Limits:  kMostBytes of text, the oldest go first; what is beyond the bounds of a file of ours is parsed each time.
#pragma once

#include "config/reader.hpp"

#include <deque>
#include <string>
#include <string_view>

namespace patchbay::config {

class ParsedTexts {
public:
    static constexpr std::size_t kMostBytes = 4 * kFileBytes;

    // As config::parse().
    Parsed parse(std::string_view text, Format format, const Bounds& bounds = {});

private:
    struct Kept {
        std::string text;
        Format format;
        Parsed parsed;
    };
    std::deque<Kept> kept_;  // the oldest first
    std::size_t bytes_ = 0;  // of their texts
};

}  // namespace patchbay::config
