// Writes a file so that whoever reads it finds the old text or the new one, whole: a draft beside it
// that takes its place.
//
// Threads: [any]; blocks for the disk.
// Errors:  Io with the path; the file is as it was, and the draft is gone.
// Limits:  drafts that killed processes left (`FILE.PID`, beside a file of somebody else's making
//          `FILE.patchbay-PID`) are removed by the next one that writes.
#pragma once

#include "core/result.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <time.h>

namespace patchbay::core {

// A draft of a process that is gone, and of any other that is older than kForgottenDraft: numbers
// of processes are used again. One that was just written may be of another PID namespace.
inline constexpr std::chrono::minutes kFreshDraft{1};
inline constexpr std::chrono::hours kForgottenDraft{24};

// What cannot be made again is worth waiting until it is on the disk. Text: its name may get there later, with that of
// the next file that is made so in its folder.
enum class Durable { No, Text, Yes };

// All of `text`, whatever a signal interrupts. False: errno says why.
bool write_whole(int fd, std::string_view text);

// For this user alone (0600). Does not follow a link in the draft's place. `modified`: nobody finds it with another time;
// none: now.
Result<void> replace_file(const std::string& path, std::string_view text,
                          Durable durable = Durable::No,
                          const std::optional<timespec>& modified = {});

// A file of somebody else's making, which stays what it was but for its text.
struct Likeness {
    mode_t mode = 0600;
    std::optional<gid_t> group;  // none: whichever a new file gets there
    // Asked right before the draft takes the place of the file; an error leaves that as it is.
    std::function<Result<void>()> last_look;
};
// The same with all of that; always durable.
Result<void> replace_file(const std::string& path, std::string_view text, const Likeness& likeness);

}  // namespace patchbay::core
