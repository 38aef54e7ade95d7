#include "app/host_silence.hpp"

#include "app/look_for_host.hpp"

#include <utility>

namespace patchbay::app {

HostSilence::HostSilence(const Session& session, const HostLine& line, std::function<void()> silent)
    : session_(session), line_(line), told_(std::move(silent)), look_(session.host().loop()) {}

void HostSilence::begin() {
    look_.start(kLook, [this] {
        if (line_.gone()) return;
        if (std::exchange(heard_, false) || still_answers(session_, line_)) return begin();
        silent_ = true;
        told_();
    });
}

std::string lost_host(const HostLine& line) {
    return "the running host (pid " + std::to_string(line.welcome().pid) + ") " +
           (line.gone() ? "has gone" : "does not answer");
}

}  // namespace patchbay::app
