// What a hostile server does, apart from how its transport frames it.
//
// A Misbehaviour is a function of the request: it names the steps that are taken in place of a good
// answer. The transport's framing (framing.cpp) alone knows how a step looks on the wire, so that one
// row of the table serves every transport, phase and era.
//
// Threads: [value].
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::hostile {

class Peer;

// Limits that the host is given for a drill, small enough that a flood of seconds exceeds each.
inline constexpr std::size_t kMessageBytes = 4u << 20;
inline constexpr std::size_t kListBytes = 6u << 20;
inline constexpr std::size_t kPagesPerList = 40;
inline constexpr std::size_t kServerRequests = 500;
inline constexpr std::size_t kToolsPerServer = 500;
inline constexpr std::size_t kFlood = 1'000;        // messages of one flood
inline constexpr std::size_t kDeepest = 1'000'000;  // levels of JSON
// Times that a server misbehaves which would go on for ever, had nobody a bound: then it is good.
inline constexpr std::size_t kTired = 3 * kPagesPerList;

enum class Transport { Stdio, Tcp, Http, Sse, Ws };
enum class Phase {
    Connect,  // in place of what sets the transport up: from the first byte on
    Begin,    // of initialize, or of server/discover
    List,     // of tools/list
    Call,     // of tools/call
    Idle      // unasked, beside or after a call that was answered
};
enum class Era { Legacy, Modern };  // 2025-11-25, 2026-07-28

inline constexpr Transport kTransports[] = {Transport::Stdio, Transport::Tcp, Transport::Http,
                                            Transport::Sse, Transport::Ws};
inline constexpr Phase kPhases[] = {Phase::Connect, Phase::Begin, Phase::List, Phase::Call,
                                    Phase::Idle};
inline constexpr Era kEras[] = {Era::Legacy, Era::Modern};

const char* name_of(Transport transport);  // "stdio"
const char* name_of(Phase phase);          // "connect"
const char* name_of(Era era);              // "2025-11-25"

struct Step {
    enum class Kind {
        Message,   // `text`, framed as one message
        Half,      // the first half of such a frame, and never another byte
        Endless,   // a frame that begins with `text` and goes on for as long as somebody reads
        Flood,     // `count` messages, made by `each` as they are read
        Raw,       // `text` in place of any frame
        RawFlood,  // the same, made by `each`
        Act,       // what `act` does, after all that was to be written before it
        Deaf,      // reads nothing more
        Close
    };
    Kind kind = Kind::Message;
    std::string text;
    std::function<std::string(std::size_t)> each;
    std::size_t count = 0;
    std::function<void(Peer&)> act = {};
};
using Steps = std::vector<Step>;

// The request that is misbehaved at. In the phases Connect and Idle nobody has asked: id is "1".
struct Asked {
    std::string method, id;  // the id as it came, raw JSON
    Phase phase = Phase::Connect;
    Era era = Era::Legacy;
    Transport transport = Transport::Stdio;
    std::string cell;         // its name in a URL
    std::string origin;       // of the server, for rows that redirect; empty: none
    std::string accept;       // ws: of the handshake
    std::string good_result;  // what a good server would say
    std::size_t nth = 1;      // time that this cell misbehaves
    std::string good() const;
    std::string result(std::string_view json) const;  // an answer with this result
    std::string error(std::string_view json) const;
};

// How the call to that server ends.
enum class Fate {
    Works,
    Fails,     // with an error that names the server, and not by running into a time-out
    TimesOut,  // the same, and only a time-out could tell
    // Idle alone: the calls work, or meet the end of the connection and name the server; the status
    // tells why it ended, or what was thrown away.
    Breaks
};

struct Misbehaviour {
    std::string name;  // of the row, and of the server in the host
    std::vector<Phase> phases;
    std::function<Steps(const Asked&)> act;
    // Of a call while the server misbehaves in one of these; in Idle Fails is Breaks.
    Fate fate = Fate::Fails;
    std::string says = {};                   // part of each error of Fails, but in Connect
    std::vector<Transport> transports = {};  // empty: all
    std::vector<Era> eras = {};              // empty: both
    // Where a cell differs from its row.
    struct Exception {
        std::vector<Transport> transports;  // empty: all
        std::vector<Phase> phases;          // empty: all
        std::vector<Era> eras;              // empty: both
        Fate fate;
        std::string says = {};
    };
    std::vector<Exception> exceptions = {};
    std::size_t most_calls = 1;  // that one call may become
    // Requests and connections that the cell may bring about: each of a flood once.
    std::size_t most_visits = kFlood;
    bool resumes = false;  // http: misbehaves at a GET that goes on after an event, too
};

struct Cell {
    const Misbehaviour* row = nullptr;
    Transport transport = Transport::Stdio;
    Phase phase = Phase::Begin;
    Era era = Era::Legacy;
    std::string name() const;  // "tcp NestedTooDeep initialize 2025-11-25"
    Fate fate() const;
    std::string says() const;
};

const std::vector<Misbehaviour>& misbehaviours();
// What is tried over this transport in this phase and era.
std::vector<Cell> cells_of(Transport transport, Phase phase, Era era);

}  // namespace patchbay::hostile
