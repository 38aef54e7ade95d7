#include "app/client_file.hpp"

#include "config/edit/edit.hpp"
#include "core/descriptor.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"
#include "core/shell_word.hpp"

#include <climits>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

Error failed(const std::string& doing, const std::string& path, int number = errno) {
    return {ErrorCode::Io, "cannot " + doing + " " + path + ": " + std::strerror(number)};
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

// One step: what a person linked is where the file lies. A chain of links is somebody's machinery,
// which would make another link of our file.
Result<std::string> behind_link(const std::string& path) {
    char target[PATH_MAX];
    const auto size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0) return path;  // no link
    std::string to(target, static_cast<std::size_t>(size));
    if (!to.starts_with('/')) to = folder_of(path) + "/" + to;
    struct stat info {};
    if (::lstat(to.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
        return Error{
            ErrorCode::Denied,
            path + " leads to " + to + ", which is a link again; name the file itself with --file"};
    return to;
}

Result<void> check(const struct stat& about, const std::string& path) {
    if (!S_ISREG(about.st_mode)) return Error{ErrorCode::Denied, path + " is no regular file"};
    if (about.st_uid != ::geteuid())
        return Error{ErrorCode::Denied, path + " belongs to user " + std::to_string(about.st_uid) +
                                            ", not to you (" + std::to_string(::geteuid()) + ")"};
    if (about.st_nlink > 1)
        return Error{ErrorCode::Denied,
                     path + " has " + std::to_string(about.st_nlink) +
                         " names (hard links), and a new text would be under this one alone"};
    return {};
}

// What a new file gets. Nothing else runs in a verb, so nobody sees the umask change.
mode_t usual_mode(mode_t all) {
    const auto mask = ::umask(0);
    ::umask(mask);
    return all & ~mask;
}

Result<void> make_folders(const std::string& folder, mode_t mode, std::vector<std::string>& made) {
    if (::mkdir(folder.c_str(), mode) == 0) {
        made.push_back(folder);
        return {};
    }
    if (errno == EEXIST) return {};
    if (errno != ENOENT || folder == "/") return failed("make", folder);
    if (auto above = make_folders(folder_of(folder), mode, made); !above) return above;
    if (::mkdir(folder.c_str(), mode) != 0) return failed("make", folder);
    made.push_back(folder);
    return {};
}

}  // namespace

Result<ClientFile> ClientFile::read(const std::string& path) {
    auto place = behind_link(path);
    if (!place) return place.error();
    ClientFile file;
    file.path_ = std::move(*place);
    // O_NONBLOCK: a pipe in its place would be waited for before it could be refused.
    const core::Descriptor open(
        ::open(file.path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (open.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return file;
    if (open.get() < 0) return failed("open", file.path_);
    if (::fstat(open.get(), &file.about_) != 0) return failed("look at", file.path_);
    if (auto fine = check(file.about_, file.path_); !fine) return fine.error();
    auto text = core::read_whole(open, file.path_, config::edit::kBounds.bytes);
    if (!text) return text.error();
    file.text_ = std::move(*text);
    file.there_ = true;
    return file;
}

Result<void> ClientFile::unchanged() const {
    const auto now = read(path_);
    if (!now) return now.error();
    const bool same = now->there_ == there_ && now->about_.st_ino == about_.st_ino &&
                      now->about_.st_dev == about_.st_dev && now->text_ == text_;
    if (same) return {};
    return Error{ErrorCode::Unavailable,
                 path_ + " was written by somebody else meanwhile; nothing is changed, try again"};
}

Result<void> ClientFile::replace(std::string_view text, Readers readers,
                                 std::vector<std::string>& made) const {
    // A rename would do it all the same: it asks the folder, not the file.
    if (there_ && (about_.st_mode & S_IWUSR) == 0)
        return Error{
            ErrorCode::Denied,
            path_ + " is read-only; to have it written, run: chmod u+w " + core::shell_word(path_)};
    const bool own = readers == Readers::User;
    if (!there_)
        if (auto folders = make_folders(folder_of(path_), own ? 0700 : 0777, made); !folders)
            return folders;
    core::Likeness likeness;
    likeness.mode = there_ ? about_.st_mode & 07777 : own ? 0600 : usual_mode(0666);
    if (there_) likeness.group = about_.st_gid;
    likeness.last_look = [this] { return unchanged(); };
    return core::replace_file(path_, text, likeness);
}

Result<void> ClientFile::remove() const {
    if (auto same = unchanged(); !same) return same;
    if (::unlink(path_.c_str()) != 0) return failed("remove", path_);
    return {};
}

void remove_folders(const std::vector<std::string>& made) {
    for (auto folder = made.rbegin(); folder != made.rend(); ++folder) ::rmdir(folder->c_str());
}

Error in_file(const std::string& path, Error error) {
    const bool has_line =
        !error.message.empty() && error.message[0] >= '0' && error.message[0] <= '9';
    error.message = path + (has_line ? ":" : ": ") + error.message;
    return error;
}

}  // namespace patchbay::app
