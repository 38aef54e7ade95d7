// The files of an audit trail: `audit-000000000017.jsonl` begins with record 17, and is never changed but at its end.
// Beside them `head` says how far the trail goes, so that it is seen where its end is missing; it is also the lock under
// which one process at a time writes. Internal to this room.
//
// Threads: [any]; blocks for the disk. Errors: Io and Denied with the path.
#pragma once

#include "audit/chain.hpp"
#include "core/descriptor.hpp"
#include "core/private_file.hpp"
#include "core/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::audit {

inline constexpr const char* kFolder = "audit";       // in the state directory
inline constexpr const char* kKeyName = "audit.key";  // likewise
inline constexpr const char* kHeadName = "head";
inline constexpr auto kOthers = core::Others::MayNothing;  // with any of these
inline constexpr std::size_t kHeadBytes =
    512;  // always as many: it is written in one go, over itself
// Of a line that is read; records are far shorter (record_text.hpp).
inline constexpr std::size_t kMostLine = 128u << 10;

struct Head {
    std::uint64_t file = 0;   // the number of its first record; 0: there is none
    std::uint64_t bytes = 0;  // of that file, up to the end of `number`
    std::uint64_t number = 0;
    std::int64_t since = 0;  // when that file was begun, in seconds
    std::string last{kGenesis};
};
std::string text_of(const Head& head, const Chain& signer);  // kHeadBytes
// Nothing: it is none, or nobody who has the key wrote it.
std::optional<Head> head_in(std::string_view text, const Chain& signer);

std::string file_name(std::uint64_t first);
// Of the files in that folder the numbers of their first records, ascending.
std::vector<std::uint64_t> files_in(const core::Descriptor& folder);

struct Line {
    std::string_view file;     // its path
    std::uint64_t number = 0;  // from 1
    std::string_view text;     // without its newline; of more than kMostLine only these
    bool ended = true;         // by a newline
    bool too_long = false;
};
// Of an open file from `offset` on, up to `end`; until `look` returns false.
Result<void> each_line(const core::Descriptor& file, const std::string& path, std::uint64_t offset,
                       std::uint64_t end, const std::function<bool(const Line&)>& look);
// Of all files of the trail, oldest first. Nothing is there: none.
Result<void> each_line(const std::string& folder, const std::function<bool(const Line&)>& look);

}  // namespace patchbay::audit
