// A stream of text for people (stderr, stray output) cut into lines of at most 8 KiB; the rest of a
// longer line is dropped.
//
// Threads: [value].
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace patchbay::transport {

class TextLines {
public:
    static constexpr std::size_t kLineBytes = 8u << 10;

    // Calls `show(line)` for every line that ends in `text`.
    template <class Show>
    void take(std::string_view text, Show show) {
        for (;;) {
            const auto newline = text.find('\n');
            const auto part = text.substr(0, newline);
            begun_.append(part.substr(0, kLineBytes - std::min(kLineBytes, begun_.size())));
            if (newline == std::string_view::npos) return;
            end(show);
            text.remove_prefix(newline + 1);
        }
    }
    // What was begun is a line as well.
    template <class Show>
    void end(Show show) {
        if (!begun_.empty() && begun_.back() == '\r') begun_.pop_back();
        if (!begun_.empty()) show(std::string_view(begun_));
        begun_.clear();
    }

private:
    std::string begun_;
};

}  // namespace patchbay::transport
