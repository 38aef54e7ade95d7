// What the client of one session wished, as it is kept for the gateway that comes after this one.
//
// Borrows the records. Threads: [loop]. It goes with its session, and whoever waits for a record then is told
// nothing.
// Limits:  written anew each kKeptAnew, since records that nobody has touched are swept away.
#pragma once

#include "core/lifetime.hpp"
#include "core/loop.hpp"
#include "gateway/http/session_records.hpp"
#include "gateway/session_wishes.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace patchbay::gateway {

class WishRecord final : public WishKeeper {
public:
    static constexpr std::chrono::hours kKeptAnew{24};

    WishRecord(core::Loop& loop, SessionRecords& records)
        : loop_(loop), records_(records), written_(loop.now()) {}

    // Of that session from now on.
    void belong_to(const std::string& session) { session_ = session; }
    void keep(const SessionWishes& wishes, std::function<void()> kept) override {
        written_ = loop_.now();
        records_.write(session_, {false, wishes}, lifetime_.guard(std::move(kept)));
    }
    // Time has passed.
    void freshen(const SessionWishes& wishes, core::Clock::time_point now) {
        if (!wishes.empty() && now - written_ > kKeptAnew) keep(wishes, [] {});
    }

private:
    core::Loop& loop_;
    SessionRecords& records_;
    std::string session_;
    core::Clock::time_point written_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
