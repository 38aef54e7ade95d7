// What sessions of HTTP clients leave for the next gateway: a file for each that has left anything, in
// `sessions/` of the state directory, named by the SHA-256 of its id, which is a secret and in none of
// them. A gateway writes those of its own sessions alone, so that several may run at once; each takes
// the place of the one before whole, so that one which is killed leaves the old or the new.
//
// Owns:    the thread that reads and writes. Borrows `loop`, which must outlive it.
// Threads: [loop]; the destructor waits for the disk.
// Errors:  as SessionRecords: one that is damaged or not for us alone is passed over, and the log says
//          so with its path; of a disk that takes nothing it says so once, until it takes something.
// Limits:  Limits, the oldest go first. Of a session one write waits at a time, with what is newest.
// Source:  decisions/0036-what-outlives-a-gateway.md.
#pragma once

#include "core/worker.hpp"
#include "gateway/http/session_records.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {

class SessionFolder final : public gateway::SessionRecords {
public:
    struct Limits {
        std::size_t records = 10'000, bytes = 64u << 20;
        std::chrono::hours kept{30 * 24};  // neither written nor read for so long
    };

    SessionFolder(core::Loop& loop, std::string directory)
        : SessionFolder(loop, std::move(directory), Limits()) {}
    SessionFolder(core::Loop& loop, std::string directory, Limits limits);
    ~SessionFolder() override;  // what was to be written is

    void read(const std::string& id, std::function<void(gateway::SessionRecord)> then) override;
    void write(const std::string& id, gateway::SessionRecord record,
               std::function<void()> then) override;

private:
    struct Disk;  // of the worker's one thread
    struct Pending {
        gateway::SessionRecord record;
        bool changed = false;  // since the one that is being written
        std::vector<std::function<void()>> written, waiting;
    };

    void save(const std::string& id, Pending& pending);
    void on_saved(const std::string& id, const Result<void>& saved);

    core::Loop& loop_;
    const std::shared_ptr<Disk> disk_;
    std::map<std::string, Pending> pending_;  // by id
    bool failing_ = false;
    std::optional<core::Worker> worker_;
};

// Those of that state directory; where there is none, they end with this process.
std::unique_ptr<gateway::SessionRecords> session_records(core::Loop& loop,
                                                         const std::string& state_directory);

}  // namespace patchbay::app
