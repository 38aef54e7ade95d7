// One file of another program, which Patchbay changes: as it is now, and the way to replace its text
// without a moment in which half of it is there.
//
// Owns:    what was read; no descriptor stays open.
// Threads: the calling one; blocks for the disk.
// Errors:  Denied: the file is another user's, cannot be written, or is none that may be replaced. Unavailable:
//          somebody has written it since it was read. Io. Each leaves the file as it was.
// Limits:  config::edit::kBounds.bytes.
#pragma once

#include "core/result.hpp"

#include <string>
#include <sys/stat.h>
#include <vector>

namespace patchbay::app {

class ClientFile {
public:
    // `path` as the client opens it: one link is followed, to a file that need not be there. No file
    // is no error either.
    static Result<ClientFile> read(const std::string& path);

    bool there() const { return there_; }
    const std::string& text() const { return text_; }
    const std::string& path() const { return path_; }  // where it lies, behind the link

    // Whose a file is that was not there before: its user's alone (0600, folders 0700), or as the
    // umask has it.
    enum class Readers { User, AsUsual };
    // Folders that are missing are made; `made` gets them, the outermost first.
    Result<void> replace(std::string_view text, Readers readers,
                         std::vector<std::string>& made) const;
    Result<void> remove() const;

private:
    Result<void> unchanged() const;

    bool there_ = false;
    std::string path_, text_;
    struct stat about_ {};
};

// Those that replace() has made, which nobody needs.
void remove_folders(const std::vector<std::string>& made);

// An error of the text of `path`, which begins with line and column, or of the file itself.
Error in_file(const std::string& path, Error error);

}  // namespace patchbay::app
