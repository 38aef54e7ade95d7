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

// How a program ended by itself, or was ended. One of the two numbers, where its transport has told.
struct Exit {
    std::optional<int> code, signal;
    std::string limit;  // the key of its `limits` that ended it; empty: none
    std::chrono::system_clock::time_point at{};
    bool operator==(const Exit&) const = default;
};

std::string signal_name(int signal);      // "SIGKILL"; empty: it has none
std::string to_string(const Exit& exit);  // "killed by SIGKILL", "exit code 3"

// What a server has cost since the host has started it first, over all its connections.
struct Cost {
    std::uint64_t calls = 0;  // of tools, as sent
    std::uint64_t sent_bytes = 0, received_bytes = 0;
    std::chrono::milliseconds cpu{0};
    std::uint64_t peak_memory_bytes = 0;     // the largest of its programs at any time
    std::vector<std::int64_t> running = {};  // process ids of those that are not in it yet
    bool operator==(const Cost&) const = default;
};
// With what those have used that still run. Reads /proc, so it is for who tells a cost, and not for who looks at a
// state.
Cost cost_by_now(Cost cost);
inline constexpr std::uint64_t kMostCpuMs = 1ull << 45;  // of one program: a thousand years

// Of a server that is on its way.
struct Starting {
    std::chrono::milliseconds taken{0}, limit{0};
    std::string last_said;  // on stderr, printable; empty: nothing yet
    bool queued = false;    // others start first
    bool operator==(const Starting&) const = default;
};
// `starting, 12 s, last said on stderr: added 42 packages`
std::string to_string(const Starting& starting);

// One of several to the same server.
struct OneOfStatus {
    std::string use;  // "shared", "own", "spare"
    State state = State::Idle;
    std::string last_error;                    // printable
    std::map<std::string, std::string> facts;  // as those of Status
};

// Something that it lists otherwise than somebody approved it.
struct Departure {
    std::string list;   // "tools", "prompts", "resourceTemplates", "instructions"
    std::string name;   // the server's own, any text; of instructions empty
    std::string state;  // "changed", "new", "renamed", "unknown"
    std::string why;    // behind its name
    bool blocked = false;
    bool operator==(const Departure&) const = default;
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
    std::optional<Starting> starting;
    std::optional<Exit> last_exit;
    Cost cost;
    std::uint64_t stray_lines = 0, malformed = 0, late_answers = 0;
    // What it lists otherwise than it did, of each list the last time that it did.
    std::vector<catalogue::Drift> drifts;
    // And what it lists otherwise than somebody approved it; of many the first, the others are counted.
    std::vector<Departure> departures;
    std::size_t more_departures = 0;
    std::vector<std::string> notes;  // tools left out or mended, and why
    // Where there are several: each of them. What stands above is then that of the best, and the
    // counts are those of all.
    std::vector<OneOfStatus> connections;
};

// The same with every known secret masked in what others say: the server, its transport, errors.
// Whoever makes a Status passes it through here, so that none of its readers has to.
Status masked(Status status);

// What another connection of the same server has counted, beside what stands there: restarts, messages that were none,
// what it has cost, and the later of two ends.
void add_counts(Status& all, const Status& one);

// Why a server in this state gives nothing: what went wrong last, else the state itself.
Error why_not_ready(const Status& status);

}  // namespace patchbay::connection
