// What can be said of one server's connections at one moment; plain values for status views.
//
// Threads: [value].
#pragma once

#include "catalogue/drift.hpp"
#include "config/config.hpp"
#include "core/result.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::connection {

// Design section 7.
enum class State {
    Disabled,
    Idle,
    Connecting,
    AuthRequired,
    Ready,
    Error,
    Reconnecting,
    Stopped,
    Failed,
    Untrusted  // of a checkout, and nobody has approved it: there is no connection
};
// Why a server in this state, which is not Ready, gives nothing.
ErrorCode refusal_of(State state);
const char* name_of(State state);  // "auth_required"; Idle (configured, not asked for) is "idle"

// One of several to the same server.
struct OneOfStatus {
    std::string use;  // "shared", "own", "spare"
    State state = State::Idle;
    std::string last_error;                    // printable
    std::map<std::string, std::string> facts;  // as those of Status
};

struct Status {
    std::string id, transport;
    std::string fallback_from;  // the configured transport, when another one is in use
    config::Place place;
    bool enabled = true;
    State state = State::Idle;
    std::string last_error;  // printable
    std::optional<std::chrono::system_clock::time_point> last_connected;
    std::string protocol;                                   // revision; empty: none yet
    std::string server_name, server_version, instructions;  // printable, as they say
    std::vector<std::string> capabilities;
    std::optional<std::size_t> tools;  // none: it has not listed them yet
    std::string tools_error;           // printable; why some or all are missing, empty: none is
    unsigned restarts = 0;
    std::size_t pending = 0;
    std::map<std::string, std::string> facts;  // "pid", "peer", "trouble"
    std::uint64_t stray_lines = 0, malformed = 0, late_answers = 0;
    // What it lists otherwise than it did, of each list the last time that it did.
    std::vector<catalogue::Drift> drifts;
    std::vector<std::string> notes;  // tools left out or mended, and why
    // Where there are several: each of them. What stands above is then that of the best, and the
    // counts are those of all.
    std::vector<OneOfStatus> connections;
};

// The same with every known secret masked in what others say: the server, its transport, errors.
// Whoever makes a Status passes it through here, so that none of its readers has to.
Status masked(Status status);

// Why a server in this state gives nothing: what went wrong last, else the state itself.
Error why_not_ready(const Status& status);

}  // namespace patchbay::connection
