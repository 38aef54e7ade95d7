#include "core/replace_file.hpp"

#include "core/descriptor.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::core {

namespace {

Error failed(const std::string& path) {
    return {ErrorCode::Io, "cannot write " + path + ": " + std::strerror(errno)};
}

// What stands between the name of a file and the number of the process whose draft it is. Beside a
// file that is not ours `FILE.1` may be what its owner has kept: what we make there is named by us.
constexpr const char *kOfOurs = ".", *kOfOthers = ".patchbay-";
constexpr char kNext = '.';  // before which of the drafts of one process it is

// 0: not the name of a draft that begins so.
pid_t writer_of(std::string_view name, std::string_view beginning) {
    if (!name.starts_with(beginning)) return 0;
    pid_t pid = 0;
    unsigned nth = 0;
    const auto* const end = name.data() + name.size();
    auto read = std::from_chars(name.data() + beginning.size(), end, pid);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == kNext)
        read = std::from_chars(read.ptr + 1, end, nth);
    return read.ec == std::errc() && read.ptr == end && pid > 0 ? pid : 0;
}

// Two threads may write one file: each draft that is there has a name of its own, `.PID` where that is free.
class DraftNumber {
public:
    DraftNumber() : number_(there_.fetch_add(1)) {}
    ~DraftNumber() {
        auto only = number_ + 1;
        static_cast<void>(there_.compare_exchange_strong(only, number_));
    }
    DraftNumber(const DraftNumber&) = delete;
    std::string text() const {
        return std::to_string(::getpid()) +
               (number_ == 0 ? "" : std::string(1, kNext) + std::to_string(number_));
    }

private:
    static inline std::atomic<unsigned> there_{0};
    const unsigned number_;
};

void sweep_drafts(const std::string& directory, std::string_view beginning) {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
    if (!open) return;
    while (const dirent* const entry = ::readdir(open.get())) {
        const auto writer = writer_of(entry->d_name, beginning);
        struct stat about {};
        if (writer == 0 || writer == ::getpid() ||
            ::fstatat(::dirfd(open.get()), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        const auto age = std::chrono::seconds(::time(nullptr) - about.st_mtime);
        const bool gone = ::kill(writer, 0) != 0 && errno == ESRCH;
        if ((gone && age > kFreshDraft) || age > kForgottenDraft)
            ::unlinkat(::dirfd(open.get()), entry->d_name, 0);
    }
}

}  // namespace

bool write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto put = ::write(fd, text.data(), text.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

namespace {

// A file of its own beside `path`, gone with the object unless it has taken its place.
class Draft {
public:
    Draft(const std::string& path, const std::string& beginning)
        : path_(path), name_(beginning + number_.text()) {
        ::unlink(name_.c_str());  // of one that had our number and was killed
        file_ = Descriptor(
            ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    }
    ~Draft() {
        if (file_.get() >= 0 && !placed_) ::unlink(name_.c_str());
    }
    Draft(const Draft&) = delete;

    int fd() const { return file_.get(); }
    bool take_place() { return placed_ = ::rename(name_.c_str(), path_.c_str()) == 0; }

private:
    const DraftNumber number_;
    const std::string path_, name_;
    Descriptor file_;
    bool placed_ = false;
};

std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

bool sync_directory(const std::string& directory) {
    const Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return folder.get() >= 0 && ::fsync(folder.get()) == 0;
}

bool looks_like(int fd, const Likeness& likeness) {
    // The group first: a mode that lets a group write is for the right one only.
    if (likeness.group && ::fchown(fd, static_cast<uid_t>(-1), *likeness.group) != 0) return false;
    return likeness.mode == 0600 || ::fchmod(fd, likeness.mode) == 0;
}

Result<void> replace(const std::string& path, std::string_view text, Durable durable,
                     const char* mark, const Likeness& likeness,
                     const std::optional<timespec>& modified = {}) {
    const auto directory = directory_of(path), beginning = path + mark;
    sweep_drafts(directory, std::string_view(beginning).substr(path.rfind('/') + 1));
    Draft draft(path, beginning);
    if (draft.fd() < 0 || !write_whole(draft.fd(), text) || !looks_like(draft.fd(), likeness) ||
        (durable != Durable::No && ::fsync(draft.fd()) != 0))
        return failed(path);
    if (likeness.last_look)
        if (auto seen = likeness.last_look(); !seen) return seen;
    if (modified) {
        const timespec times[2] = {*modified, *modified};
        if (::futimens(draft.fd(), times) != 0) return failed(path);
    }
    if (!draft.take_place()) return failed(path);
    if (durable == Durable::Yes && !sync_directory(directory)) return failed(path);
    return {};
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view text, Durable durable,
                          const std::optional<timespec>& modified) {
    return replace(path, text, durable, kOfOurs, {}, modified);
}

Result<void> replace_file(const std::string& path, std::string_view text,
                          const Likeness& likeness) {
    return replace(path, text, Durable::Yes, kOfOthers, likeness);
}

}  // namespace patchbay::core
