// What a record of the audit says, as the raw members of a JSON object; the chain (chain.hpp) puts number and
// hashes around them.
//
//   "at":"2026-07-28T09:00:00.123Z","kind":"call","id":"9f3c01ab-17","caller":{"kind":"person"},
//   "method":"tools/call","server":"files","tool":"read","name":"mcp__files__read","digest":"5d41...",
//   "decision":"allow","level":"allow-always","rule":"tools \"read\"","place":"user config ...:3:1",
//   "arguments_bytes":17,"outcome":"ok","wait_us":12,"run_us":340,"result_bytes":52
//
// Kinds: "call", a request that has ended; "begun", one that was sent and had not ended yet; "mended", "cut", "lost"
// and "removed" are the trail's words about itself (trail.hpp, audit_log.hpp). What is not known is left out.
//
// Threads: [value]. Errors: none. Foreign text is masked and made printable.
// Limits:  kMostText of a text, kMostArguments of arguments: what is longer is cut, and arguments then stand as a text.
#pragma once

#include "core/observer.hpp"
#include "core/time_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::audit {

inline constexpr std::size_t kMostText = 1'000;
inline constexpr std::size_t kMostArguments = 16u << 10;

// Builds them one by one.
class RecordText {
public:
    RecordText() = default;
    explicit RecordText(std::size_t usual_bytes) { text_.reserve(usual_bytes); }

    void put(std::string_view key, std::string_view foreign);  // left out where it is empty
    // Words of ours and of files, which hold no secret.
    void put_own(std::string_view key, std::string_view word);
    void put(std::string_view key, std::int64_t number);
    void put_raw(std::string_view key, std::string_view json);
    void open(std::string_view key);  // an object, whose members follow
    void close();
    void put_all(std::string_view members);
    std::string take() && { return std::move(text_); }

private:
    void begin(std::string_view key);

    std::string text_;
};

// `"at":...,"kind":...`
std::string head_of_record(core::Calendar::time_point at, std::string_view kind);
// What requests of one kind have in common, from their caller to the place of the rule. That of the last kinds is kept,
// as long as the same secrets are known: most requests are of few.
class CommonMembers {
public:
    std::string_view of(const core::AskedRequest& asked);  // good until the next call

private:
    static constexpr std::size_t kKinds = 64, kMostKey = 2u << 10;
    struct Kind {
        std::string key, text;
    };

    std::string key_;
    std::array<Kind, kKinds> kinds_;  // by their names' hashes
    std::string odd_;                 // of a kind that is too long to be kept
    std::uint64_t known_secrets_ = 0;
};
// Of a request what is known when it is sent, or was refused. `id`: what tells it from those of other hosts.
std::string members_of_request(std::string_view id, std::string_view common,
                               const core::AskedRequest& asked);
// Behind these, when it has ended.
std::string members_of_outcome(const core::EndedRequest& ended);

}  // namespace patchbay::audit
