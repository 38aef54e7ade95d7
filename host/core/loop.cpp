// The only user of epoll. A watch is registered once, level-triggered, and stays so: what comes on it
// costs no system call but its share of a wait (decision 25). Timers are one heap over one timerfd,
// set only when the earliest deadline moves forward: a call with a 27 h limit costs no system call.
#include "core/loop.hpp"

#include "core/descriptor.hpp"
#include "core/escapes.hpp"
#include "core/spin.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <deque>
#include <limits>
#include <mutex>
#include <queue>
#include <sched.h>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>

namespace patchbay::core {
namespace {

constexpr unsigned kMostEscapes = 100;  // from one watch, which would go on for ever
constexpr unsigned kSampleOfWaits = 16;
constexpr std::size_t kEventsAtOnce = 128;

// What stands in an event where a watch has its id; ids begin after them.
enum Bell : std::uint64_t { kWake, kAlarm, kLastBell = kAlarm };

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

Descriptor opened(int fd, const char* what) {
    if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
    return Descriptor(fd);
}

struct Watch {
    int fd;
    std::function<void(unsigned)> ready;
    unsigned wanted;
    unsigned registered;  // what epoll was told; may be more than is wanted
    unsigned escapes = 0;
};

epoll_event event_of(unsigned wanted, Loop::WatchId id) {
    epoll_event event{};
    event.events = (wanted & Loop::kReadable ? EPOLLIN : 0u) |
                   (wanted & Loop::kWritable ? EPOLLOUT : 0u) |
                   // The end of a connection is told whatever is wanted: once, where nothing is.
                   (wanted == 0 ? EPOLLET : 0u);
    event.data.u64 = id;
    return event;
}

// An end or an error is told to whoever waits for anything: reading or writing shows which it is.
unsigned events_of(std::uint32_t flags) {
    constexpr std::uint32_t kEnd = EPOLLHUP | EPOLLERR;
    return (flags & (EPOLLIN | kEnd) ? unsigned{Loop::kReadable} : 0u) |
           (flags & (EPOLLOUT | kEnd) ? unsigned{Loop::kWritable} : 0u);
}

struct Deadline {
    Clock::time_point when;
    Loop::TimerId id;
    bool operator>(const Deadline& other) const {
        return when != other.when ? when > other.when : id > other.id;
    }
};

}  // namespace

const TimeSource& machine_time() {
    static const struct Machine final : TimeSource {
    } machine;
    return machine;
}

struct Loop::Impl {
    const TimeSource& time;
    const Descriptor epoll = opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    const Descriptor bell = opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
    const Descriptor alarm =
        opened(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create");

    std::unordered_map<WatchId, std::shared_ptr<Watch>> watches;
    // Of a number that was closed too early and given out again, the watch that has it now.
    std::unordered_map<int, WatchId> holders;
    std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines;
    std::unordered_map<TimerId, std::function<void()>> timers;
    std::deque<std::function<void()>> deferred, at_end_of_round, ending;
    Clock::time_point alarm_at = Clock::time_point::max();
    std::uint64_t last_id = kLastBell;

    // Of the last wait, those not run yet.
    std::array<epoll_event, kEventsAtOnce> events;
    std::size_t next = 0, came = 0;
    std::deque<std::function<void()>> to_run;

    std::mutex mutex;  // guards `posted`
    std::deque<std::function<void()>> posted;
    std::atomic<bool> has_posted{false};
    // Set before the loop looks for the last time whether something was posted, and taken back by
    // whoever posts after that look, who rings.
    std::atomic<bool> asleep{false};

    std::atomic<std::thread::id> thread{std::this_thread::get_id()};
    std::atomic<bool> stopping{false};
    Spin spin{{}};
    unsigned waits = 0;

    explicit Impl(const TimeSource& of) : time(of) {
        // Edge-triggered, so that nobody has to read them.
        add(bell.get(), kWake);
        add(alarm.get(), kAlarm);
    }

    void add(int fd, Bell which) const {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLET;
        event.data.u64 = which;
        if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
            throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }

    bool holds(const Watch& watch, WatchId id) const {
        const auto holder = holders.find(watch.fd);
        return holder != holders.end() && holder->second == id;
    }

    // Cannot fail on a descriptor that is registered and open, as long as its watch is.
    void settle(Watch& watch, WatchId id) const {
        if (!holds(watch, id)) return;
        auto event = event_of(watch.wanted, id);
        ::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, watch.fd, &event);
        watch.registered = watch.wanted;
    }

    // ---- waiting

    // Runs one callback, waiting for it until `deadline`; false: none came.
    bool run_one(Clock::time_point deadline) {
        if (run_next()) return true;
        if (spin.most().count() == 0) return sleep_for_next(deadline);
        if (spin.pays()) {
            const auto until = std::min(Clock::now() + spin.most(), deadline);
            bool ran = look_for_next();
            while (!ran && Clock::now() < until) ran = look_for_next();
            spin.polled(ran);
            return ran || sleep_for_next(deadline);
        }
        // To measure takes a system call more, so a sample has to do.
        if (++waits % kSampleOfWaits != 0) return sleep_for_next(deadline);
        if (look_for_next()) return true;
        const auto since = Clock::now();
        wait(timeout_ms(deadline));
        if (came > 0 && events[0].data.u64 > kLastBell) spin.slept(Clock::now() - since);
        return run_next();
    }

    bool look_for_next() {
        wait(0);
        return run_next();
    }
    bool sleep_for_next(Clock::time_point deadline) {
        wait(timeout_ms(deadline));
        return run_next();
    }

    static int timeout_ms(Clock::time_point deadline) {
        if (deadline == Clock::time_point::max()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(
            left.count(), 0, std::numeric_limits<int>::max()));
    }

    // All of the last wait has been run.
    void wait(int timeout_ms) {
        if (timeout_ms != 0) {
            asleep = true;
            if (has_posted) timeout_ms = 0;
        }
        const int count = ::epoll_wait(epoll.get(), events.data(), kEventsAtOnce, timeout_ms);
        asleep = false;
        next = 0;
        came = count > 0 ? static_cast<std::size_t>(count) : 0;  // a signal is nothing that came
        if (!has_posted) return;
        const std::scoped_lock lock(mutex);
        to_run.swap(posted);
        has_posted = false;
    }

    // ---- what came

    // False: nothing is left of it.
    bool run_next() {
        while (next < came) {
            const std::uint32_t flags = events[next].events;
            const WatchId id = events[next++].data.u64;  // no reference: the struct is packed
            if (id == kAlarm) return fire_due(), true;
            if (id != kWake && tell(id, flags)) return true;
        }
        if (!at_end_of_round.empty()) return drain(), true;
        if (to_run.empty()) return false;
        const auto work = std::move(to_run.front());
        to_run.pop_front();
        contained(work);
        drain();
        return true;
    }

    // False: nobody wants to know.
    bool tell(WatchId id, std::uint32_t flags) {
        const auto found = watches.find(id);
        if (found == watches.end()) return false;
        const auto watch = found->second;  // which may end inside its callback
        const auto told = events_of(flags) & watch->wanted;
        if (told == 0) {
            if (watch->registered != watch->wanted) settle(*watch, id);
            return false;
        }
        if (!contained([&] { watch->ready(told); }) && ++watch->escapes >= kMostEscapes)
            watch->wanted = 0;
        drain();
        return true;
    }

    void drain() {
        drain_deferred();
        if (next == came) end_round();
    }

    void end_round() {
        for (ending.swap(at_end_of_round); !ending.empty(); ending.pop_front()) {
            contained(std::exchange(ending.front(), {}));
            drain_deferred();
        }
    }

    void drain_deferred() {
        while (!deferred.empty()) {
            const auto work = std::move(deferred.front());
            deferred.pop_front();
            contained(work);
        }
    }

    // ---- timers

    void arm_alarm() {
        if (&time != &machine_time()) return;  // who turns it asks what is due
        if (deadlines.empty() || deadlines.top().when >= alarm_at) return;
        alarm_at = deadlines.top().when;
        const auto since_boot = std::max(alarm_at.time_since_epoch(), Clock::duration(1));
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
        itimerspec at{};  // all zero would be no alarm
        at.it_value.tv_sec = seconds.count();
        at.it_value.tv_nsec = (since_boot - seconds).count();
        ::timerfd_settime(alarm.get(), TFD_TIMER_ABSTIME, &at, nullptr);  // fails for no valid time
    }

    void fire_due() {
        alarm_at = Clock::time_point::max();
        const auto now = time.now();
        const auto last = last_id;  // what these start fires in a round of its own
        while (!deadlines.empty() && deadlines.top().when <= now && deadlines.top().id <= last) {
            const auto found = timers.find(deadlines.top().id);
            deadlines.pop();
            if (found == timers.end()) continue;
            auto fired = std::move(found->second);
            timers.erase(found);
            contained(fired);
            drain();  // before the next timer: each is a callback of its own
        }
        arm_alarm();
    }

    // For as long as somebody runs it.
    class Run {
    public:
        explicit Run(Impl& loop) : loop_(loop) {
            if (std::exchange(loop_.running, true))
                throw std::logic_error("the loop is run by one of its own callbacks");
            loop_.thread = std::this_thread::get_id();
        }
        ~Run() { loop_.running = false; }
        Run(const Run&) = delete;

    private:
        Impl& loop_;
    };
    bool running = false;
};

Loop::Loop(const TimeSource& time) : impl_(std::make_unique<Impl>(time)) {}

Loop::~Loop() {
    // Callbacks may own objects whose destructors come back to the loop, to unwatch or cancel: they
    // go while every member still lives, and from containers that nobody looks into any more.
    const auto all_gone = [](auto&... containers) {
        if ((containers.empty() && ...)) return true;
        (std::exchange(containers, {}), ...);
        return false;
    };
    while (!all_gone(impl_->watches, impl_->timers, impl_->deferred, impl_->at_end_of_round,
                     impl_->ending, impl_->to_run, impl_->posted)) {
    }
}

Result<Loop::WatchId> Loop::watch(int fd, unsigned events,
                                  std::function<void(unsigned events)> ready) {
    const WatchId id = ++impl_->last_id;
    auto event = event_of(events, id);
    if (::epoll_ctl(impl_->epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
        return Error{ErrorCode::Io, "cannot watch descriptor " + std::to_string(fd) + ": " +
                                        std::generic_category().message(errno)};
    impl_->holders[fd] = id;
    impl_->watches.emplace(id,
                           std::make_shared<Watch>(Watch{fd, std::move(ready), events, events}));
    return id;
}

void Loop::modify(WatchId id, unsigned events) {
    const auto found = impl_->watches.find(id);
    if (found == impl_->watches.end()) return;
    auto& watch = *found->second;
    watch.wanted = events;
    // Who pauses reading often goes on before anything has come: epoll is told when something has.
    // What is writable would come at once.
    if ((events & ~watch.registered) || (watch.registered & ~events & kWritable))
        impl_->settle(watch, id);
}

void Loop::unwatch(WatchId id) {
    const auto found = impl_->watches.find(id);
    if (found == impl_->watches.end()) return;
    const auto watch = std::move(found->second);
    impl_->watches.erase(found);
    if (!impl_->holds(*watch, id)) return;
    impl_->holders.erase(watch->fd);
    ::epoll_ctl(impl_->epoll.get(), EPOLL_CTL_DEL, watch->fd, nullptr);
}

Loop::TimerId Loop::after(std::chrono::nanoseconds delay, std::function<void()> fired) {
    const TimerId id = ++impl_->last_id;
    const auto now = impl_->time.now();
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

void Loop::defer_to_end_of_round(std::function<void()> work) {
    // What ends a round and puts itself there again would leave nobody his turn.
    if (!impl_->ending.empty()) return post(std::move(work));
    impl_->at_end_of_round.push_back(std::move(work));
}

void Loop::post(std::function<void()> work) {
    {
        const std::scoped_lock lock(impl_->mutex);
        impl_->posted.push_back(std::move(work));
        impl_->has_posted = true;
    }
    if (!impl_->asleep.exchange(false)) return;
    const std::uint64_t once = 1;
    // Full it would be after 2^64 rings, and rings all the same.
    static_cast<void>(::write(impl_->bell.get(), &once, sizeof once));
}

void Loop::run() {
    const Impl::Run running(*impl_);
    impl_->stopping = false;
    impl_->drain();
    while (!impl_->stopping) {
        impl_->run_one(Clock::time_point::max());
        impl_->drain();  // also what the end of a callback has deferred
    }
}

void Loop::set_spin(std::chrono::nanoseconds most) {
    impl_->spin = Spin(has_another_core() ? most : std::chrono::nanoseconds(0));
}

void Loop::stop() {
    impl_->stopping = true;
    post([] {});
}

bool Loop::run_until(const std::function<bool()>& done, Clock::time_point deadline) {
    const Impl::Run running(*impl_);
    impl_->drain();
    bool is_done = false;
    while (!(is_done = done())) {
        if (!impl_->deferred.empty()) {  // from within done(): not to be slept over
            impl_->drain();
            continue;
        }
        impl_->run_one(deadline);
        impl_->drain();
        // Also where there is always something to run.
        if (deadline != Clock::time_point::max() && Clock::now() >= deadline) {
            is_done = done();
            break;
        }
    }
    // Nobody may run it for a while.
    impl_->end_round();
    return is_done;
}

const TimeSource& Loop::time() const {
    return impl_->time;
}

bool Loop::run_ready() {
    const bool deferred = !impl_->deferred.empty() || !impl_->at_end_of_round.empty();
    const Impl::Run running(*impl_);
    impl_->drain();
    if (deferred || impl_->run_next() || impl_->look_for_next()) return true;
    if (next_due() > now()) return false;
    impl_->fire_due();
    return true;
}

Clock::time_point Loop::next_due() const {
    return impl_->deadlines.empty() ? Clock::time_point::max() : impl_->deadlines.top().when;
}

bool Loop::on_loop_thread() const {
    return impl_->thread == std::this_thread::get_id();
}

void Loop::assert_here() const {
    assert(on_loop_thread());
}

}  // namespace patchbay::core
