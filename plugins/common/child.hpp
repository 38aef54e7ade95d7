// One child process of a channel, through patchbay.host.process/1: started, what it writes for
// people passed on, ended with its whole tree. What stdio and tcp (with `command`) share.
//
// Owns:    the descriptors of its output for people, and stdin until it is given away. Borrows core
//          and listener.
// Threads: inside a turn of the core; start() and stop() on any thread.
// Errors:  start() throws sdk::Failure with the host's text.
#pragma once

#include "channel_core.hpp"
#include "text_lines.hpp"

#include <patchbay/cpp/json.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace patchbay::transport {

class Child {
public:
    class Listener {
    public:
        // Program and descendants are gone, and what it wrote to stderr was passed on. On the
        // reactor's thread.
        virtual void child_exited() = 0;

    protected:
        ~Listener() = default;
    };
    enum class Stdout { Messages, ForPeople };

    Child(ChannelCore& core, Listener& listener);
    ~Child();
    Child(const Child&) = delete;

    // command, args, cwd, env, pass_env of the config; environment credentials are added to env.
    void start(const sdk::Config& config, const patchbay_kv* credentials, std::size_t count,
               Stdout use);
    int take_stdin() { return std::exchange(stdin_, -1); }
    // Only of a child started with Stdout::Messages.
    int take_stdout() { return std::exchange(stdout_.fd, -1); }

    bool running() const { return op_ != 0; }
    // Closes stdin if it is still ours; then as the service says.
    void stop(std::chrono::milliseconds grace);
    // After child_exited(): "server process exited with code 3".
    std::string describe_exit() const;
    // It left by itself, not because stop() made it.
    bool left_by_itself() const;

private:
    struct Output {
        Child* child = nullptr;
        std::uint32_t stream = 0;
        int fd = -1;
        patchbay_op watch = 0;
        TextLines lines{};
    };

    static void on_started(void* self, std::int64_t pid) noexcept;
    static void on_exited(void* self, std::int32_t code) noexcept;
    static void on_exit_posted(void* self) noexcept;
    static void on_output(void* output, std::uint32_t events) noexcept;

    void follow(Output& output);
    bool read(Output& output);
    void drain(Output& output);
    void close(Output& output);
    void leave();

    ChannelCore& core_;
    Listener& listener_;
    const patchbay_host_process* const process_;
    patchbay_op op_ = 0;
    int stdin_ = -1;
    Output stdout_, stderr_;
    std::int32_t code_ = 0;
    std::chrono::steady_clock::time_point exited_at_{};
    // When stop() makes the program leave: until then it does so by itself.
    std::chrono::steady_clock::time_point forced_at_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace patchbay::transport
