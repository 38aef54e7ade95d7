// The process: one poll loop, its timers, and a Session for each client.
//
// Owns:    sessions, timers, the listening socket. Threads: one.
// Errors:  what makes serving impossible ends the process with a line on stderr.
#pragma once

#include "example/options.hpp"
#include "example/session.hpp"
#include "example/tools.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace example {

class Server {
public:
    using Clock = std::chrono::steady_clock;
    using TimerId = std::pair<Clock::time_point, std::uint64_t>;

    explicit Server(Options options);
    int run();  // until stdin ends (stdio) or a signal ends the process (tcp)

    const Options& options() const { return options_; }
    ToolShelf& tools() { return tools_; }

    TimerId after(std::chrono::milliseconds wait, std::function<void()> what);
    void cancel(TimerId timer) { timers_.erase(timer); }

    // Tells every client that wants to know.
    void tell_tools_changed();
    void tell_updated(std::string_view uri);

private:
    void listen();
    void accept();
    void poll_once();
    void run_timers();

    Options options_;
    ToolShelf tools_;
    int listen_fd_ = -1;
    std::vector<std::unique_ptr<Session>> sessions_;
    std::map<TimerId, std::function<void()>> timers_;
    std::uint64_t next_timer_ = 0;
};

}  // namespace example
