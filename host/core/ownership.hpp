// Who else could have written a file that is to be believed: its owner, its mode, and those of every
// directory that leads to it. A file that a stranger can put there is the stranger's word.
//
// Threads: [any].
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>

namespace patchbay::core {

// Refused: a group may not write either, but for a group that the user is alone in.
enum class Groups { Refused, Trusted };

struct Writers {
    uid_t user = 0;  // whose files are trusted; those of root are too
    // The group that the user is alone in; -1: there is none. Nothing: this process', looked up where it matters.
    std::optional<gid_t> own_group = gid_t(-1);
    Groups groups = Groups::Refused;

    static Writers of_this_process(Groups groups);
};

// "it belongs to user 1001", "its group (100) may write it"; empty: nobody else can. A directory
// with the sticky bit may be written by all: nobody there can replace what is another's. `path`: what
// a command that mends it is about.
std::string who_else_writes(const struct stat& status, const Writers& writers,
                            const std::string& path);

// Whether somebody else could have put what is at `path` there, a link included: its owner, and
// every directory above it, with the name of the one that is the trouble.
std::string who_else_replaces(const std::string& path, const Writers& writers);

// Of an open file: who else may write it, or replace it where it lies behind all links.
std::string who_else_writes(int fd, const Writers& writers);

}  // namespace patchbay::core
