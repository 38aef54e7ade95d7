// What a server wrote beside MCP on one channel, for messages about its end: the first line of stderr, which often
// names the cause, and the last ones; and what stood on stdout in the place of messages.
//
// Threads: [value]. Errors: none.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace patchbay::connection {

class ServerOutput {
public:
    void keep_stderr(std::string_view line);
    void keep_stray(std::string_view line);

    // `text` with what is worth saying, appended.
    std::string with_stderr(std::string text) const;
    std::string with_strays(std::string text) const;
    std::string last_said() const { return stderr_tail_.empty() ? "" : stderr_tail_.back(); }
    bool has_strays() const { return strays_ > 0; }

private:
    std::string stderr_first_;  // once it is in the tail no more
    std::deque<std::string> stderr_tail_;
    bool passed_over_ = false;  // lines between these
    std::uint64_t strays_ = 0;
    std::string first_stray_;  // printable, in quotes
};

// `text` with where all of it is kept.
std::string with_log(std::string text, const std::string& server);

}  // namespace patchbay::connection
