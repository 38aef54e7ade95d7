#include "app/path_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::uint32_t kGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;
constexpr std::uint32_t kDone = IN_CLOSE_WRITE | IN_MOVED_TO;  // with a file
constexpr std::uint32_t kWatched = kDone | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB |
                                   IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
// Of a file itself, whatever name it was opened by. IN_MASK_ADD: what is a folder by now is heard as before.
constexpr std::uint32_t kOfAFile = IN_MODIFY | IN_CLOSE_WRITE | IN_DONT_FOLLOW | IN_MASK_ADD;

// Of these the kernel hears no more than what this machine does itself (inotify(7), "Limitations and caveats").
bool is_on_a_distant_disk(const std::string& folder) {
    constexpr long kDistant[] = {NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC, 0xff534d42 /* CIFS */,
                                 0xfe534d42 /* SMB2 */, V9FS_MAGIC,      0x65735546 /* FUSE */,
                                 CODA_SUPER_MAGIC,      AFS_SUPER_MAGIC, 0x00c36400 /* Ceph */};
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) != 0) return false;
    return std::find(std::begin(kDistant), std::end(kDistant), long(info.f_type)) !=
           std::end(kDistant);
}

}  // namespace

PathWatch::PathWatch(core::Loop& loop, std::function<void()> changed, IsDistant is_distant,
                     OfAll of_all)
    : loop_(loop),
      changed_(std::move(changed)),
      is_distant_(is_distant ? std::move(is_distant) : is_on_a_distant_disk),
      of_all_(of_all),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      settle_(loop),
      look_(loop) {
    if (inotify_.get() < 0) return;
    static_cast<void>(
        watch_.start(inotify_.get(), core::Loop::kReadable, [this](unsigned) { on_events(); }));
}

void PathWatch::watch(std::vector<std::string> paths) {
    paths_ = std::move(paths);
    auto ways = ways_of(paths_, of_all_);
    std::map<std::string, Folder> wanted;
    for (auto& [folder, names] : ways.names) wanted[folder].names = std::move(names);
    std::string trouble;
    if (!ways.all)
        trouble =
            "they are in more than " + std::to_string(PathWays::kMostParts) + " folders and links";
    if (inotify_.get() < 0) {
        trouble = "the system has no watch left for this user";
        wanted.clear();
    }
    if (wanted.size() > kFolders) {
        trouble = "there are more than " + std::to_string(kFolders) + " folders";
        wanted.erase(std::next(wanted.begin(), kFolders), wanted.end());
    }
    // The same folder has the same number, however often it is added; one by that name that is
    // another by now has another.
    for (auto& [path, folder] : wanted) {
        folder.number = ::inotify_add_watch(inotify_.get(), path.c_str(), kWatched);
        if (folder.number < 0 && errno != ENOENT && errno != ENOTDIR)
            trouble = errno == ENOSPC ? "the system has no watch left for this user"
                                      : path + ": " + std::strerror(errno);
        else if (folder.number >= 0 && is_distant_(path))
            trouble = path + " is on a disk of another machine";
    }
    for (const auto& [path, folder] : folders_) {
        const int number = folder.number;
        const bool stays = std::any_of(wanted.begin(), wanted.end(), [number](const auto& each) {
            return each.second.number == number;
        });
        if (!stays && number >= 0) ::inotify_rm_watch(inotify_.get(), number);
    }
    folders_ = std::move(wanted);
    std::erase_if(writers_, [this](const FileName& file) {
        return path_of(file.first, file.second).empty();  // its folder has gone
    });
    watch_files();
    looks_because_ = std::move(trouble);
    if (looks_because_.empty()) return look_.stop();
    seen_ = state_of_paths();
    look_later();
}

void PathWatch::watch_files() {
    const auto before = std::exchange(files_, {});
    for (const auto& [path, folder] : folders_)
        for (const auto& name : folder.names) watch_file({folder.number, name}, path + "/" + name);
    for (const auto& [number, file] : before)
        if (!files_.contains(number)) ::inotify_rm_watch(inotify_.get(), number);
}

// Where the system has none left that is told of the folder already.
void PathWatch::watch_file(const FileName& file, const std::string& path) {
    struct stat info {};
    if (file.first < 0 || ::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    const int number = ::inotify_add_watch(inotify_.get(), path.c_str(), kOfAFile);
    if (number >= 0) files_[number] = file;
}

// What somebody has open there still is another one by now.
void PathWatch::unwatch_file(const FileName& file) {
    std::erase_if(files_, [&](const auto& each) {
        if (each.second == file) ::inotify_rm_watch(inotify_.get(), each.first);
        return each.second == file;
    });
}

void PathWatch::look_later() {
    look_.start(kLook, [this] {
        const bool same = seen_ == state_of_paths();
        look_later();
        if (!same) plan_change();  // which looks anew
    });
}

// What changes when a file is written, replaced, made or taken away, links followed.
std::string PathWatch::state_of_paths() const {
    std::string state;
    for (const auto& path : paths_) {
        struct stat info {};
        if (::stat(path.c_str(), &info) != 0) {
            state += "-\n";
            continue;
        }
        for (const auto number :
             {std::int64_t(info.st_dev), std::int64_t(info.st_ino), std::int64_t(info.st_size),
              std::int64_t(info.st_mtim.tv_sec), std::int64_t(info.st_mtim.tv_nsec),
              std::int64_t(info.st_ctim.tv_sec), std::int64_t(info.st_ctim.tv_nsec)})
            state += std::to_string(number) + " ";
        state += "\n";
    }
    return state;
}

// What has gone, or could not be told, may have been any of them.
bool PathWatch::matters(const inotify_event& event, const std::string& name) const {
    if ((event.mask & IN_Q_OVERFLOW) != 0) return true;
    return std::any_of(folders_.begin(), folders_.end(), [&](const auto& each) {
        return each.second.number == event.wd &&
               ((event.mask & kGone) != 0 || each.second.names.contains(name));
    });
}

// Empty: it is in none of the folders.
std::string PathWatch::path_of(int number, const std::string& name) const {
    for (const auto& [path, folder] : folders_)
        if (folder.number == number) return path + "/" + name;
    return {};
}

// As after `: > file`, of which the next command writes what is to be in it.
bool PathWatch::is_empty(int number, const std::string& name) const {
    struct stat info {};
    return ::stat(path_of(number, name).c_str(), &info) == 0 && info.st_size == 0;
}

// By somebody who opened it to write: not by a link to what is there. What they wrote before it was watched
// itself is not heard.
bool PathWatch::is_being_made(int number, const std::string& name) const {
    struct stat info {};
    return ::lstat(path_of(number, name).c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_nlink == 1;
}

void PathWatch::note(int number, const std::string& name, std::uint32_t mask) {
    note_writer({number, name}, mask);
    // Of a folder it is not known yet what it leads to, though that may be there.
    if (name.empty() || (mask & IN_ISDIR) != 0)
        unsure_ = true;
    else if ((mask & kDone) != 0 && !is_empty(number, name))
        halves_.erase({number, name});
    else
        halves_.emplace(number, name);
}

// What is moved or deleted is written under that name no more.
void PathWatch::note_writer(const FileName& file, std::uint32_t mask) {
    if ((mask & (kDone | IN_MOVED_FROM | IN_DELETE)) != 0)
        writers_.erase(file);
    else if ((mask & IN_MODIFY) != 0 ||
             ((mask & IN_CREATE) != 0 && is_being_made(file.first, file.second)))
        writers_.insert(file);
}

void PathWatch::on_events() {
    alignas(inotify_event) char events[16u << 10];
    bool changed = false;
    for (;;) {
        const auto got = ::read(inotify_.get(), events, sizeof events);
        if (got <= 0) break;
        for (const char* at = events; at < events + got;) {
            const auto& event = *reinterpret_cast<const inotify_event*>(at);
            at += sizeof(inotify_event) + event.len;
            if (take(event)) changed = true;
        }
    }
    if (changed) plan_change();
}

// False: it concerns none of the paths.
bool PathWatch::take(const inotify_event& event) {
    if (const auto file = files_.find(event.wd); file != files_.end()) {
        if ((event.mask & IN_IGNORED) != 0) files_.erase(file);  // its number may come again
        // Of all else its folder tells.
        if ((event.mask & (IN_MODIFY | IN_CLOSE_WRITE)) == 0) return false;
        note(file->second.first, file->second.second, event.mask);
        return true;
    }
    const std::string name(event.len > 0 ? event.name : "");
    if (!matters(event, name)) return false;
    note(event.wd, name, event.mask);
    if ((event.mask & (IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE)) != 0)
        unwatch_file({event.wd, name});
    // One that is new is written from now on.
    if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0)
        for (const auto& [path, folder] : folders_)
            if (folder.number == event.wd) watch_file({event.wd, name}, path + "/" + name);
    return true;
}

bool PathWatch::somebody_writes() {
    if (inotify_.get() >= 0) on_events();
    return !halves_.empty();
}

bool PathWatch::is_open() {
    if (inotify_.get() >= 0) on_events();
    return !writers_.empty();
}

bool PathWatch::has_an_empty_one() const {
    return std::any_of(paths_.begin(), paths_.end(), [](const auto& path) {
        struct stat info {};
        return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
    });
}

void PathWatch::tell_again() {
    unsure_ = true;
    plan_change();
}

void PathWatch::plan_change() {
    const auto now = loop_.now();
    if (!first_) first_ = now;
    planned_ = state_of_paths();
    const std::chrono::nanoseconds left = *first_ + kAtMost - now;
    const std::chrono::nanoseconds wait = halves_.empty() && !unsure_ ? kQuiet : kSettle;
    settle_.start(std::clamp(left, std::chrono::nanoseconds(0), wait), [this] { tell_change(); });
}

// Not while somebody writes on a disk of which nothing is heard: half of it would be read for a change before that.
void PathWatch::tell_change() {
    if (state_of_paths() != planned_ && loop_.now() < *first_ + kAtMost) return plan_change();
    first_.reset();
    halves_.clear();
    unsure_ = false;
    watch(paths_);
    changed_();
}

}  // namespace patchbay::app
