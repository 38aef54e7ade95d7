// When a host that stays may read its files again, and whether it believes at once what it read there. Decides by
// the clock it is given, and reads nothing itself.
//
// Threads: [value]. Borrows the clock, which must outlive it.
// Limits:  of ten parts of the time two are spent reading at most, whoever wants it, and nobody has it read more often than
//          each kPause, but for kAtOnce of that in advance. What somebody is in the middle of changing is waited for,
//          and what makes no sense is doubted, for kAtMost; a file that was written and is open still, for
//          kWhileOpen: programs pause between two writes, for a disk or for what they fetch, and half of a file may lack
//          what it forbids. Longer would be for those alone who never close it, and keeps back who forbids something.
#pragma once

#include "core/time_source.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace patchbay::app {

class ReadingPace {
public:
    static constexpr std::chrono::milliseconds kPause{50}, kAtOnce{200}, kAtMost{1'000},
        kWhileOpen{5'000};
    static constexpr int kPart = 5;  // of the time one is spent reading

    explicit ReadingPace(const core::TimeSource& time) : time_(time) {}

    // For how long nothing is read yet; zero: it may be now.
    core::Clock::duration rest() const;
    // Somebody wants it read who knows that the files are whole: what is read next is not doubted.
    void ask() { is_asked_ = true; }

    // What somebody else does with the files.
    enum class Others { Rest, Change, HaveOneOpen };
    // For how long reading waits for them, not for ever; zero: it does not.
    core::Clock::duration put_off(Others others);
    // All from `begun` until now went into reading: the next one is kept off for as long as that is worth.
    void spend_since(core::Clock::time_point begun);

    // What was read is whole.
    void take() { put_off_.reset(); }
    // Whether something of that digest, which makes no sense, is to be looked at once more: a file that was closed may
    // be written on by the next command of a script.
    bool doubts(const std::string& digest) {
        return !std::exchange(is_asked_, false) && is_new(digest);
    }
    // The same of something that has nothing in one of its files, whoever has asked for it.
    bool doubts_emptiness(const std::string& digest) { return is_new(digest); }
    // What was read counts, whatever comes of it.
    void believe();

private:
    // Not for ever, where it is another one each time.
    bool is_new(const std::string& digest);

    const core::TimeSource& time_;
    core::Clock::time_point rested_at_{};
    bool is_asked_ = false;
    std::optional<core::Clock::time_point> put_off_, doubted_;  // since when
    std::string doubtful_;                                      // the digest
};

}  // namespace patchbay::app
