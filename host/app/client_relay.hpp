// `patchbay serve` over stdio with a host that runs: what the client writes goes there as it comes, and what the host
// answers goes to the client as it came.
//
// Borrows the session and the line to the host.
// Threads: [loop].
// Errors:  a message that is too long is answered here, in the same words as there. A host that has gone while the
//          client is there, or is silent (HostSilence), is Unavailable.
// Limits:  what either side does not take makes us read no more from the other.
#pragma once

#include "app/host_line.hpp"
#include "app/host_silence.hpp"
#include "app/line_input.hpp"
#include "app/line_output.hpp"
#include "app/session.hpp"

namespace patchbay::app {

class ClientRelay {
public:
    ClientRelay(Session& session, HostLine& line);
    int run();

private:
    void advance();
    bool over() const;

    Session& session_;
    HostLine& line_;
    LineInput input_;
    LineOutput output_;
    HostSilence silence_;
    bool sent_all_ = false, interrupted_ = false;
};

}  // namespace patchbay::app
