// Asks a person on the terminal what a server's elicitation form wants, one line a property. Reads
// /dev/tty on the loop, so nothing else waits for the person. Without a terminal every form is
// declined.
//
// Owns:    the terminal's descriptor while a form is open. Threads: [loop].
// Source:  MCP client/elicitation, form mode.
#pragma once

#include "core/loop.hpp"

#include <boost/json.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace patchbay::app {

class TerminalAsker {
public:
    using Answer = std::function<void(std::optional<boost::json::object>)>;

    ~TerminalAsker();
    void use(core::Loop& loop) { loop_ = &loop; }
    void ask(const std::string& server, const boost::json::object& params, Answer answer);

private:
    struct Form {
        std::string server, message;
        boost::json::value schema;
        std::deque<std::string> properties;  // still to be asked
        boost::json::object content;
        Answer answer;
    };

    void begin();
    void prompt();
    void on_line(const std::string& line);
    void end(bool accepted);

    core::Loop* loop_ = nullptr;
    std::deque<Form> forms_;
    int terminal_ = -1;
    core::Loop::WatchId watch_ = 0;
    std::string typed_;
};

}  // namespace patchbay::app
