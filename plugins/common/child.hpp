// One child process of a channel: a server's program by the keys of its config, and what it writes
// for people passed on. What stdio and tcp (with `command`) share.
//
// Owns:    the program. Borrows core and listener.
// Threads: as Program.
// Errors:  start() throws sdk::Failure with the host's text.
#pragma once

#include "program.hpp"
#include "text_lines.hpp"

#include <patchbay/cpp/json.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::transport {

class Child final : private Program::Listener {
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

    // command, args, cwd, env, pass_env of the config; environment credentials are added to env.
    void start(const sdk::Config& config, const patchbay_kv* credentials, std::size_t count,
               Stdout use);
    int take_stdin() { return program_.take_stdin(); }
    // Only of a child started with Stdout::Messages.
    int take_stdout() { return program_.take_stdout(); }

    bool running() const { return program_.running(); }
    // Closes stdin if it is still ours; then as the service says.
    void stop(std::chrono::milliseconds grace) { program_.stop(grace); }
    // What the transport has read of its stdout, for limits.output_bytes.
    void count_output(std::size_t bytes);
    // After child_exited(): "server process exited with code 3".
    std::string describe_exit() const;
    // The key of its limits that ended it; empty: none did.
    std::string_view limit_reached() const;
    // It left by itself, not because stop() made it.
    bool left_by_itself() const { return program_.left_by_itself(); }

private:
    void program_runs(std::int64_t pid) override;
    void program_wrote(Program::Output output, std::string_view text) override;
    void program_closed(Program::Output output) override;
    void program_exited() override;
    std::string describe_limit() const;
    void show(Program::Output output, std::string_view line);

    ChannelCore& core_;
    Child::Listener& listener_;
    Program program_;
    TextLines lines_[2];
    std::map<std::string, std::uint64_t> limits_;  // as configured, those that are there
    std::uint64_t written_ = 0;                    // since start()
    bool output_exceeded_ = false;
};

}  // namespace patchbay::transport
