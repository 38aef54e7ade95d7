// What is asked of servers, and what was decided of it, as records of the trail (trail.hpp): written behind, so that a call
// waits for no disk, once a second and at the end.
//
// One record a request that calls, reads or changes something, when it has ended. One that lasts is told as "begun" when it
// has lasted for kPause, so that a kill -9 loses what was told in its last second, and nothing that began before.
// With `required` each is told before it is sent, on disk, or it is refused.
//
// Owns:    trail, and the thread that writes. Borrows the loop.
// Threads: [loop]; writing is its thread's; with `required`, and at the end, the loop's.
// Errors:  a trail that cannot be written is told in the log once, and tried again; what is not written by then is kept as
//          long as there is room. `required`: Unavailable for who asks.
// Limits:  kMostBuffered bytes; records beyond are counted, and a record says how many ("lost"). kTurn for other processes.
#pragma once

#include "audit/record_text.hpp"
#include "audit/trail.hpp"
#include "core/observer.hpp"
#include "core/timer.hpp"
#include "core/worker.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace patchbay::audit {

class AuditLog final : public core::Observer {
public:
    static constexpr std::chrono::seconds kPause{1}, kAgain{5};
    static constexpr std::chrono::milliseconds kTurn{2'000}, kShortTurn{200};
    static constexpr std::size_t kMostBuffered = 4u << 20, kBatch = 256u << 10;

    AuditLog(core::Loop& loop, const std::string& state_directory,
             const config::AuditSettings& settings);
    ~AuditLog();  // what was told is written

    bool wants_arguments() const override { return settings_.arguments; }
    Result<void> on_request_sent(const core::SentRequest& sent) override;
    void on_request_ended(const core::EndedRequest& ended) override;
    void on_server_state(const core::ServerState&) override {}
    void on_server_restart(std::string_view) override {}
    void on_http_answer(unsigned) override {}

private:
    // One that was sent.
    struct Open {
        std::string members;
        core::Calendar::time_point at;
        core::Clock::time_point sent;
        bool told = false;
    };
    // On its way to the disk.
    struct Batch {
        std::string records;
        std::size_t lost = 0;
        bool written = false;
    };

    std::string members_of(const core::AskedRequest& asked);
    void keep(std::string_view head, std::string_view members, std::string_view more = {});
    void wait();
    void on_pause();
    void write_behind();
    Batch take_batch();
    void put_back(Batch& batch);
    void on_written(Batch& batch, const Result<void>& written);
    Result<void> write_now(std::chrono::milliseconds wait);

    core::Loop& loop_;
    const config::AuditSettings settings_;
    const std::string run_;  // tells this process's requests from those of others
    const std::shared_ptr<Trail> trail_;
    CommonMembers common_;
    std::string buffer_, spare_;  // the memory of what was written is that of what comes next
    std::size_t lost_ = 0;        // records that there was no room for
    std::unordered_map<std::uint64_t, Open> open_;
    bool failing_ = false;  // and it was told
    core::Clock::time_point failed_{};
    core::Timer pause_;
    std::shared_ptr<Batch> writing_;  // null: nothing is
    std::optional<core::Worker> worker_;
};

}  // namespace patchbay::audit
