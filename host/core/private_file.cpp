#include "core/private_file.hpp"

#include "core/ownership.hpp"
#include "core/private_directory.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace patchbay::core {

namespace {

constexpr std::chrono::milliseconds kLockPause{2};

Error failed(const std::string& doing, const std::string& path, int number = errno) {
    return {ErrorCode::Io, "cannot " + doing + " " + path + ": " + std::strerror(number)};
}

std::string octal(mode_t mode) {
    char text[8];
    std::snprintf(text, sizeof text, "%03o", static_cast<unsigned>(mode & 07777));
    return text;
}

Result<void> check(const struct stat& info, const std::string& path, Others others) {
    if (info.st_uid != ::geteuid())
        return Error{ErrorCode::Denied, path + " belongs to user " + std::to_string(info.st_uid) +
                                            ", not to you (" + std::to_string(::geteuid()) +
                                            "); move it away"};
    const mode_t wanted = S_ISDIR(info.st_mode) ? 0700 : 0600;
    if (others == Others::MayNothing && (info.st_mode & 07777 & ~wanted) != 0)
        return Error{ErrorCode::Denied, path + " has mode 0" + octal(info.st_mode) +
                                            ", others must not reach it; run: chmod " +
                                            octal(wanted) + " " + shell_word(path)};
    if ((info.st_mode & 0022) != 0)
        return Error{ErrorCode::Denied,
                     path + " can be written by others; look at it, then run: chmod " +
                         (S_ISDIR(info.st_mode) ? octal(wanted) : "go-w") + " " + shell_word(path)};
    return {};
}

// Of the path as it is written, links included, and of where it leads.
Result<void> check_above(const Descriptor& directory, const std::string& path) {
    const auto writers = Writers::of_this_process(Groups::Refused);
    auto trouble = who_else_replaces(path, writers);
    if (trouble.empty()) trouble = who_else_writes(directory.get(), writers);
    if (trouble.empty()) return {};
    return Error{
        ErrorCode::Denied,
        "what is kept in " + path + " is not believed, others could have put it there: " + trouble};
}

// The first part of the path that is there and leads into nothing; empty: only the last one may be.
std::string no_folder_above(const std::string& path) {
    for (auto end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        const auto above = path.substr(0, end);
        struct stat info {};
        if (::stat(above.c_str(), &info) != 0) return {};
        if (!S_ISDIR(info.st_mode)) return above;
    }
    return {};
}

// Somebody has named a place that is none, which is not the same as one that is not to be believed.
Error no_directory(const std::string& path, bool link) {
    if (const auto above = no_folder_above(path); !above.empty())
        return {ErrorCode::Invalid, above + " is no directory, so there can be no " + path +
                                        "; move it away or name another place"};
    return {ErrorCode::Denied,
            path + " is no directory" +
                (link ? ", or a symbolic link, which is not followed here" : "") +
                "; move it away"};
}

}  // namespace

Result<Descriptor> open_private_directory(const std::string& path, Others others, Make make) {
    // A state directory on another disk is reached by a link; secrets stay where they are put.
    const int link = others == Others::MayNothing ? O_NOFOLLOW : 0;
    const auto open = [&] {
        return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | link);
    };
    int fd = open();
    if (fd < 0 && errno == ENOENT) {
        // A link that leads nowhere is there: made anew, its target would be where somebody else
        // chose.
        struct stat info {};
        const bool dangling = ::lstat(path.c_str(), &info) == 0;
        if (dangling) return failed("open", path, ENOENT);
        if (make == Make::No) return Descriptor();
        if (!make_private_directory(path))
            return errno == ENOTDIR ? no_directory(path, link != 0) : failed("make", path);
        fd = open();
    }
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) return no_directory(path, link != 0);
    if (fd < 0) return failed("open", path);
    // Of what was opened, not of the path, which may lead elsewhere by now.
    Descriptor directory(fd);
    struct stat info {};
    if (::fstat(fd, &info) != 0) return failed("look at", path);
    if (auto wrong = check(info, path, others); !wrong) return wrong.error();
    if (auto wrong = check_above(directory, path); !wrong) return wrong.error();
    return directory;
}

Result<Descriptor> open_private_file(const Descriptor& directory, const std::string& place,
                                     const std::string& name, Others others) {
    const auto path = place + "/" + name;
    // O_NONBLOCK: a pipe in its place would be waited for before it could be refused.
    Descriptor file(
        ::openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0 && errno == ENOENT) return Descriptor();
    if (file.get() < 0 && errno == ELOOP)
        return Error{ErrorCode::Denied, path +
                                            " is a symbolic link, which is not followed here; "
                                            "move it away"};
    if (file.get() < 0) return failed("open", path);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return failed("look at", path);
    if (!S_ISREG(info.st_mode))
        return Error{ErrorCode::Denied, path + " is no regular file; move it away"};
    if (auto wrong = check(info, path, others); !wrong) return wrong.error();
    return file;
}

Result<std::string> read_whole(const Descriptor& file, const std::string& path, std::size_t most) {
    std::string text;
    char block[16384];
    for (;;) {
        const auto got = ::read(file.get(), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("read", path);
        if (got == 0) return text;
        text.append(block, static_cast<std::size_t>(got));
        if (text.size() > most)
            return Error{ErrorCode::Limit, path + " is larger than " + std::to_string(most) +
                                               " bytes, which it never is; move it away"};
    }
}

Result<std::optional<std::string>> read_private(const std::string& path, const std::string& name,
                                                Others others, std::size_t most) {
    using Text = std::optional<std::string>;
    const auto directory = open_private_directory(path, others, Make::No);
    if (!directory) return directory.error();
    if (directory->get() < 0) return Text();
    const auto file = open_private_file(*directory, path, name, others);
    if (!file) return file.error();
    if (file->get() < 0) return Text();
    auto text = read_whole(*file, path + "/" + name, most);
    if (!text) return text.error();
    return Text(std::move(*text));
}

Result<Descriptor> take_turn(const Descriptor& directory, const std::string& place,
                             const std::string& name, std::chrono::milliseconds wait) {
    const auto path = place + "/" + name;
    Descriptor file(
        ::openat(directory.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return failed("write", path);
    const auto deadline = std::chrono::steady_clock::now() + wait;
    // Tried again and again: a flock that waits cannot be given a deadline.
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return failed("lock", path);
        if (std::chrono::steady_clock::now() > deadline)
            return Error{ErrorCode::Timeout, "another process holds " + path + " for more than " +
                                                 duration(wait) + "; is one stopped?"};
        std::this_thread::sleep_for(kLockPause);
    }
    return file;
}

Error io_failure(const std::string& what, const std::string& path) {
    return {ErrorCode::Io, "cannot " + what + " " + path + ": " + std::strerror(errno)};
}

}  // namespace patchbay::core
