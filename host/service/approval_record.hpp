// A record of what a user approved, one JSON file of the state directory: how it is changed when others may change it
// too. Internal to this room.
//
// Threads: [any]; blocks for the disk, and for its turn at most `wait`. Whoever is killed leaves the old file or the new one.
// Errors:  Unsupported: there is no directory, or a path in it is not UTF-8; Limit: most_bytes; those of the change, and then
//          nothing is written.
#pragma once

#include "core/private_file.hpp"
#include "core/result.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace patchbay::service {

struct ApprovalRecord {
    // It holds no secret, but what somebody else writes there is what somebody else approved.
    static constexpr auto kOthers = core::Others::MayRead;

    const std::string& directory;
    const char* name;  // "trust.json"
    std::size_t most_bytes;
    std::chrono::seconds wait;  // for other writers
    const char*
        writers;  // a file of its own: the record is replaced as a whole, and a lock on it would go with it
    const char* no_path;  // what to do about a path that is not UTF-8
    const char* shorten;  // and about a record that is too long

    // `next`: the text that is to stand there, made within our turn of what stands there by then.
    Result<void> change(const std::function<Result<std::string>()>& next) const;
};

}  // namespace patchbay::service
