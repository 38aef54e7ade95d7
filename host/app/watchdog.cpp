#include "app/watchdog.hpp"

#include "app/verbs.hpp"
#include "plugin/current_call.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <limits>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {
namespace {

constexpr int kBeatMs = 200;     // between two questions to a loop that answers
constexpr long kAgainMs = 1000;  // of patience when a second signal has come

void put(const char* text) {
    static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
}

void raise_count(int fd) {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(fd, &one, sizeof one));
}

void take_count(int fd) {
    std::uint64_t count = 0;
    static_cast<void>(!::read(fd, &count, sizeof count));
}

}  // namespace

Watchdog::Watchdog(std::chrono::milliseconds limit)
    : limit_ms_(limit.count()), call_(plugin::current_call()) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    news_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (signals_ < 0 || wake_ < 0 || news_ < 0) return;
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    thread_ = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
    if (thread_.joinable()) {
        over_ = true;
        raise_count(news_);
        thread_.join();
    }
    for (const int fd : {signals_, wake_, news_})
        if (fd >= 0) ::close(fd);
}

unsigned Watchdog::take() {
    take_count(wake_);
    answered_ = asked_.load();
    const unsigned arrived = arrived_;
    return arrived - std::exchange(taken_, arrived);
}

void Watchdog::run() {
    while (watch_once()) {
    }
}

void Watchdog::set_due(Clock::time_point due) {
    if (due_.exchange(due) != due) raise_count(news_);
}

int Watchdog::until_due_ms() const {
    const auto due = due_.load();
    if (due == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, std::numeric_limits<int>::max()));
}

bool Watchdog::watch_once() {
    const bool watching = arrived_ != 0 || overdue();
    const auto begin = Clock::now();
    if (watching) {
        ++asked_;
        raise_count(wake_);
    }
    // Before the first signal or the due time this sleeps; after it, it looks at the loop with every
    // beat.
    for (;;) {
        pollfd polled[] = {{signals_, POLLIN, 0}, {news_, POLLIN, 0}};
        if (::poll(polled, 2, watching ? kBeatMs : until_due_ms()) < 0 && errno != EINTR)
            return false;
        // Only then what the news is: taken after it, that of the end would be taken unseen.
        if (polled[1].revents) take_count(news_);
        if (over_) return false;
        if (polled[0].revents) {
            signalfd_siginfo info{};
            while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
                if (hangups_apart_ && info.ssi_signo == SIGHUP) {
                    ++hangups_;
                    continue;
                }
                if (arrived_ == 0) first_ = static_cast<int>(info.ssi_signo);
                ++arrived_;
            }
            raise_count(wake_);
        }
        if (!watching || answered_ == asked_) return true;
        // The second signal means now.
        const long patience =
            arrived_ > 1 ? std::min(limit_ms_.load(), kAgainMs) : limit_ms_.load();
        if (Clock::now() - begin > std::chrono::milliseconds(patience)) give_up();
    }
}

void Watchdog::give_up() const {
    put("patchbay: the host hangs in ");
    plugin::write_call(STDERR_FILENO, call_);
    const bool asked = arrived_ != 0;
    put(asked ? "; it ends" : "; its time is over, it ends");
    put(" without waiting for it (plugins.hang_limit)\n");
    ::_exit(asked ? kInterrupted : kTimedOut);
}

}  // namespace patchbay::app
