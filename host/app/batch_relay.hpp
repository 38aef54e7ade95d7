// `patchbay batch` with a host that runs: lines go there as they come from FILE or stdin, and what it answers goes
// to stdout as it came.
//
// Borrows the session, the descriptor and the line to the host.
// Threads: [loop].
// Errors:  a line that is too long is answered here, in the same words as there. A host that has gone before its
//          last line, or is silent (HostSilence), is told of on stderr.
// Limits:  what either side does not take makes us read no more from the other; an interrupt leaves the host
//          kLastAnswers.
#pragma once

#include "app/batch_output.hpp"
#include "app/host_approvals.hpp"
#include "app/host_line.hpp"
#include "app/host_silence.hpp"
#include "app/line_input.hpp"
#include "app/session.hpp"
#include "core/timer.hpp"

#include <chrono>
#include <string_view>

namespace patchbay::app {

class BatchRelay {
public:
    static constexpr std::chrono::seconds kLastAnswers{5};

    BatchRelay(Session& session, int input, HostLine& line);
    int run();

private:
    void advance();
    void take(std::string_view answer);
    void interrupt();
    void fail();
    bool over() const { return (ended_ && output_.written()) || output_.lost(); }

    Session& session_;
    HostLine& line_;
    LineInput input_;
    BatchOutput output_;
    core::Timer last_answers_;
    HostSilence silence_;
    HostApprovals approvals_;
    bool sent_all_ = false, ended_ = false, failed_ = false, interrupted_ = false;
};

}  // namespace patchbay::app
