// What servers write to stderr (and stray lines of stdout): the last lines in memory, and bounded
// files per server for `patchbay mcp logs`, which is another process. ID.log is written; when it is as
// large or as old as it may be it becomes ID.log.1, that ID.log.2, and so on.
//
// Owns:    the files it opened. Threads: [loop].
// Errors:  a file that cannot be written is told in the log; memory goes on, and after kAgain the file is tried again.
// Limits:  line_bytes a line, which is core::Limits stderr_line_bytes; kLinesInMemory lines a server
//          in memory; config::LogSettings server_bytes and server_age of a file, server_files of them.
#pragma once

#include "config/config.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

class ServerLog {
public:
    static constexpr std::size_t kLinesInMemory = 500;
    static constexpr std::chrono::minutes kAgain{1};
    static constexpr unsigned kMostFiles = 100;  // that [log] server_files may say

    // No directory: memory only.
    ServerLog(std::string directory, std::size_t line_bytes,
              const config::LogSettings& settings = {},
              const core::TimeSource& time = core::machine_time());

    // A host connects it, from the definition at `place`: told ahead of the next line, so that servers of
    // one id in different projects are told apart, and what different hosts have started.
    void begin(const std::string& server, std::string place);
    void add(const std::string& server, bool stray, std::string_view line);
    // What we have seen of it, which it has not said itself.
    void note(const std::string& server, std::string_view line);
    // Oldest first; from memory, else from the files.
    std::vector<std::string> tail(const std::string& server, std::size_t most_lines) const;
    // Where it is written; empty: nowhere.
    std::string path_of(const std::string& server) const;

private:
    struct Kept {
        std::deque<std::string> lines;
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{nullptr, std::fclose};
        std::size_t bytes = 0;
        std::chrono::system_clock::time_point since{};    // of the first line in the file
        std::chrono::system_clock::time_point refused{};  // when it was; the epoch: it is not
        std::string begun;  // what begin() was told, until a line follows
    };

    void keep(const std::string& server, Kept& kept, std::string line);
    void write(const std::string& server, Kept& kept, const std::string& line);
    void refuse(const std::string& path, Kept& kept);
    bool open(const std::string& path, Kept& kept);
    bool is_due(const Kept& kept) const;
    void put_aside(const std::string& path) const;
    void remove_old(const std::string& path) const;

    std::string directory_;
    const std::size_t line_bytes_;
    const config::LogSettings settings_;
    const core::TimeSource& time_;
    std::map<std::string, Kept> kept_;
};

}  // namespace patchbay::app
