#include "auth/store_file.hpp"

#include "core/descriptor.hpp"
#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/private_directory.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace patchbay::auth {
namespace json = boost::json;

namespace {

constexpr const char* kName = "mcp-auth.json";
constexpr const char* kFresh = "mcp-auth.json.new";
constexpr const char* kPrevious = "mcp-auth.json.previous";
constexpr const char* kFreshPrevious = "mcp-auth.json.previous.new";
constexpr const char* kDamaged = "mcp-auth.json.damaged";
constexpr const char* kWriters = "mcp-auth.lock";
constexpr std::chrono::milliseconds kLockPause{2};
constexpr int kVersion = 1;

using core::Descriptor;

Error failed(const std::string& doing, const std::string& path, int number = errno) {
    return {ErrorCode::Io, "cannot " + doing + " " + path + ": " + std::strerror(number)};
}

std::string octal(mode_t mode) {
    char text[8];
    std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
    return text;
}

// Ours alone, or refused: what others can read is no secret, what they can write is no store.
Result<void> check_private(int fd, const std::string& path, mode_t wanted) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return failed("look at", path);
    if (wanted == 0600 && !S_ISREG(info.st_mode))
        return Error{ErrorCode::Denied, path + " is no regular file; move it away"};
    if (info.st_uid != ::geteuid())
        return Error{ErrorCode::Denied, path + " belongs to user " + std::to_string(info.st_uid) +
                                            ", not to the one who runs this (" +
                                            std::to_string(::geteuid()) + ")"};
    if ((info.st_mode & 07777 & ~wanted) != 0)
        return Error{ErrorCode::Denied, path + " has mode " + octal(info.st_mode) +
                                            ", others must not reach it; run: chmod " +
                                            octal(wanted).substr(1) + " " + path};
    return {};
}

Result<Descriptor> open_directory(const std::string& path, bool make) {
    int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && make) {
        if (!core::make_private_directory(path)) return failed("make", path);
        fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return Error{
            ErrorCode::Denied,
            path + " is no directory, or a symbolic link; sign-ins are not kept behind one"};
    if (fd < 0) return failed("open", path);
    Descriptor directory(fd);
    if (auto wrong = check_private(fd, path, 0700); !wrong) return wrong.error();
    return directory;
}

// -1: not there.
Result<Descriptor> open_file(int directory, const std::string& place, const char* name) {
    const auto path = place + "/" + name;
    const int fd = ::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return Descriptor();
    if (fd < 0 && errno == ELOOP)
        return Error{ErrorCode::Denied,
                     path + " is a symbolic link; sign-ins are not kept behind one"};
    if (fd < 0) return failed("open", path);
    Descriptor file(fd);
    if (auto wrong = check_private(fd, path, 0600); !wrong) return wrong.error();
    return file;
}

Result<std::string> text_of(int fd, const std::string& path) {
    std::string text;
    char block[16384];
    for (;;) {
        const auto got = ::read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("read", path);
        if (got == 0) return text;
        text.append(block, static_cast<std::size_t>(got));
        if (text.size() > StoreFile::kFileBytes)
            return Error{ErrorCode::Limit,
                         path + " is larger than 4 MiB, which no store of sign-ins is"};
    }
}

// Protocol: damaged. Unsupported: written by somebody who knows more.
Result<json::object> parse(const std::string& text, const std::string& path) {
    auto parsed = core::parse_json_object(text);
    const Error damaged{ErrorCode::Protocol, path +
                                                 " is damaged: it is not a JSON object with "
                                                 "\"version\" and \"servers\""};
    if (!parsed) return damaged;
    auto& file = *parsed;
    const auto* version = file.if_contains("version");
    const auto* servers = file.if_contains("servers");
    if (!version || !version->is_int64() || !servers || !servers->is_object()) return damaged;
    if (version->get_int64() != kVersion)
        return Error{ErrorCode::Unsupported,
                     path + " has version " + std::to_string(version->get_int64()) +
                         ", this patchbay reads version 1; it is left as it is, use the patchbay "
                         "that wrote it or move it away"};
    return std::move(file);
}

struct Found {
    std::optional<json::object> file;
    std::optional<Error> error;
    bool there = false;
};

Found find(int directory, const std::string& place, const char* name) {
    Found found;
    auto file = open_file(directory, place, name);
    if (!file) {
        found.error = file.error();
        return found;
    }
    if (file->get() < 0) return found;
    found.there = true;
    const auto text = text_of(file->get(), place + "/" + name);
    auto parsed = text ? parse(*text, place + "/" + name) : Result<json::object>(text.error());
    if (parsed)
        found.file = std::move(*parsed);
    else
        found.error = parsed.error();
    return found;
}

Result<StoreFile::Contents> contents_of(int directory, const std::string& place) {
    auto now = find(directory, place, kName);
    if (now.file) return StoreFile::Contents{std::move(*now.file), {}};
    if (now.error && now.error->code != ErrorCode::Protocol) return *now.error;
    if (!now.there)
        return StoreFile::Contents{{{"version", kVersion}, {"servers", json::object()}}, {}};
    auto before = find(directory, place, kPrevious);
    if (before.file)
        return StoreFile::Contents{std::move(*before.file),
                                   now.error->message + "; its previous copy is used"};
    return Error{now.error->code, now.error->message +
                                      ", and there is no previous copy; mend it, or move it away "
                                      "and sign in again"};
}

Result<void> write_whole(int directory, const std::string& place, const std::string& text) {
    const auto path = place + "/" + kFresh;
    ::unlinkat(directory, kFresh, 0);  // of one that was killed
    const Descriptor file(
        ::openat(directory, kFresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return failed("write", path);
    std::size_t written = 0;
    while (written < text.size()) {
        const auto put = ::write(file.get(), text.data() + written, text.size() - written);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return failed("write", path);
        written += static_cast<std::size_t>(put);
    }
    if (::fsync(file.get()) != 0) return failed("write", path);
    return {};
}

// The file itself is never missing: what stays of it is a second name, then the new one takes its
// place.
Result<void> swap_in(int directory, const std::string& place, bool damaged, bool forget) {
    const auto path = place + "/" + kName;
    if (damaged) {
        ::unlinkat(directory, kDamaged, 0);
        if (::linkat(directory, kName, directory, kDamaged, 0) != 0)
            return failed("keep a copy of", path);
    }
    ::unlinkat(directory, kFreshPrevious, 0);
    if (!damaged && !forget && ::linkat(directory, kName, directory, kFreshPrevious, 0) == 0 &&
        ::renameat(directory, kFreshPrevious, directory, kPrevious) != 0)
        return failed("write", place + "/" + kPrevious);
    if (::renameat(directory, kFresh, directory, kName) != 0) return failed("write", path);
    // What was erased is not to live on in a copy.
    if (forget) ::unlinkat(directory, kPrevious, 0);
    if (::fsync(directory) != 0) return failed("write", place);
    return {};
}

Result<Descriptor> lock_writers(int directory, const std::string& place) {
    const auto path = place + "/" + kWriters;
    Descriptor file(::openat(directory, kWriters, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return failed("write", path);
    const auto deadline = std::chrono::steady_clock::now() + StoreFile::kLockWait;
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return failed("lock", path);
        if (std::chrono::steady_clock::now() > deadline)
            return Error{ErrorCode::Timeout, "another process holds " + path + " for more than " +
                                                 core::duration(StoreFile::kLockWait) +
                                                 "; is one stopped?"};
        std::this_thread::sleep_for(kLockPause);
    }
    return file;
}

}  // namespace

Result<StoreFile::Contents> StoreFile::read() const {
    auto directory = open_directory(directory_, false);
    if (!directory) {
        struct stat info {};
        if (::lstat(directory_.c_str(), &info) != 0 && errno == ENOENT)
            return Contents{{{"version", kVersion}, {"servers", json::object()}}, {}};
        return directory.error();
    }
    return contents_of(directory->get(), directory_);
}

Result<void> StoreFile::replace(const std::string& server, const json::object& record) const {
    const auto directory = open_directory(directory_, true);
    if (!directory) return directory.error();
    const auto turn = lock_writers(directory->get(), directory_);
    if (!turn) return turn.error();
    auto contents = contents_of(directory->get(), directory_);
    if (!contents) return contents.error();
    auto& servers = contents->file.at("servers").get_object();
    if (record.empty() && !servers.contains(server) && contents->warning.empty()) {
        ::unlinkat(directory->get(), kPrevious, 0);  // left by one that was killed while erasing
        return {};
    }
    if (record.empty())
        servers.erase(server);
    else
        servers[server] = record;
    auto written =
        write_whole(directory->get(), directory_, json::serialize(contents->file) + "\n");
    if (written)
        written = swap_in(directory->get(), directory_, !contents->warning.empty(), record.empty());
    if (!written) ::unlinkat(directory->get(), kFresh, 0);
    return written;
}

Result<int> StoreFile::lock_file(const std::string& server) const {
    auto directory = open_directory(directory_, true);
    if (!directory) return directory.error();
    const auto name = "mcp-auth." + core::sha256_hex(server).substr(0, 16) + ".lock";
    const int fd =
        ::openat(directory->get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return failed("write", directory_ + "/" + name);
    return fd;
}

}  // namespace patchbay::auth
