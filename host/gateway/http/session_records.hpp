// What of a session changes while its id stays, for a gateway that goes on with it: what its client
// wished, and that it was deleted.
//
// Threads: [loop]; session_record_text() and parse_session_record() [any].
// Errors:  of SessionRecords none: what cannot be kept or read is not there, and the log says so.
// Limits:  kMostSessionRecordBytes of a text; MemoryRecords: kMost, the oldest go first.
#pragma once

#include "core/loop.hpp"
#include "core/result.hpp"
#include "gateway/session_wishes.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::gateway {

struct SessionRecord {
    bool deleted = false;
    SessionWishes wishes{};

    bool empty() const { return !deleted && wishes.empty(); }
    bool operator==(const SessionRecord&) const = default;
};

// One line of JSON: {"level":"info","uris":["file:///x"]} or {"deleted":true}.
inline constexpr std::size_t kMostSessionRecordBytes = 512u << 10;
std::string session_record_text(const SessionRecord& record);
// Invalid: it is none.
Result<SessionRecord> parse_session_record(std::string_view text);

class SessionRecords {
public:
    virtual ~SessionRecords() = default;
    // `then` in a later turn; an empty one where there is none.
    virtual void read(const std::string& id, std::function<void(SessionRecord)> then) = 0;
    // In the place of the one that was there; `then`, in a later turn, once a reader would find it.
    virtual void write(const std::string& id, SessionRecord record, std::function<void()> then) = 0;
};

// They end with this process.
class MemoryRecords final : public SessionRecords {
public:
    static constexpr std::size_t kMost = 10'000;

    explicit MemoryRecords(core::Loop& loop) : loop_(loop) {}
    void read(const std::string& id, std::function<void(SessionRecord)> then) override;
    void write(const std::string& id, SessionRecord record, std::function<void()> then) override;

private:
    core::Loop& loop_;
    std::map<std::string, SessionRecord> records_;  // none is empty
    std::deque<std::string> first_;                 // their ids, from the oldest
};

}  // namespace patchbay::gateway
