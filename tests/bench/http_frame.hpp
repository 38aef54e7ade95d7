// The least that can be known of HTTP/1.1: where a message ends. Of who is trusted to say
// Content-Length, spelt like that, and nothing of chunks.
//
// Threads: [value].
#pragma once

#include <cstddef>
#include <string_view>

namespace bench {

struct HttpFrame {
    std::string_view head, body;  // the head with the end of its last line
    std::size_t size = 0;         // of both; 0: it is not all there
};

HttpFrame first_frame(std::string_view text);

// What stands between `before` and the next byte of `ends`, from the first `before` on.
std::string_view between(std::string_view text, std::string_view before, std::string_view ends);

}  // namespace bench
