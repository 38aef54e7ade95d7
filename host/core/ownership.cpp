#include "core/ownership.hpp"

#include "core/program.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <climits>

#include <cerrno>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

namespace patchbay::core {

namespace {

std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos || path == "/" ? ""
           : slash == 0                              ? "/"
                                                     : path.substr(0, slash);
}

// Every directory from `directory` up to the root.
std::string trouble_above(std::string directory, const Writers& writers) {
    for (; !directory.empty(); directory = parent_of(directory)) {
        struct stat status {};
        const auto trouble = ::stat(directory.c_str(), &status) != 0
                                 ? std::string(std::strerror(errno))
                                 : who_else_writes(status, writers, directory);
        if (!trouble.empty())
            return "the directory \"" + printable(directory, PATH_MAX) + "\": " + trouble;
    }
    return {};
}

// Many systems give each user a group of the same name and let it write all that is made. -1: this
// user has none, or is not alone in it.
gid_t group_of_its_own(uid_t id) {
    constexpr auto kNone = static_cast<gid_t>(-1);
    const auto* user = ::getpwuid(id);
    if (!user) return kNone;
    const std::string name = user->pw_name;
    const auto group_id = user->pw_gid;
    const auto* group = ::getgrgid(group_id);
    if (!group || name != group->gr_name) return kNone;
    for (char** member = group->gr_mem; *member; ++member)
        if (name != *member) return kNone;
    return group_id;
}

// Once, and only where a group may write at all: the database of users is slow to ask, and not made for threads.
gid_t own_group_of(const Writers& writers) {
    if (writers.own_group) return *writers.own_group;
    static const gid_t of_this_process = group_of_its_own(::geteuid());
    return of_this_process;
}

}  // namespace

Writers Writers::of_this_process(Groups groups) {
    return {::geteuid(), std::nullopt, groups};
}

std::string who_else_writes(const struct stat& status, const Writers& writers,
                            const std::string& path) {
    if (status.st_uid != 0 && status.st_uid != writers.user)
        return "it belongs to user " + std::to_string(status.st_uid) + ", not to you (" +
               std::to_string(writers.user) + ") or root";
    if (S_ISLNK(status.st_mode)) return {};  // its mode says nothing
    if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0) return {};
    if ((status.st_mode & S_IWOTH) != 0)
        return "everybody may write it; run: chmod o-w " + shell_word(path);
    const bool group_writes = (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0 &&
                              writers.groups == Groups::Refused &&
                              status.st_gid != own_group_of(writers);
    if (group_writes)
        return "its group (" + std::to_string(status.st_gid) + ") may write it; run: chmod g-w " +
               shell_word(path);
    return {};
}

std::string who_else_replaces(const std::string& path, const Writers& writers) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return {};  // there is nothing
    auto trouble = who_else_writes(status, writers, path);
    return trouble.empty() ? trouble_above(parent_of(path), writers) : trouble;
}

std::string who_else_writes(int fd, const Writers& writers) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return std::strerror(errno);
    const auto target = behind_links("/proc/self/fd/" + std::to_string(fd));
    if (target.empty()) return "it was moved while it was read";
    auto trouble = who_else_writes(status, writers, target);
    return trouble.empty() ? trouble_above(parent_of(target), writers) : trouble;
}

}  // namespace patchbay::core
