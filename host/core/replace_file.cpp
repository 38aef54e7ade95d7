#include "core/replace_file.hpp"

#include "core/descriptor.hpp"

#include <algorithm>
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

// 0: not the name of a draft of `file`.
pid_t writer_of(std::string_view name, std::string_view file) {
    if (name.size() <= file.size() + 1 || !name.starts_with(file) || name[file.size()] != '.')
        return 0;
    pid_t pid = 0;
    const auto* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + file.size() + 1, end, pid);
    return read.ec == std::errc() && read.ptr == end && pid > 0 ? pid : 0;
}

void sweep_drafts(const std::string& directory, std::string_view file) {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
    if (!open) return;
    while (const dirent* const entry = ::readdir(open.get())) {
        const auto writer = writer_of(entry->d_name, file);
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

Result<void> replace_file(const std::string& path, std::string_view text, Durable durable) {
    const auto slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    sweep_drafts(directory, std::string_view(path).substr(slash + 1));
    const std::string draft = path + "." + std::to_string(::getpid());
    ::unlink(draft.c_str());  // of one that had our number and was killed
    Descriptor file(
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) return failed(path);
    const bool synced = durable == Durable::Yes;
    if (write_whole(file.get(), text) && (!synced || ::fsync(file.get()) == 0) &&
        ::rename(draft.c_str(), path.c_str()) == 0) {
        if (!synced) return {};
        const Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder.get() >= 0 && ::fsync(folder.get()) == 0) return {};
        return failed(path);
    }
    const auto error = failed(path);
    ::unlink(draft.c_str());
    return error;
}

}  // namespace patchbay::core
