// `patchbay serve`: the client that started us, on stdin and stdout (client_lines.hpp).
//
// Borrows the session.
// Threads: [loop].
// Errors:  as ClientLines has them.
#pragma once

#include "app/client_lines.hpp"
#include "app/line_input.hpp"
#include "app/session.hpp"
#include "core/timer.hpp"

namespace patchbay::app {

class StdioListener {
public:
    StdioListener(Session& session, gateway::View view);
    int run();

private:
    void look();
    void hurry();

    Session& session_;
    LineInput input_;
    core::Timer last_answers_;
    bool ending_ = false;  // nothing more will be asked
    ClientLines client_;
};

}  // namespace patchbay::app
