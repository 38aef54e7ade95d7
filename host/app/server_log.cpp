#include "app/server_log.hpp"

#include "core/log.hpp"
#include "core/private_directory.hpp"
#include "core/text.hpp"
#include "service/statuses.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
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

// `2026-07-28T09:00:00Z stderr ...`; the epoch: it begins with no time.
std::chrono::system_clock::time_point time_of_first_line(const std::string& path) {
    std::ifstream file(path);
    std::string time;
    std::tm parts{};
    if (!(file >> time) || !::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts)) return {};
    return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

}  // namespace

ServerLog::ServerLog(std::string directory, std::size_t line_bytes,
                     const config::LogSettings& settings, const core::TimeSource& time)
    : directory_(std::move(directory)), line_bytes_(line_bytes), settings_(settings), time_(time) {}

std::string ServerLog::path_of(const std::string& server) const {
    if (directory_.empty()) return {};
    return directory_ + "/" + server + ".log";  // ids hold no path characters
}

void ServerLog::begin(const std::string& server, std::string place) {
    kept_[server].begun = std::move(place);
}

void ServerLog::add(const std::string& server, bool stray, std::string_view line) {
    auto& kept = kept_[server];
    const auto now = service::time_of(time_.date());
    if (!kept.begun.empty())
        keep(server, kept, now + " starts " + core::printable(std::exchange(kept.begun, {}), 1000));
    keep(server, kept,
         now + (stray ? " stdout " : " stderr ") +
             core::printable(core::log::masked(line), line_bytes_));
}

void ServerLog::note(const std::string& server, std::string_view line) {
    keep(server, kept_[server],
         service::time_of(time_.date()) + " host   " +
             core::printable(core::log::masked(line), line_bytes_));
}

void ServerLog::keep(const std::string& server, Kept& kept, std::string line) {
    const auto since = time_.date() - kept.refused;
    const bool pauses = since >= since.zero() && since < kAgain;
    if (!directory_.empty() && !pauses) write(server, kept, line);
    kept.lines.push_back(std::move(line));
    if (kept.lines.size() > kLinesInMemory) kept.lines.pop_front();
}

void ServerLog::write(const std::string& server, Kept& kept, const std::string& line) {
    const auto path = path_of(server);
    if (kept.file && is_due(kept)) kept.file.reset();
    if (!kept.file && !open(path, kept)) return refuse(path, kept);
    kept.bytes += line.size() + 1;
    const bool put = std::fputs((line + "\n").c_str(), kept.file.get()) >= 0 &&
                     std::fflush(kept.file.get()) == 0;
    if (!put) refuse(path, kept);
}

// A disk that is full has room again some time.
void ServerLog::refuse(const std::string& path, Kept& kept) {
    core::log::warn("cannot write " + path + ": " + std::strerror(errno) +
                    "; server output is kept in memory only");
    kept.file.reset();
    kept.refused = time_.date();
}

bool ServerLog::is_due(const Kept& kept) const {
    return kept.bytes > settings_.server_bytes || time_.date() - kept.since >= settings_.server_age;
}

// Another host may write there too, or has put it aside since we looked.
bool ServerLog::open(const std::string& path, Kept& kept) {
    core::make_private_directory(directory_);
    remove_old(path);
    struct stat info {};
    const bool there = ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    kept.bytes = there ? static_cast<std::size_t>(info.st_size) : 0;
    kept.since = kept.bytes > 0 ? time_of_first_line(path) : time_.date();
    if (kept.bytes > 0 && is_due(kept)) {
        put_aside(path);
        kept.bytes = 0;
        kept.since = time_.date();
    }
    const int fd =
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    kept.file.reset(fd < 0 ? nullptr : ::fdopen(fd, "a"));
    if (!kept.file) return false;
    std::setvbuf(kept.file.get(), nullptr, _IOLBF, 4096);
    return true;
}

void ServerLog::put_aside(const std::string& path) const {
    const auto numbered = [&](unsigned number) { return path + "." + std::to_string(number); };
    if (settings_.server_files <= 1) {
        ::unlink(path.c_str());
        return;
    }
    for (unsigned number = settings_.server_files - 1; number > 1; --number)
        ::rename(numbered(number - 1).c_str(), numbered(number).c_str());
    ::rename(path.c_str(), numbered(1).c_str());
}

// Also those of a time when more were kept.
void ServerLog::remove_old(const std::string& path) const {
    for (unsigned number = 1; number <= kMostFiles; ++number) {
        const auto name = path + "." + std::to_string(number);
        struct stat info {};
        if (::lstat(name.c_str(), &info) != 0) return;
        const auto written = std::chrono::system_clock::from_time_t(info.st_mtime);
        if (number >= settings_.server_files || time_.date() - written >= settings_.server_age)
            ::unlink(name.c_str());
    }
}

std::vector<std::string> ServerLog::tail(const std::string& server, std::size_t most_lines) const {
    std::deque<std::string> lines;
    const auto found = kept_.find(server);
    if (found != kept_.end() && !found->second.lines.empty()) {
        lines = found->second.lines;
    } else if (!directory_.empty()) {
        for (unsigned number = kMostFiles; number > 0; --number)
            append_lines(path_of(server) + "." + std::to_string(number), lines, most_lines);
        append_lines(path_of(server), lines, most_lines);
    }
    while (lines.size() > most_lines) lines.pop_front();
    return {lines.begin(), lines.end()};
}

}  // namespace patchbay::app
