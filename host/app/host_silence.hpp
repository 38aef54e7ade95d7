// Whether the host behind a line still is one: who says nothing for kLook, and greets nobody either, was stopped or
// hangs. It may just have nothing to say: a call lasts, or nobody has asked anything.
//
// Borrows the session and the line. Threads: [loop]. Errors: none; `silent` is told once.
#pragma once

#include "app/host_line.hpp"
#include "app/session.hpp"
#include "core/timer.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace patchbay::app {

class HostSilence {
public:
    static constexpr std::chrono::seconds kLook{5};

    HostSilence(const Session& session, const HostLine& line, std::function<void()> silent);
    void begin();
    void heard() { heard_ = true; }
    bool silent() const { return silent_; }

private:
    const Session& session_;
    const HostLine& line_;
    const std::function<void()> told_;
    core::Timer look_;
    bool heard_ = false;  // since the last look
    bool silent_ = false;
};

// `the running host (pid 7) has gone`, or `does not answer`.
std::string lost_host(const HostLine& line);

}  // namespace patchbay::app
