// The audit trail of a user on disk: `audit/` in the state directory, to which all processes of the user append, one at
// a time, so that there is one order and one chain (chain.hpp) through all its files.
//
// What a process that was killed has left is mended by the next one that writes, and told by a record: "mended", a line
// that was torn (`bytes`, `sha256`); "cut", records are missing that were there (`through`: the last that is known of).
// "removed": of files that were put away, the last record (`through`).
//
// Owns:    the file that it writes, open. Threads: [any], one at a time; blocks for the disk and for its turn.
// Errors:  Io, Denied, Timeout with the path; nothing of what was to be appended is there then.
// Limits:  config::AuditSettings file_bytes and file_age of a file, files of them. A batch is written whole: a file
//          may be longer by it.
// Source:  decisions/0052-an-audit-that-cannot-be-edited.md.
#pragma once

#include "audit/trail_files.hpp"
#include "config/config.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::audit {

class Trail {
public:
    Trail(std::string state_directory, const config::AuditSettings& settings,
          const core::TimeSource& time = core::machine_time());

    // `records`: the raw members of each on a line of its own. `wait`: for other processes.
    Result<void> append(std::string_view records, std::chrono::milliseconds wait);

    const std::string& folder() const { return folder_; }

private:
    // How far the trail goes, as it was found, and what is to be written ahead of all else.
    struct Standing {
        Head head;
        bool known = true;      // by a head, else by the files alone
        bool open_end = false;  // the last line has no newline
        std::string words{};    // records about the trail itself, as append() takes them
        std::vector<std::uint64_t> surplus{};  // files that these say are put away
    };
    Result<void> take_key(std::chrono::milliseconds wait);
    Result<void> open_folder();
    Result<Standing> look(const core::Descriptor& turn);
    Head head_by_files() const;
    Result<void> catch_up(Standing& standing, std::uint64_t size);
    Result<bool> open_file(std::uint64_t first, int more_flags);  // false: it is not there
    Result<void> begin_file(const core::Descriptor& turn, Standing& standing);
    Result<std::uint64_t> size_of_file() const;
    void write_head(const core::Descriptor& turn, const Head& head) const;
    void note_surplus(Standing& standing) const;
    bool is_full(const Head& head, std::size_t more) const;
    Result<void> write(const core::Descriptor& turn, Standing standing, std::string_view records);
    std::string words(std::string_view kind, std::string members) const;
    std::string path_of(std::uint64_t first) const { return folder_ + "/" + file_name(first); }

    const std::string state_directory_, folder_;
    const config::AuditSettings settings_;
    const core::TimeSource& time_;
    std::optional<std::string> key_;
    core::Descriptor directory_, file_;
    std::uint64_t file_number_ = 0;  // of the one that is open
};

}  // namespace patchbay::audit
