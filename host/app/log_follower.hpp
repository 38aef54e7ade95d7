// Goes on with a file of lines that another process writes and puts aside from time to time
// (server_log.hpp): what is written from now on comes in order, also what went to files that were put
// aside since we looked.
//
// Owns:    the file that it has open. Borrows the loop.
// Threads: [loop]; reads files there.
// Errors:  a file that is not there yet is waited for. Lines of one that was removed before we looked
//          are lost.
// Limits:  kMostLine of a line, the rest of it is dropped; PathWatch::kAtMost behind.
#pragma once

#include "app/path_watch.hpp"
#include "core/descriptor.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace patchbay::app {

class LogFollower {
public:
    static constexpr std::size_t kMostLine = 64u << 10;
    using Line = std::function<void(const std::string&)>;

    LogFollower(core::Loop& loop, std::string path, Line line);

private:
    void look();
    void catch_up();
    void read_rest(int fd);
    void take(std::string_view text);
    std::string put_aside(unsigned number) const;
    // Under which number our file is now; 0: it is where it was, or not there.
    unsigned number_of_ours() const;

    const std::string path_;
    const Line line_;
    core::Descriptor file_;
    bool nothing_yet_ = false;  // neither the file nor one that was put aside
    std::string begun_;         // of a line
    PathWatch watch_;
};

}  // namespace patchbay::app
