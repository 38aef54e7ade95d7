// One child process of a channel, through patchbay.host.process/1: started, its stderr read, ended
// with its whole tree. What stdio and tcp (with `command`) share.
//
// Owns:    the stderr descriptor. Borrows host, sink, listener.
// Threads: as the channel that holds it.
// Errors:  start() throws sdk::Failure with the host's text.
#pragma once

#include <cstdint>
#include <string>

#include <patchbay/cpp/json.hpp>
#include <patchbay/cpp/plugin.hpp>

namespace patchbay::transport {

class Child {
public:
    class Listener {
    public:
        // Program and descendants are gone; 0..255, or 256 + signal.
        virtual void child_exited(int code) = 0;

    protected:
        ~Listener() = default;
    };

    Child(const patchbay_host* host, sdk::Sink sink, Listener& listener);
    ~Child();
    Child(const Child&) = delete;

    // command, args, cwd, env of the config; environment credentials are added to env.
    void start(const sdk::Config& config, const patchbay_kv* credentials, std::size_t count);
    bool running() const { return op_ != 0; }
    // After start(); the caller closes them (or gives them to a LineStream).
    int stdin_fd = -1, stdout_fd = -1;

    void stop(unsigned grace_ms);
    void drain_stderr();

private:
    static void on_started(void* self, std::int64_t pid) noexcept;
    static void on_exited(void* self, std::int32_t code) noexcept;
    static void on_stderr(void* self, std::uint32_t events) noexcept;
    bool read_stderr();
    void close_stderr();

    const patchbay_host* host_;
    const patchbay_host_reactor* reactor_;
    const patchbay_host_process* process_;
    sdk::Sink sink_;
    Listener& listener_;
    patchbay_op op_ = 0, stderr_watch_ = 0;
    int stderr_fd_ = -1;
    std::string line_;  // begun and not ended
};

// "exited with code 3", "was killed by signal 9 (SIGKILL)"
std::string describe_exit(int code);

}  // namespace patchbay::transport
