// The only door to Boost.Asio. Timers are one heap over one Asio timer, armed only when the
// earliest deadline moves forward: a call with a 27 h limit costs no system call.
#include "core/loop.hpp"

#include "core/escapes.hpp"
#include "core/spin.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cassert>
#include <deque>
#include <queue>
#include <sched.h>
#include <thread>
#include <unordered_map>
#include <utility>

namespace patchbay::core {
namespace asio = boost::asio;

namespace {

constexpr unsigned kMostEscapes = 100;  // from one watch, which would go on for ever
constexpr unsigned kSampleOfWaits = 16;

// A poll on the only core would keep from it whoever is to answer.
bool has_another_core() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

// False: it threw. Costs nothing when it does not.
template <class Work>
bool contained(Work&& work) noexcept {
    try {
        work();
        return true;
    } catch (...) {
        note_escape("a callback of the loop");
        return false;
    }
}

// One watched descriptor. Asio waits are one-shot, so each is re-armed after its callback;
// `generation` tells a wait that was overtaken by modify() or unwatch() that nobody listens.
struct Watch : std::enable_shared_from_this<Watch> {
    Watch(asio::io_context& io, int fd, std::function<void(unsigned)> callback)
        : descriptor(io, fd), ready(std::move(callback)) {}
    // Only Asio's registration ends here: the descriptor number is the caller's.
    ~Watch() { descriptor.release(); }

    asio::posix::stream_descriptor descriptor;
    std::function<void(unsigned)> ready;
    unsigned wanted = 0;
    unsigned armed = 0;
    unsigned escapes = 0;
    bool gone = false;
};

struct Deadline {
    Clock::time_point when;
    Loop::TimerId id;
    bool operator>(const Deadline& other) const {
        return when != other.when ? when > other.when : id > other.id;
    }
};

}  // namespace

struct Loop::Impl {
    // Declared before `io`, so that they outlive it: what its pending handlers own may come back
    // here.
    std::unordered_map<WatchId, std::shared_ptr<Watch>> watches;
    std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines;
    std::unordered_map<TimerId, std::function<void()>> timers;
    std::deque<std::function<void()>> deferred;
    // The hint says that one thread runs the loop; post() from others stays safe with it.
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    asio::steady_timer alarm{io};
    Clock::time_point alarm_at = Clock::time_point::max();
    std::uint64_t last_id = 0;
    std::atomic<std::thread::id> thread{std::this_thread::get_id()};
    std::atomic<bool> stopping{false};
    Spin spin{{}};
    unsigned waits = 0;
    Clock::time_point asleep_since{};  // set while a sleep is measured

    // Runs one callback, waiting for it until `deadline`; false: none came.
    bool run_one(Clock::time_point deadline) {
        if (spin.most().count() == 0) return sleep_for_one(deadline);
        if (spin.pays()) {
            const auto until = std::min(Clock::now() + spin.most(), deadline);
            bool came = io.poll_one() > 0;
            while (!came && Clock::now() < until) came = io.poll_one() > 0;
            spin.polled(came);
            return came || sleep_for_one(deadline);
        }
        // To measure takes a system call more, so a sample has to do.
        if (++waits % kSampleOfWaits != 0) return sleep_for_one(deadline);
        if (io.poll_one() > 0) return true;
        asleep_since = Clock::now();
        const bool ran = sleep_for_one(deadline);
        asleep_since = {};
        return ran;
    }

    bool sleep_for_one(Clock::time_point deadline) {
        return (deadline == Clock::time_point::max() ? io.run_one() : io.run_one_until(deadline)) >
               0;
    }

    void drain() {
        while (!deferred.empty()) {
            auto next = std::move(deferred.front());
            deferred.pop_front();
            contained(next);
        }
    }

    void arm(const std::shared_ptr<Watch>& watch) {
        arm_one(watch, kReadable, asio::posix::stream_descriptor::wait_read);
        arm_one(watch, kWritable, asio::posix::stream_descriptor::wait_write);
    }

    void arm_one(const std::shared_ptr<Watch>& watch, unsigned event,
                 asio::posix::stream_descriptor::wait_type type) {
        if (watch->gone || !(watch->wanted & event) || (watch->armed & event)) return;
        watch->armed |= event;
        watch->descriptor.async_wait(type, [this, watch, event](boost::system::error_code error) {
            watch->armed &= ~event;
            if (asleep_since != Clock::time_point())
                spin.slept(Clock::now() - std::exchange(asleep_since, {}));
            if (watch->gone || error == asio::error::operation_aborted) return;
            if (watch->wanted & event && !contained([&] { watch->ready(event); }) &&
                ++watch->escapes >= kMostEscapes)
                watch->wanted = 0;
            drain();
            arm(watch);
        });
    }

    void arm_alarm() {
        if (deadlines.empty() || deadlines.top().when >= alarm_at) return;
        alarm_at = deadlines.top().when;
        alarm.expires_at(alarm_at);
        alarm.async_wait([this](boost::system::error_code error) {
            if (error) return;
            alarm_at = Clock::time_point::max();
            fire_due();
            arm_alarm();
        });
    }

    void fire_due() {
        const auto now = Clock::now();
        while (!deadlines.empty() && deadlines.top().when <= now) {
            const auto found = timers.find(deadlines.top().id);
            deadlines.pop();
            if (found == timers.end()) continue;
            auto fired = std::move(found->second);
            timers.erase(found);
            contained(fired);
            drain();  // before the next timer: each is a callback of its own
        }
    }

    void enter() {
        thread = std::this_thread::get_id();
        drain();
    }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}

Loop::~Loop() {
    // Callbacks may own objects whose destructors come back to the loop, to unwatch or cancel: they
    // go while every member still lives, and from containers that nobody looks into any more.
    for (const auto& [id, watch] : impl_->watches) watch->gone = true;
    while (!impl_->watches.empty() || !impl_->timers.empty() || !impl_->deferred.empty()) {
        const auto watches = std::exchange(impl_->watches, {});
        const auto timers = std::exchange(impl_->timers, {});
        const auto deferred = std::exchange(impl_->deferred, {});
        for (const auto& [id, watch] : watches) {
            watch->descriptor.release();
            watch->ready = nullptr;  // a pending wait still holds the watch
        }
    }
}

Result<Loop::WatchId> Loop::watch(int fd, unsigned events,
                                  std::function<void(unsigned events)> ready) {
    try {
        auto watch = std::make_shared<Watch>(impl_->io, fd, std::move(ready));
        watch->wanted = events;
        const WatchId id = ++impl_->last_id;
        impl_->watches.emplace(id, watch);
        impl_->arm(watch);
        return id;
    } catch (const boost::system::system_error& error) {
        return Error{ErrorCode::Io, "cannot watch descriptor " + std::to_string(fd) + ": " +
                                        error.code().message()};
    }
}

void Loop::modify(WatchId id, unsigned events) {
    const auto found = impl_->watches.find(id);
    if (found == impl_->watches.end()) return;
    found->second->wanted = events;
    impl_->arm(found->second);
}

void Loop::unwatch(WatchId id) {
    const auto found = impl_->watches.find(id);
    if (found == impl_->watches.end()) return;
    const auto watch = found->second;
    impl_->watches.erase(found);
    watch->gone = true;
    watch->descriptor.release();  // out of epoll now: the caller closes the descriptor next
}

Loop::TimerId Loop::after(std::chrono::nanoseconds delay, std::function<void()> fired) {
    const TimerId id = ++impl_->last_id;
    const auto now = Clock::now();
    const auto when =
        delay > Clock::time_point::max() - now ? Clock::time_point::max() : now + delay;
    impl_->timers.emplace(id, std::move(fired));
    impl_->deadlines.push({when, id});
    impl_->arm_alarm();
    return id;
}

void Loop::cancel(TimerId id) {
    impl_->timers.erase(id);
    // Cancelled deadlines are left in the heap until their time; when they outnumber the living by
    // far (long limits, short calls) the heap is rebuilt, so it stays in proportion.
    if (impl_->deadlines.size() > 64 && impl_->deadlines.size() > 4 * impl_->timers.size()) {
        std::vector<Deadline> kept;
        kept.reserve(impl_->timers.size());
        while (!impl_->deadlines.empty()) {
            if (impl_->timers.count(impl_->deadlines.top().id))
                kept.push_back(impl_->deadlines.top());
            impl_->deadlines.pop();
        }
        impl_->deadlines = decltype(impl_->deadlines)(std::greater<>{}, std::move(kept));
    }
}

void Loop::defer(std::function<void()> work) {
    impl_->deferred.push_back(std::move(work));
}

void Loop::post(std::function<void()> work) {
    asio::post(impl_->io, [impl = impl_.get(), work = std::move(work)] {
        contained(work);
        impl->drain();
    });
}

void Loop::run() {
    impl_->stopping = false;
    impl_->enter();
    while (!impl_->stopping) impl_->run_one(Clock::time_point::max());
}

void Loop::set_spin(std::chrono::nanoseconds most) {
    impl_->spin = Spin(has_another_core() ? most : std::chrono::nanoseconds(0));
}

void Loop::stop() {
    impl_->stopping = true;
    post([] {});
}

bool Loop::run_until(const std::function<bool()>& done, Clock::time_point deadline) {
    impl_->enter();
    while (!done()) {
        if (!impl_->deferred.empty()) {  // from within done(): not to be slept over
            impl_->drain();
            continue;
        }
        if (!impl_->run_one(deadline) && Clock::now() >= deadline) return done();
        impl_->drain();
    }
    return true;
}

bool Loop::on_loop_thread() const {
    return impl_->thread == std::this_thread::get_id();
}

void Loop::assert_here() const {
    assert(on_loop_thread());
}

}  // namespace patchbay::core
