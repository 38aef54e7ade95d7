// How often each peer has come with a wrong token: beyond a few it is told to wait, so that guessing
// costs us nothing worth mentioning. Whoever has a right one comes in all the same; several clients may
// have one address.
//
// Owns:    a number for each peer. Borrows the time.
// Threads: [loop].
// Limits:  kBurst at once, and one more each kPause. kMostPeers are known; the one that has not failed
//          for longest is forgotten first. An IPv6 network of 64 bits is one peer.
#pragma once

#include "core/time_source.hpp"

#include <chrono>
#include <list>
#include <map>
#include <string>

namespace patchbay::gateway {

class FailedAttempts {
public:
    static constexpr std::size_t kMostPeers = 1'024;
    static constexpr unsigned kBurst = 20;
    static constexpr std::chrono::seconds kPause{3};

    explicit FailedAttempts(const core::TimeSource& time) : time_(time) {}

    // It has to wait.
    bool too_many(const std::string& peer) const;
    // True: it has to wait from now on, and that has not been told since it was last quiet.
    bool note(const std::string& peer);

private:
    struct Record {
        std::string peer;
        core::Clock::time_point quiet;  // when nothing of it counts any more
        bool told = false;
    };
    const core::TimeSource& time_;
    std::list<Record> records_;  // the last that failed first
    std::map<std::string, std::list<Record>::iterator, std::less<>> known_;
};

}  // namespace patchbay::gateway
