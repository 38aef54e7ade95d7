// What servers write to stderr (and stray lines of stdout): the last lines in memory, and a bounded
// file per server for `patchbay mcp logs`, which is another process.
//
// Owns:    the files it opened. Threads: [loop].
// Errors:  a file that cannot be written is told once in the log; memory goes on.
// Limits:  line_bytes a line, which is core::Limits stderr_line_bytes; kLinesInMemory lines a server
//          in memory; kFileBytes a file, one older generation kept.
#pragma once

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
    static constexpr std::size_t kFileBytes = 1u << 20;

    ServerLog(std::string directory, std::size_t line_bytes);  // no directory: memory only

    // A host connects it, from the definition at `place`: told ahead of the next line, so that servers of
    // one id in different projects are told apart, and what different hosts have started.
    void begin(const std::string& server, std::string place);
    void add(const std::string& server, bool stray, std::string_view line);
    // Oldest first; from memory, else from the files.
    std::vector<std::string> tail(const std::string& server, std::size_t most_lines) const;

private:
    struct Kept {
        std::deque<std::string> lines;
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{nullptr, std::fclose};
        std::size_t bytes = 0;
        bool refused = false;
        std::string begun;  // what begin() was told, until a line follows
    };

    void keep(const std::string& server, Kept& kept, std::string line);
    void write(const std::string& server, Kept& kept, const std::string& line);
    std::string path_of(const std::string& server) const;

    std::string directory_;
    const std::size_t line_bytes_;
    std::map<std::string, Kept> kept_;
};

}  // namespace patchbay::app
