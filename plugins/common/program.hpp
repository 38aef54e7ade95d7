// One program beside a channel, through patchbay.host.process/1: started, what it writes read as it
// comes, ended with its whole tree. What a server's child and a command that prints headers share.
//
// Owns:    the descriptors, until one is taken away. Borrows core and listener.
// Threads: inside a turn of the core; start() and stop() on any thread. The listener is told on the
//          reactor's thread, inside a turn.
// Errors:  start() throws sdk::Failure with the host's text.
#pragma once

#include "channel_core.hpp"

#include <patchbay/services.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::transport {

class Program {
public:
    enum Output : std::size_t { kStdout, kStderr };
    enum class Stdout { Ours, Taken };  // Taken: whoever started it reads it

    class Listener {
    public:
        virtual void program_runs(std::int64_t pid) { static_cast<void>(pid); }
        virtual void program_wrote(Output output, std::string_view text) = 0;
        // It will write no more there.
        virtual void program_closed(Output output) { static_cast<void>(output); }
        // It and its descendants are gone, and all they wrote was told.
        virtual void program_exited() = 0;

    protected:
        ~Listener() = default;
    };

    struct Launch {
        std::vector<std::string> argv;
        std::string cwd;
        std::vector<patchbay_kv> env;  // borrowed names and values
        std::uint32_t flags = 0;       // PATCHBAY_PROCESS_*
        int reads_a_round = 1;         // of 16 KiB: noise has no precedence
        struct {
            std::uint64_t memory_bytes = 0, cpu_seconds = 0, processes = 0, files = 0;
        } limits = {};  // 0: not bounded
    };

    Program(ChannelCore& core, Listener& listener);
    ~Program();
    Program(const Program&) = delete;

    void start(const Launch& launch, Stdout use);
    int take_stdin() { return std::exchange(stdin_, -1); }
    int take_stdout() { return std::exchange(outputs_[kStdout].fd, -1); }  // when it is Taken
    // Nothing more of it is read. On the reactor's thread.
    void ignore(Output output) { close(outputs_[output]); }

    bool running() const { return op_ != 0; }
    // Closes stdin if it is still ours; then as the service says.
    void stop(std::chrono::milliseconds grace);
    // After program_exited(): 0..255, or 256 + signal.
    std::int32_t code() const { return code_; }
    // What it has used; `struct_size` 0: the host does not say.
    const patchbay_process_usage& usage() const { return usage_; }
    // It left by itself, not because stop() made it.
    bool left_by_itself() const;

private:
    struct Pipe {
        Program* program = nullptr;
        Output output = kStdout;
        int fd = -1;
        patchbay_op watch = 0;
    };

    static void on_started(void* self, std::int64_t pid) noexcept;
    static void on_exited(void* self, std::int32_t code) noexcept;
    static void on_exit_posted(void* self) noexcept;
    static void on_readable(void* pipe, std::uint32_t events) noexcept;

    void learn_usage();
    void follow(Pipe& pipe);
    bool read(Pipe& pipe);
    void drain(Pipe& pipe);
    void close(Pipe& pipe);
    void leave();

    ChannelCore& core_;
    Listener& listener_;
    const patchbay_host_process* const process_;
    patchbay_op op_ = 0;
    int stdin_ = -1;
    Pipe outputs_[2];
    int reads_a_round_ = 1;
    std::int32_t code_ = 0;
    patchbay_process_usage usage_{};
    Clock::time_point exited_at_{};
    // When stop() makes the program leave: until then it does so by itself.
    Clock::time_point forced_at_ = Clock::time_point::max();
};

}  // namespace patchbay::transport
