#include "app/log_follower.hpp"

#include "app/server_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

core::Descriptor open_file(const std::string& path) {
    return core::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool is_same_file(const struct stat& one, const std::string& path) {
    struct stat other {};
    return ::lstat(path.c_str(), &other) == 0 && one.st_ino == other.st_ino &&
           one.st_dev == other.st_dev;
}

}  // namespace

LogFollower::LogFollower(core::Loop& loop, std::string path, Line line)
    : path_(std::move(path)),
      line_(std::move(line)),
      file_(open_file(path_)),
      watch_(loop, [this] { look(); }) {
    if (file_.get() >= 0)
        ::lseek(file_.get(), 0, SEEK_END);
    else
        nothing_yet_ = open_file(put_aside(1)).get() < 0;
    watch_.watch({path_});
}

std::string LogFollower::put_aside(unsigned number) const {
    return path_ + "." + std::to_string(number);
}

unsigned LogFollower::number_of_ours() const {
    struct stat ours {};
    if (file_.get() < 0 || ::fstat(file_.get(), &ours) != 0) return 0;
    for (unsigned number = 1; number <= ServerLog::kMostFiles; ++number)
        if (is_same_file(ours, put_aside(number))) return number;
    return 0;
}

void LogFollower::look() {
    if (file_.get() >= 0) read_rest(file_.get());
    struct stat ours {};
    const bool there = file_.get() >= 0 && ::fstat(file_.get(), &ours) == 0;
    if (!there || !is_same_file(ours, path_)) catch_up();
}

// What was put aside after ours, the oldest first, then what is written now.
void LogFollower::catch_up() {
    // Where there was none, all of them are new.
    const bool all = std::exchange(nothing_yet_, false);
    for (auto number = all ? ServerLog::kMostFiles + 1 : number_of_ours(); number > 1; --number)
        if (const auto file = open_file(put_aside(number - 1)); file.get() >= 0)
            read_rest(file.get());
    auto next = open_file(path_);
    if (next.get() < 0) return;  // it is about to be made
    file_ = std::move(next);
    read_rest(file_.get());
}

void LogFollower::read_rest(int fd) {
    char text[16u << 10];
    for (ssize_t got = 0; (got = ::read(fd, text, sizeof text)) > 0;)
        take({text, static_cast<std::size_t>(got)});
}

void LogFollower::take(std::string_view text) {
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        begun_ += text.substr(0, end);
        text.remove_prefix(end + 1);
        line_(std::exchange(begun_, {}));
    }
    if (begun_.size() + text.size() <= kMostLine) begun_ += text;
}

}  // namespace patchbay::app
