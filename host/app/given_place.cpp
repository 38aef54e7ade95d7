#include "app/given_place.hpp"

#include "app/client_file.hpp"
#include "app/client_record.hpp"
#include "core/digest.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::app {

namespace {

constexpr std::chrono::seconds kMostWait{10};
constexpr const char* kLock = "lock";
constexpr const char* kTurnSuffix = ".turn";

void remove_folder(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);  // a link in it is removed, not followed
}

// `NAME-XXXXXX`, as make() has it.
bool is_of_a_run(const std::string& name) {
    const auto dash = name.rfind('-');
    return dash != name.npos && name.size() - dash == 7;
}

// Of those whose lock nobody holds.
void sweep(const std::string& base) {
    std::error_code failure;
    std::filesystem::directory_iterator each(base, failure);
    for (; !failure && each != std::filesystem::directory_iterator(); each.increment(failure)) {
        const auto path = each->path().string();
        if (!is_of_a_run(each->path().filename().string())) continue;
        std::error_code unknown;
        if (!std::filesystem::is_directory(each->symlink_status(unknown))) continue;
        const core::Descriptor lock(
            ::open((path + "/" + kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (lock.get() >= 0 && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
        remove_folder(path);
    }
}

}  // namespace

Result<void> write_given(const std::string& path, std::string_view text,
                         const std::string& state_directory) {
    std::error_code none;
    if (std::filesystem::is_symlink(path, none))
        return Error{ErrorCode::Denied, path +
                                            " is a link, and may lead anywhere; expected a file "
                                            "of its own"};
    const auto file = ClientFile::read(path);
    if (!file) return file.error();
    const ClientRecord record(state_directory, "resolve", file->path(), "");
    const auto turn = record.take_turn();
    if (!turn) return turn.error();
    const auto now = ClientFile::read(path);  // within our turn
    if (!now) return now.error();
    const auto before = record.read();
    if (!before) return before.error();
    const bool ours = *before && (*before)->after == core::sha256_hex(now->text());
    if (now->there() && !ours)
        return Error{ErrorCode::Invalid,
                     now->path() +
                         (*before ? " was changed since `patchbay resolve` has written it"
                                  : " is there, and `patchbay resolve` has not written it") +
                         "; it stays, and another name or removing it makes way"};
    ClientChange change;
    change.made = true;
    change.after = core::sha256_hex(text);
    if (auto kept = record.write(change); !kept) return kept;
    std::vector<std::string> made;
    auto written = now->replace(text, ClientFile::Readers::User, made);
    if (written) return written;
    remove_folders(made);
    if (!*before)
        record.forget();
    else if (const auto kept = record.write(**before); !kept)
        return kept.error();
    return written;
}

Result<RunFolder> RunFolder::make(const std::string& base, const std::string& session) {
    auto folder = make_locked(base, session);
    if (folder) folder->keep();  // when the turn is over: the keeper would hold it too
    return folder;
}

Result<RunFolder> RunFolder::make_locked(const std::string& base, const std::string& session) {
    const auto directory =
        core::open_private_directory(base, core::Others::MayNothing, core::Make::Yes);
    if (!directory) return directory.error();
    // Between a folder and its lock nobody sweeps.
    const auto turn = core::take_turn(*directory, base, kTurnSuffix, kMostWait);
    if (!turn) return turn.error();
    sweep(base);
    auto path = base + "/" + session + "-XXXXXX";
    if (!::mkdtemp(path.data())) return core::io_failure("make", path);
    core::Descriptor lock(::open((path + "/" + kLock).c_str(),
                                 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        const auto error = core::io_failure("lock", path);
        remove_folder(path);
        return error;
    }
    return RunFolder(std::move(path), std::move(lock));
}

// Whoever is killed removes nothing, so another process does. It has nothing of ours open but the lock, and is in a
// session of its own, where no key of the terminal reaches it.
void RunFolder::keep() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;  // the next run sweeps
    core::Descriptor read(ends[0]);
    alive_ = core::Descriptor(ends[1]);
    const auto child = ::fork();
    if (child != 0) {
        keeper_ = child > 0 ? child : 0;
        return;
    }
    ::setsid();
    for (const int ended : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(ended, SIG_IGN);
    // Whatever else is open is somebody's pipe, whose end they wait for.
    const auto first = static_cast<unsigned>(std::min(read.get(), lock_.get())),
               second = static_cast<unsigned>(std::max(read.get(), lock_.get()));
    if (first > 0) ::close_range(0, first - 1, 0);
    if (second > first + 1) ::close_range(first + 1, second - 1, 0);
    ::close_range(second + 1, ~0U, 0);
    char byte;
    while (::read(read.get(), &byte, 1) < 0 && errno == EINTR) {
    }
    remove_folder(path_);
    ::_exit(0);
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      alive_(std::move(other.alive_)),
      keeper_(std::exchange(other.keeper_, 0)) {}

RunFolder::~RunFolder() {
    if (path_.empty()) return;
    remove_folder(path_);
    alive_.close();
    if (keeper_ > 0)
        while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
        }
}

Result<std::string> RunFolder::write(const std::string& name, std::string_view text) const {
    auto path = path_ + "/" + name;
    if (auto written = core::replace_file(path, text); !written) return written.error();
    return path;
}

}  // namespace patchbay::app
