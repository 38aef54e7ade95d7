// A command's connection to the host that runs: a greeting, then lines both ways.
//
// Owns:    the socket. Borrows the loop.
// Threads: [loop].
// Errors:  Timeout, Unsupported, or what the host refuses us with; open() has them all. Later there is but one:
//          the host has gone.
// Limits:  kLineBytes: a host that writes a longer line is taken for gone.
#pragma once

#include "app/hello.hpp"
#include "app/line_output.hpp"
#include "app/meeting_point.hpp"
#include "core/descriptor.hpp"
#include "core/loop.hpp"
#include "core/watch.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::app {

class HostLine {
public:
    static constexpr std::size_t kLineBytes = 256u << 20;

    // Waits for the welcome, for `most` at most.
    static Result<std::unique_ptr<HostLine>> open(core::Loop& loop, MeetingPoint place,
                                                  core::Descriptor socket, const Hello& hello,
                                                  std::chrono::milliseconds most);
    HostLine(const HostLine&) = delete;

    const Welcome& welcome() const { return welcome_; }
    const MeetingPoint& place() const { return place_; }
    // `said`: each line, good within the call. `changed`: the host takes more lines again, or has gone.
    void listen(std::function<void(std::string_view line)> said, std::function<void()> changed);
    void put(std::string line) { out_.put(std::move(line)); }
    void end_input();         // nothing more is sent, behind what was put
    void pause(bool paused);  // nothing is read meanwhile
    bool crowded() const { return out_.crowded(); }
    bool gone() const { return gone_; }

    // In the middle of a loop's callback: `said` hears of what comes until `done`, or `most` is over.
    // False: it is not done.
    bool read_until(const std::function<bool()>& done, std::chrono::milliseconds most);

private:
    HostLine(core::Loop& loop, MeetingPoint place, core::Descriptor socket);
    bool read();  // what is there; false: nothing
    void hand_on();
    void leave();
    void on_relieved();

    core::Loop& loop_;
    const MeetingPoint place_;
    core::Descriptor socket_, writing_;  // one for each watch
    core::Watch watch_{loop_};
    LineOutput out_;
    Welcome welcome_;
    std::string buffer_;
    std::size_t taken_ = 0, scanned_ = 0;
    std::function<void(std::string_view)> said_;
    std::function<void()> changed_;
    bool paused_ = false, gone_ = false, ending_ = false;
};

}  // namespace patchbay::app
