// The configuration of a host that stays, read again: when a file of it changes, on SIGHUP, when a command has read
// another one, and when somebody asks for it. What is valid is applied at once, without touching the servers that it
// does not change; what is not leaves everything as it was, but for what it forbids in parts that can be read
// (stricter.hpp), and why is told to who asks for the state.
//
// Owns:    what is watched, and what was in force before. Borrows the host and the switch.
// Threads: [loop]. Reading files is done here: it takes milliseconds, and nothing may be judged meanwhile by
//          half of it.
// Errors:  told on stderr, and in kept().
// Limits:  of ten parts of the loop's time two are spent reading at most, whoever wants it, and nobody has it read more often
//          than each kPause, but for kAtOnce of that in advance. What somebody is in the middle of writing is waited for, and what
//          makes no sense is looked at once more, for PathWatch::kAtMost. kHistory can be gone back to.
#pragma once

#include "app/host.hpp"
#include "app/path_watch.hpp"
#include "app/server_switch.hpp"
#include "core/timer.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

class Reload {
public:
    static constexpr std::chrono::milliseconds kPause{50}, kAtOnce{200};
    static constexpr int kPart = 5;  // of the time one is spent reading
    using Applied = std::function<void(const Result<registry::Plan>& applied)>;
    static constexpr std::size_t kHistory = 10;

    // `say`: a line for whoever watches the host. `applied`: which servers are new.
    Reload(Host& host, ServerSwitch& server_switch, config::Environment environment,
           std::function<void(const std::string& line)> say,
           std::function<void(const std::vector<std::string>& servers)> applied);

    // At once, unless it was read often just now.
    void read_again();
    // What the files say then; where that has a fault, Invalid, and what was in force stays.
    void apply(Applied applied);
    // To what was in force before, until a file changes or apply() is asked for. NotFound: there is none. From files
    // that have a fault it is back to what runs still: once more is behind that. What they forbid beside it counts on.
    Result<registry::Plan> rollback();
    const std::string& looks_because() const { return watch_.looks_because(); }
    // Whether the host runs by what a command has read, which may be newer than what is known here; empty:
    // by what the files say.
    bool fits(const std::string& digest);
    // Keys of which it has another value than its files, until it is started anew.
    const std::string& next_start() const { return next_start_; }
    // Why the host does not run by that; empty: it was never given it.
    std::string kept(const std::string& digest) const {
        return digest.empty() || digest == kept_digest_ ? kept_ : std::string();
    }

private:
    using Snapshot = std::shared_ptr<const registry::Snapshot>;

    bool pauses() const { return core::Clock::now() < rested_at_; }
    bool puts_off();
    bool doubts(const std::string& digest);
    void read_after_pause();
    void read_now();
    void take(const Snapshot& read);
    Result<registry::Plan> move_or_keep(const Snapshot& read, std::string digest,
                                        std::string_view cause);
    std::string why_not(const registry::Snapshot& read) const;
    Result<registry::Plan> move_to(const Snapshot& read, const std::string& digest,
                                   std::string_view cause);
    Error keep(std::string why, std::string digest, std::string_view cause);
    void forbid_what_is_said(const registry::Snapshot& read);
    void forget_refusal();
    void take_back_what_was_forbidden();

    Host& host_;
    ServerSwitch& switch_;
    const config::Environment environment_;
    const std::function<void(const std::string&)> say_;
    const std::function<void(const std::vector<std::string>&)> applied_;
    const Snapshot begun_;  // what the parts of the host were made of that are made once
    Snapshot now_;
    std::string digest_;  // of what the host runs by; empty: nobody reads just that any more
    std::string read_digest_;
    std::string kept_, kept_digest_, next_start_;
    bool is_refused_ = false;   // what was read last, and nobody has gone back from it
    bool is_stricter_ = false;  // than now_: for what is forbidden by now
    struct Before {
        Snapshot snapshot;
        std::string digest, read_digest, next_start;
    };
    std::vector<Before> before_;  // the last one at the end
    core::Clock::time_point rested_at_{};
    bool is_asked_ = false;  // by somebody who knows that the files are whole
    std::optional<core::Clock::time_point> put_off_, doubted_;  // since when
    std::string doubtful_;                                      // the digest
    std::vector<Applied> waiting_;
    core::Timer pause_;
    PathWatch watch_;
};

}  // namespace patchbay::app
