// The chain that records of the audit are links of. Each has a number, the hash of the one before and its own:
//
//   {"n":17,"at":...,"prev":"<64 hex digits>","mac":"<64 hex digits>"}
//
// `mac` is HMAC-SHA-256, under a key of the user, of all that stands before `,"mac":`; `prev` is the mac of the record
// before, of the first one kGenesis. So nobody who lacks the key changes, adds, swaps or takes out a record without
// that being seen where it was done.
//
// Threads: [value]. Errors: a line that is no link says what is wrong with it.
// Source:  decisions/0052-an-audit-that-cannot-be-edited.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::audit {

inline constexpr std::string_view kGenesis =
    "0000000000000000000000000000000000000000000000000000000000000000";

// What a record's line claims, whether that is so or not.
struct Link {
    std::uint64_t number = 0;
    std::string_view previous, mac;  // of the line
    std::string_view signed_text;    // what the mac is of
};
// Nothing: it has not the form of one.
std::optional<Link> link_of(std::string_view line);

class Chain {
public:
    // Goes on behind the record `number` with that mac; 0: there is none yet.
    explicit Chain(std::string key, std::uint64_t number = 0,
                   std::string last = std::string(kGenesis))
        : key_(std::move(key)), number_(number), last_(std::move(last)) {}

    std::uint64_t number() const { return number_; }
    const std::string& last() const { return last_; }

    // Appends to `text` the line of a record with these raw members.
    void append(std::string_view members, std::string& text);
    // Whether that line, without its newline, is the next record: then it was taken, and what is returned is empty.
    // Else what is wrong, and nothing has changed.
    std::string take(std::string_view line);
    // Goes on behind that record, whatever is wrong with it.
    void resume(const Link& link);
    // Whether whoever wrote it had the key, wherever it stands.
    bool is_ours(const Link& link) const;
    std::string mac_of(std::string_view text) const;

private:
    std::string key_;
    std::uint64_t number_;
    std::string last_;
};

}  // namespace patchbay::audit
