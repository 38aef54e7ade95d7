// Where what a session says to its client goes: a listener implements it.
//
// Threads: [loop].
#pragma once

#include <string>

namespace patchbay::gateway {

class Outward {
public:
    // One whole JSON-RPC message. An answer or a question always arrives.
    virtual void send(std::string message) = 0;
    // A notification that may be dropped while the client does not read. `from`: whose it is.
    virtual void send_event(const std::string& from, std::string message) = 0;

protected:
    ~Outward() = default;
};

}  // namespace patchbay::gateway
