// `patchbay serve`: the client that started us, on stdin and stdout. Stdout has JSON-RPC messages and
// nothing else.
//
// Borrows the session.
// Threads: [loop].
// Errors:  a line that is no message is answered with an error; the rest goes on.
// Limits:  LineInput and LineOutput. While the client does not read what it was sent, nothing more is
//          read of what it sends. Behind the end of the input what was asked may take kLastAnswers.
// Source:  MCP basic/transports of each revision.
#pragma once

#include "app/line_input.hpp"
#include "app/line_output.hpp"
#include "app/session.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "gateway/client_session.hpp"
#include "gateway/outward.hpp"

#include <string>

namespace patchbay::app {

class StdioListener final : gateway::Outward {
public:
    static constexpr std::chrono::seconds kLastAnswers{2};

    StdioListener(Session& session, gateway::View view);
    int run();

private:
    void answer(gateway::Answer answer, gateway::Route) override {
        send(std::move(answer.message));
    }
    void say(std::string message, gateway::Route) override { send(std::move(message)); }
    bool send_question(const std::string& from, std::string message, gateway::Route) override {
        return output_.put_bounded(from, std::move(message));
    }
    void send_event(const std::string& from, std::string message, gateway::Route) override;
    void leave_unanswered(gateway::Route) override {}
    void send(std::string message);
    void advance();  // what became possible: more lines, the end
    void hurry();

    Session& session_;
    LineInput input_;
    LineOutput output_;
    gateway::ClientSession client_;
    core::Timer last_answers_;
    bool ending_ = false;  // nothing more will be asked
    bool done_ = false;    // and nothing is owed but what is not written
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
