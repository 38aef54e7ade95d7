// Where what a session says to its client goes: a listener implements it.
//
// Threads: [loop].
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace patchbay::gateway {

// What a message came with, and what is about it goes back by; 0: the client itself, by whatever way
// there is. Of one listener; a line of stdin and stdout is always the client itself.
using Route = std::uint64_t;

// One whole JSON-RPC message that answers.
struct Answer {
    std::string message;
    std::optional<std::int64_t> error = {};  // its code; none: it is a result
    bool nameless = false;                   // an error about what had no id that could be read
};

class Outward {
public:
    // To one that came by that route.
    virtual void answer(Answer answer, Route to) = 0;
    // What must arrive as an answer must, and is none: that a question is withdrawn. A whole message, as
    // are a question and an event.
    virtual void say(std::string message, Route to) = 0;
    // A question of a server's, `from`. False: the client does not read what it was told, and is asked
    // nothing more; a server that asks and withdraws, and asks again, would be kept without end.
    virtual bool send_question(const std::string& from, std::string message, Route to) = 0;
    // A notification that may be dropped while the client does not read. `from`: whose it is.
    virtual void send_event(const std::string& from, std::string message, Route to) = 0;
    // Whether what goes to the client itself, and is about no request, reaches it now.
    virtual bool listens() const { return true; }
    // No answer will come to what came by that route: its client wants none.
    virtual void leave_unanswered(Route to) = 0;

protected:
    ~Outward() = default;
};

}  // namespace patchbay::gateway
