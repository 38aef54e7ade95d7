// The configuration of a host that stays, read again: when a file of it changes, on SIGHUP, when a command has read
// another one, and when somebody asks for it. What is valid is applied at once, without touching the servers that it
// does not change; what is not leaves everything as it was, but for what it forbids in parts that can be read
// (stricter.hpp), and why is told to who asks for the state.
//
// Owns:    what is watched, and what was in force before. Borrows the host and the switch.
// Threads: [loop]. Reading files is done here: it takes milliseconds, and nothing may be judged meanwhile by
//          half of it.
// Errors:  told on stderr, and in kept().
// Limits:  those of ReadingPace and InForce, which decide when files are read and what becomes of what they say.
#pragma once

#include "app/host.hpp"
#include "app/in_force.hpp"
#include "app/path_watch.hpp"
#include "app/reading_pace.hpp"
#include "app/server_switch.hpp"
#include "core/timer.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

class Reload {
public:
    using Applied = std::function<void(const Result<registry::Plan>& applied)>;

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
    const std::string& next_start() const { return in_force_.now().next_start; }
    // Why the host does not run by that; empty: it was never given it.
    std::string kept(const std::string& digest) const {
        return digest.empty() || in_force_.was_kept(digest) ? in_force_.kept() : std::string();
    }

private:
    using Snapshot = InForce::Snapshot;

    void read_after_pause();
    void read_now();
    bool is_put_off();
    ReadingPace::Others what_others_do();
    void take(const Snapshot& read);
    Result<registry::Plan> move_or_keep(const Snapshot& read, std::string digest,
                                        std::string_view cause);
    Result<registry::Plan> move_to(const Snapshot& read, const std::string& digest,
                                   std::string_view cause);
    Error keep(std::string why, std::string digest, std::string_view cause);
    void forbid_what_is_said(const registry::Snapshot& read);
    void take_back_what_was_forbidden();
    bool move_beside(const Snapshot& target);

    Host& host_;
    ServerSwitch& switch_;
    const config::Environment environment_;
    const std::string state_directory_;
    const std::function<void(const std::string&)> say_;
    const std::function<void(const std::vector<std::string>&)> applied_;
    InForce in_force_;
    bool is_stricter_ = false;  // than what is in force: for what is forbidden by now
    ReadingPace pace_;
    std::vector<Applied> waiting_;
    core::Timer pause_;
    core::Timer patience_;  // with those who have a file open
    PathWatch watch_;
};

}  // namespace patchbay::app
