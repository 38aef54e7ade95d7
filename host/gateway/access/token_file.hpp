// The record of tokens: `gateway-tokens.json` in the state directory.
//
// Owns:    nothing but names: every call opens what it needs and closes it.
// Threads: [any], blocks for the disk; writers of all processes take turns by a lock on a file of its
//          own. Whoever is killed while writing leaves the old record or the new one.
// Errors:  a record that others can read, write or replace, or that makes no sense, lets nobody in;
//          it is not written over.
// Limits:  kFileBytes; a writer waits kLockWait for the others.
#pragma once

#include "gateway/access/token.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace patchbay::gateway {

class TokenFile {
public:
    static constexpr std::size_t kFileBytes = 1u << 20;
    static constexpr std::chrono::seconds kLockWait{10};

    // `directory`: the state directory; made, 0700, when it is needed.
    explicit TokenFile(std::string directory) : directory_(std::move(directory)) {}

    // Which file it was, and of when: another one whenever the record may say something else.
    using Edition = std::string;  // empty: none was read
    struct Read {
        Tokens tokens;
        Edition edition;
    };
    // Nothing: it still is `known`.
    Result<std::optional<Read>> read_unless(const Edition& known) const;
    Result<Tokens> read() const;

    // On disk when they return.
    Result<void> add(const Token& token) const;
    Result<void> remove(const std::string& name) const;

    std::string path() const;

private:
    template <class Change>
    Result<void> change(const Change& change) const;

    std::string directory_;
};

}  // namespace patchbay::gateway
