// What the server of one connection has cost so far, over all its channels, and how the last program
// of it ended. Its transport tells the latter by facts; who has a process tells more.
//
//   exit               "code 3" or "signal 9", once the program and all that it started are gone
//   limit              which key of its `limits` ended it: "memory"
//   cpu_ms, peak_memory_bytes   of the program that has just ended, and of all that it started
//
// Threads: [value]. Errors: none; a fact that makes no sense counts as nothing.
#pragma once

#include "connection/status.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::connection {

struct Bill {
    Cost cost;  // without what a program that still runs has used
    std::optional<Exit> last_exit;

    // False: it is about something else.
    bool take(std::string_view fact, std::string_view value,
              std::chrono::system_clock::time_point now);
    // A program begins: what ends it is not known yet.
    void begin() { ended_ = false; }
    // The program that has been there since begin() has left with exit code 0.
    bool left_well() const { return ended_ && last_exit->code == 0 && last_exit->limit.empty(); }

private:
    bool ended_ = false;
    std::string limit_;  // told ahead of the exit
};

}  // namespace patchbay::connection
