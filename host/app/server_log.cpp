#include "app/server_log.hpp"

#include "core/log.hpp"
#include "core/private_directory.hpp"
#include "core/text.hpp"
#include "service/statuses.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

void append_lines(const std::string& path, std::deque<std::string>& lines, std::size_t most) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        lines.push_back(std::move(line));
        if (lines.size() > most) lines.pop_front();
    }
}

}  // namespace

ServerLog::ServerLog(std::string directory, std::size_t line_bytes)
    : directory_(std::move(directory)), line_bytes_(line_bytes) {}

std::string ServerLog::path_of(const std::string& server) const {
    return directory_ + "/" + server + ".log";  // ids hold no path characters
}

void ServerLog::begin(const std::string& server, std::string place) {
    kept_[server].begun = std::move(place);
}

void ServerLog::add(const std::string& server, bool stray, std::string_view line) {
    auto& kept = kept_[server];
    const auto now = service::time_of(std::chrono::system_clock::now());
    if (!kept.begun.empty())
        keep(server, kept, now + " starts " + core::printable(std::exchange(kept.begun, {}), 1000));
    keep(server, kept,
         now + (stray ? " stdout " : " stderr ") +
             core::printable(core::log::masked(line), line_bytes_));
}

void ServerLog::keep(const std::string& server, Kept& kept, std::string line) {
    if (!directory_.empty() && !kept.refused) write(server, kept, line);
    kept.lines.push_back(std::move(line));
    if (kept.lines.size() > kLinesInMemory) kept.lines.pop_front();
}

void ServerLog::write(const std::string& server, Kept& kept, const std::string& line) {
    const auto path = path_of(server);
    if (!kept.file || kept.bytes > kFileBytes) {
        core::make_private_directory(directory_);
        struct stat info {};
        if (::lstat(path.c_str(), &info) == 0 &&
            static_cast<std::size_t>(info.st_size) > kFileBytes) {
            ::rename(path.c_str(), (path + ".1").c_str());
            info.st_size = 0;
        }
        const int fd =
            ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        kept.file.reset(fd < 0 ? nullptr : ::fdopen(fd, "a"));
        if (!kept.file) {
            kept.refused = true;
            core::log::warn("cannot write " + path + ": " + std::strerror(errno) +
                            "; server output is kept in memory only");
            return;
        }
        std::setvbuf(kept.file.get(), nullptr, _IOLBF, 4096);
        kept.bytes = static_cast<std::size_t>(info.st_size);
    }
    kept.bytes += line.size() + 1;
    std::fputs((line + "\n").c_str(), kept.file.get());
}

std::vector<std::string> ServerLog::tail(const std::string& server, std::size_t most_lines) const {
    std::deque<std::string> lines;
    const auto found = kept_.find(server);
    if (found != kept_.end() && !found->second.lines.empty()) {
        lines = found->second.lines;
    } else if (!directory_.empty()) {
        append_lines(path_of(server) + ".1", lines, most_lines);
        append_lines(path_of(server), lines, most_lines);
    }
    while (lines.size() > most_lines) lines.pop_front();
    return {lines.begin(), lines.end()};
}

}  // namespace patchbay::app
