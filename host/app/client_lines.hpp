// One MCP client on a line of JSON-RPC messages each way: the one that started us, on stdin and stdout, or one at the
// socket of a host that runs. Nothing else is written there.
//
// Owns:    the client's session. Borrows the host and the input.
// Threads: [loop].
// Errors:  a line that is no message is answered with an error; the rest goes on.
// Limits:  LineInput and LineOutput. While the client does not read what it was sent, nothing more is read of what it
//          sends.
// Source:  MCP basic/transports of each revision.
#pragma once

#include "app/host.hpp"
#include "app/line_input.hpp"
#include "app/line_output.hpp"
#include "core/lifetime.hpp"
#include "gateway/client_session.hpp"
#include "gateway/outward.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace patchbay::app {

class ClientLines final : gateway::Outward {
public:
    // Behind the end of the input what was asked may take as long.
    static constexpr std::chrono::seconds kLastAnswers{2};

    enum class Others { None, MayCome };  // clients of the same host
    struct Parts {
        Host& host;
        LineInput& input;
        LineOutput::To output;
        gateway::View view;
        Others others = Others::None;
        // Something may have changed that its owner looks at; also from inside begin().
        std::function<void()> changed;
    };
    explicit ClientLines(Parts parts);

    void begin();
    void line(std::string text) { output_.put(std::move(text)); }  // that is no message
    void end_streams() { client_.end_streams(); }
    void show(gateway::View view) { client_.show(std::move(view)); }
    void finish(std::chrono::milliseconds most) { output_.finish(most); }

    bool input_over() const { return input_.over(); }
    // All that was asked is answered, and written.
    bool over() const { return (done_ && output_.written()) || output_.lost(); }
    bool failed() const { return input_.failed() || output_.lost(); }
    std::size_t waiting() const { return output_.waiting(); }  // bytes for who reads the answers
    void advance();  // what became possible: more lines, the end

private:
    void answer(gateway::Answer answer, gateway::Route) override {
        send(std::move(answer.message));
    }
    void say(std::string message, gateway::Route) override { send(std::move(message)); }
    bool send_question(const std::string& from, std::string message, gateway::Route) override {
        return output_.put_bounded(from, std::move(message));
    }
    void send_event(const std::string& from, std::string message, gateway::Route) override {
        output_.put_event(from, std::move(message));
    }
    void leave_unanswered(gateway::Route) override {}
    void send(std::string message);

    core::Loop& loop_;
    LineInput& input_;
    const std::function<void()> changed_;
    LineOutput output_;
    gateway::ClientSession client_;
    bool done_ = false;  // nothing is owed but what is not written
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
