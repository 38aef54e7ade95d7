// Runs a program that prints headers as one JSON object, and reads them, with a time limit.
//
// Owns:    the program. Borrows core and listener.
// Threads: inside a turn of the core. The listener is told on the reactor's thread, inside a turn.
// Errors:  told to the listener, with the last line of stderr; never what stdout said.
// Limits:  kLimit, 64 KiB of output.
#pragma once

#include "program.hpp"
#include "text_lines.hpp"
#include "timer.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace patchbay::bearer {

class HeaderCommand final : private transport::Program::Listener {
public:
    static constexpr std::chrono::seconds kLimit{10};

    class Listener {
    public:
        // One of them, once for each start().
        virtual void headers_came(std::map<std::string, std::string> headers) = 0;
        virtual void command_failed(patchbay_status code, const std::string& why) = 0;

    protected:
        ~Listener() = default;
    };

    HeaderCommand(transport::ChannelCore& core, Listener& listener);

    // The headers in what a program printed, which is one JSON object of text and nothing behind it;
    // empty: it is not. Any thread.
    static std::map<std::string, std::string> headers_in(const std::string& printed);

    bool running() const { return running_; }
    // Not while it runs. Throws sdk::Failure when the program cannot be started.
    void start(const std::vector<std::string>& argv);
    // Ends it; the listener is told E_CANCELLED.
    void stop();

private:
    void program_wrote(transport::Program::Output output, std::string_view text) override;
    void program_closed(transport::Program::Output output) override;
    void program_exited() override;
    void kill(patchbay_status code, std::string why);

    Listener& listener_;
    transport::Program program_;
    transport::Timer limit_;
    std::string name_;
    bool running_ = false;  // until the listener was told
    std::string printed_;
    transport::TextLines stderr_lines_;
    std::string last_line_;                   // of stderr
    patchbay_status why_code_ = PATCHBAY_OK;  // why it was killed
    std::string why_;
};

}  // namespace patchbay::bearer
