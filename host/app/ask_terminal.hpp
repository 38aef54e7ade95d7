// Asks a person on the terminal: what a server's elicitation form wants, one line a property (of a
// form without any, yes or no), or a line of our own. Reads /dev/tty on the loop, so nothing else
// waits for the person. Without a terminal, or when it goes, everything is declined.
//
// Owns:    the terminal's descriptor while something is asked. Threads: [loop].
// Source:  MCP client/elicitation, form mode.
#pragma once

#include "core/first_few.hpp"
#include "core/loop.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace patchbay::app {

class TerminalAsker {
public:
    using Answer = std::function<void(std::optional<boost::json::object>)>;
    using Line = std::function<bool(std::optional<std::string>)>;  // false: another one, please

    // `stdin_will_do`: lines are read from stdin when there is no terminal.
    explicit TerminalAsker(bool stdin_will_do = false) : stdin_will_do_(stdin_will_do) {}
    ~TerminalAsker();
    void use(core::Loop& loop) { loop_ = &loop; }
    static bool has_terminal();

    // The number of the form; 0: it was declined at once.
    std::uint64_t ask(const std::string& server, const boost::json::object& params, Answer answer);
    // One line; `heading` may be empty. Never 0.
    std::uint64_t ask_line(const std::string& heading, const std::string& prompt, Line line);
    void withdraw(std::uint64_t id);  // its answer never comes

private:
    struct Form {
        std::uint64_t id = 0;
        std::string server{};  // that asks; empty: we do
        std::string heading{};
        boost::json::object schema{};
        std::deque<std::string> properties{};  // still to be asked
        bool yes_or_no = false;  // without properties: what it says is all there is to accept
        boost::json::object content{};
        Answer answer{};
        std::string line_prompt{};
        Line line{};  // set: one line is asked, and no form
    };

    struct Past {                // of one server
        core::FirstFew told{};   // notes about it
        unsigned withdrawn = 0;  // questions, since a person answered the last one
    };

    static void note(const std::string& server, Past& past, const std::string& what);
    void add(Form form);
    void begin();
    bool open_terminal();
    void readable();
    void prompt();
    void on_line(const std::string& line);
    void end(bool accepted, const std::string& line = {});
    void next();

    const bool stdin_will_do_;
    core::Loop* loop_ = nullptr;
    std::deque<Form> forms_;
    std::map<std::string, Past> past_;  // by server
    std::uint64_t last_ = 0;
    int terminal_ = -1;
    core::Loop::WatchId watch_ = 0;
    std::string typed_;
};

}  // namespace patchbay::app
