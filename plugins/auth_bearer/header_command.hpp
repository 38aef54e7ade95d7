// Runs a program that prints headers as one JSON object, and reads them: patchbay.host.process/1
// with a time limit.
//
// Owns:    the child and its descriptors. Borrows core and listener.
// Threads: inside a turn of the core. The listener is told on the reactor's thread, inside a turn.
// Errors:  told to the listener, with the last line of stderr; never what stdout said.
// Limits:  kLimit, 64 KiB of output.
#pragma once

#include "channel_core.hpp"
#include "text_lines.hpp"
#include "timer.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace patchbay::bearer {

class HeaderCommand {
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
    ~HeaderCommand();
    HeaderCommand(const HeaderCommand&) = delete;

    bool running() const { return op_ != 0 || ended_; }
    // Not while it runs. Throws sdk::Failure when the program cannot be started.
    void start(const std::vector<std::string>& argv);
    // Ends it; the listener is told E_CANCELLED.
    void stop();

private:
    struct Output {
        HeaderCommand* command = nullptr;
        int fd = -1;
        patchbay_op watch = 0;
    };

    static void on_output(void* output, std::uint32_t events) noexcept;
    static void on_exited(void* self, std::int32_t code) noexcept;
    static void on_exit_posted(void* self) noexcept;

    void read(Output& output);
    void close(Output& output);
    void kill(patchbay_status code, std::string why);
    void finish();

    transport::ChannelCore& core_;
    Listener& listener_;
    const patchbay_host_process* const process_;
    std::string program_;
    patchbay_op op_ = 0;
    transport::Timer limit_{core_, [this] {
                                kill(PATCHBAY_E_TIMEOUT,
                                     "did not end within " + std::to_string(kLimit.count()) + " s");
                            }};
    bool ended_ = false;  // the program is gone, finish() follows
    Output stdout_, stderr_;
    std::string printed_;
    transport::TextLines stderr_lines_;
    std::string last_line_;  // of stderr
    std::int32_t code_ = 0;
    patchbay_status why_code_ = PATCHBAY_OK;  // why it was killed
    std::string why_;
};

}  // namespace patchbay::bearer
