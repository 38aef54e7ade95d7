// `patchbay serve` over stdio with a host that runs: what the client writes goes there as it comes, and what the host
// answers goes to the client as it came.
//
// Borrows the session and the line to the host.
// Threads: [loop].
// Errors:  a message that is too long is answered here, in the same words as there. A host that has gone while the
//          client is there, or says nothing for kLook and greets nobody either, is Unavailable.
// Limits:  what either side does not take makes us read no more from the other.
#pragma once

#include "app/host_line.hpp"
#include "app/line_input.hpp"
#include "app/line_output.hpp"
#include "app/session.hpp"
#include "core/timer.hpp"

#include <chrono>

namespace patchbay::app {

class ClientRelay {
public:
    static constexpr std::chrono::seconds kLook{5};

    ClientRelay(Session& session, HostLine& line);
    int run();

private:
    void advance();
    void look_later();
    bool over() const;

    Session& session_;
    HostLine& line_;
    LineInput input_;
    LineOutput output_;
    core::Timer look_;
    bool heard_ = false;  // since the last look
    bool sent_all_ = false, silent_ = false, interrupted_ = false;
};

}  // namespace patchbay::app
