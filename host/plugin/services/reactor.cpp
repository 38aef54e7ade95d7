#include "plugin/services/reactor.hpp"

#include "core/log.hpp"
#include "plugin/slow_call.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kMostOperations = 100'000;
constexpr std::uint32_t kEvents = core::Loop::kReadable | core::Loop::kWritable;

// A callback may run on the loop while another thread cancels it; this word settles who was first.
enum State : int { kIdle, kRunning, kRunningCancelled, kOver };

struct Operation {
    patchbay_op id = 0;
    void* ctx = nullptr;
    Reactor::Ready ready = nullptr;  // a watch
    Reactor::Fired fired = nullptr;  // a timer
    std::atomic<int> state{kIdle};
    // Ours, a duplicate: the plugin may close its descriptor as soon as cancel() returned on its
    // own thread, and the loop lets go of it only when it comes round.
    int fd = -1;
    std::atomic<std::uint32_t> wanted{0};
    core::Loop::WatchId watch = 0;  // [loop]
    core::Loop::TimerId timer = 0;  // [loop]

    ~Operation() {
        if (fd >= 0) ::close(fd);
    }

    // Closes the duplicate here and now: a peer waits for the end of what it reads, and the loop
    // may hold on to the callback for one more round. [loop]
    void retire(core::Loop& loop) {
        if (watch) loop.unwatch(std::exchange(watch, 0));
        if (timer) loop.cancel(std::exchange(timer, 0));
        if (fd >= 0) ::close(std::exchange(fd, -1));
    }

    bool begin() {
        int idle = kIdle;
        return state.compare_exchange_strong(idle, kRunning, std::memory_order_acq_rel);
    }
    // True: no callback runs now or later. False: one is running on the loop, the last.
    bool cancel() {
        for (int seen = state; seen == kIdle || seen == kRunning;) {
            const int next = seen == kIdle ? kOver : kRunningCancelled;
            if (state.compare_exchange_weak(seen, next, std::memory_order_acq_rel))
                return next == kOver;
        }
        return false;
    }
    // `last`: there will be no further call. False: cancelled meanwhile.
    bool end(bool last) {
        int running = kRunning;
        if (!last && state.compare_exchange_strong(running, kIdle, std::memory_order_acq_rel))
            return true;
        if (state.exchange(kOver, std::memory_order_acq_rel) == kRunningCancelled)
            state.notify_all();
        return false;
    }
};

}  // namespace

struct Reactor::Core : std::enable_shared_from_this<Core> {
    std::string plugin;
    std::function<void(std::string)> misbehaved;
    std::mutex mutex;  // guards what follows; never held while a callback runs
    core::Loop* loop = nullptr;
    std::unordered_map<patchbay_op, std::shared_ptr<Operation>> operations;
    std::vector<std::pair<Posted, void*>> posted;
    bool posted_scheduled = false;
    patchbay_op last_op = 0;

    std::vector<std::pair<Posted, void*>> running_posted;  // [loop], keeps its memory

    std::shared_ptr<Operation> find(patchbay_op op) {
        const auto found = operations.find(op);
        return found == operations.end() ? nullptr : found->second;
    }

    // Runs `work(loop)` on the loop: at once when we are there. With the mutex held, so that
    // detach() cannot come between; `work` must not take it.
    template <class Work>
    void on_loop(Work work) {
        if (loop->on_loop_thread()) return work(*loop);
        loop->post([core = shared_from_this(), work = std::move(work)] {
            const std::scoped_lock lock(core->mutex);
            if (core->loop) work(*core->loop);
        });
    }

    void ready(Operation& operation, unsigned events) {
        if (!operation.begin()) return;
        std::string thrown;
        const bool fine = call_plugin(plugin, "a reactor callback", nullptr, thrown,
                                      [&] { operation.ready(operation.ctx, events); });
        operation.end(false);
        if (!fine) blame(operation, thrown);
    }

    void fired(Operation& operation) {
        if (!operation.begin()) return;
        std::string thrown;
        const bool fine = call_plugin(plugin, "a timer callback", nullptr, thrown,
                                      [&] { operation.fired(operation.ctx, PATCHBAY_OK); });
        operation.end(true);
        {
            const std::scoped_lock lock(mutex);
            operations.erase(operation.id);
        }
        if (!fine) misbehaved("a timer callback threw: " + thrown);
    }

    // A watch whose callback throws would do so for ever: it ends here.
    void blame(Operation& operation, const std::string& thrown) {
        {
            const std::scoped_lock lock(mutex);
            operations.erase(operation.id);
            operation.state = kOver;
            if (loop) operation.retire(*loop);
        }
        misbehaved("a reactor callback threw: " + thrown);
    }

    void run_posted() {
        {
            const std::scoped_lock lock(mutex);
            posted_scheduled = false;
            if (!loop || !running_posted.empty()) return;
            running_posted.swap(posted);
        }
        std::string thrown;
        for (const auto& [fn, ctx] : running_posted) {
            if (!call_plugin(plugin, "posted work", nullptr, thrown,
                             [fn = fn, ctx = ctx] { fn(ctx); }))
                misbehaved("posted work threw: " + thrown);
        }
        running_posted.clear();
    }
};

Reactor::Reactor(std::string plugin, std::function<void(std::string)> misbehaved)
    : core_(std::make_shared<Core>()) {
    core_->plugin = std::move(plugin);
    core_->misbehaved = std::move(misbehaved);
}

Reactor::~Reactor() {
    detach();
}

void Reactor::attach(core::Loop& loop) {
    const std::scoped_lock lock(core_->mutex);
    core_->loop = &loop;
}

std::size_t Reactor::detach() {
    std::unordered_map<patchbay_op, std::shared_ptr<Operation>> left;
    const std::scoped_lock lock(core_->mutex);
    if (!core_->loop) return 0;
    left.swap(core_->operations);
    for (const auto& [id, operation] : left) {
        operation->state = kOver;
        operation->retire(*core_->loop);
    }
    core_->posted.clear();
    core_->loop = nullptr;
    return left.size();
}

patchbay_status Reactor::watch(std::intptr_t fd, std::uint32_t events, void* ctx, Ready ready,
                               patchbay_op* out) {
    if (!ready || !out || fd < 0 || (events & ~kEvents)) return PATCHBAY_E_INVALID;
    *out = 0;
    struct stat status {};
    if (::fstat(static_cast<int>(fd), &status) != 0) return PATCHBAY_E_INVALID;
    // Always ready, and epoll refuses them.
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return PATCHBAY_E_UNSUPPORTED;
    auto operation = std::make_shared<Operation>();
    operation->ctx = ctx;
    operation->ready = ready;
    operation->wanted = events;
    operation->fd = ::fcntl(static_cast<int>(fd), F_DUPFD_CLOEXEC, 3);
    if (operation->fd < 0) return PATCHBAY_E_LIMIT;

    const std::scoped_lock lock(core_->mutex);
    if (!core_->loop) return PATCHBAY_E_CLOSED;
    if (core_->operations.size() >= kMostOperations) return PATCHBAY_E_LIMIT;
    operation->id = ++core_->last_op;
    core_->operations.emplace(operation->id, operation);
    *out = operation->id;
    bool failed = false;
    core_->on_loop([core = core_.get(), operation, &failed,
                    here = core_->loop->on_loop_thread()](core::Loop& loop) {
        if (operation->state == kOver) return;
        auto watched = loop.watch(
            operation->fd, operation->wanted,
            [core, operation](unsigned ready_events) { core->ready(*operation, ready_events); });
        if (watched)
            operation->watch = *watched;
        else if (here)
            failed = true;
        else
            core::log::error("plugin \"" + core->plugin + "\": " + watched.error().message);
    });
    if (!failed) return PATCHBAY_OK;
    core_->operations.erase(operation->id);
    *out = 0;
    return PATCHBAY_E_IO;
}

patchbay_status Reactor::modify(patchbay_op op, std::uint32_t events) {
    if (events & ~kEvents) return PATCHBAY_E_INVALID;
    const std::scoped_lock lock(core_->mutex);
    const auto operation = core_->find(op);
    if (!core_->loop || !operation || !operation->ready) return PATCHBAY_E_INVALID;
    operation->wanted = events;
    core_->on_loop([operation](core::Loop& loop) {
        if (operation->watch && operation->state != kOver)
            loop.modify(operation->watch, operation->wanted);
    });
    return PATCHBAY_OK;
}

patchbay_status Reactor::after(std::uint64_t delay_ns, void* ctx, Fired fired, patchbay_op* out) {
    if (!fired || !out) return PATCHBAY_E_INVALID;
    *out = 0;
    auto operation = std::make_shared<Operation>();
    operation->ctx = ctx;
    operation->fired = fired;
    const auto most = static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count());
    const auto due = std::chrono::nanoseconds(std::min(delay_ns, most));

    const std::scoped_lock lock(core_->mutex);
    if (!core_->loop) return PATCHBAY_E_CLOSED;
    if (core_->operations.size() >= kMostOperations) return PATCHBAY_E_LIMIT;
    operation->id = ++core_->last_op;
    core_->operations.emplace(operation->id, operation);
    *out = operation->id;
    core_->on_loop([core = core_.get(), operation, due](core::Loop& loop) {
        if (operation->state == kOver) return;
        operation->timer = loop.after(due, [core, operation] { core->fired(*operation); });
    });
    return PATCHBAY_OK;
}

void Reactor::cancel(patchbay_op op) {
    std::shared_ptr<Operation> operation;
    bool on_loop = false;
    bool never_ran = false;
    {
        const std::scoped_lock lock(core_->mutex);
        operation = core_->find(op);
        if (!operation || !core_->loop) return;
        on_loop = core_->loop->on_loop_thread();
        never_ran = operation->cancel();
        core_->operations.erase(op);
        core_->on_loop([operation](core::Loop& loop) { operation->retire(loop); });
    }
    if (never_ran) {
        std::string thrown;
        const CallMark mark(core_->plugin.c_str(), "a cancelled timer's callback", nullptr);
        if (operation->fired &&
            !guarded(thrown, [&] { operation->fired(operation->ctx, PATCHBAY_E_CANCELLED); }))
            core_->misbehaved("a timer callback threw: " + thrown);
        return;
    }
    // Callbacks run on the loop only, so on it we are inside this very callback.
    if (!on_loop) operation->state.wait(kRunningCancelled);
}

patchbay_status Reactor::post(void* ctx, Posted fn) {
    if (!fn) return PATCHBAY_E_INVALID;
    const std::scoped_lock lock(core_->mutex);
    if (!core_->loop) return PATCHBAY_E_CLOSED;
    if (core_->posted.size() >= kMostOperations) return PATCHBAY_E_LIMIT;
    core_->posted.emplace_back(fn, ctx);
    if (std::exchange(core_->posted_scheduled, true)) return PATCHBAY_OK;
    auto run = [core = core_] { core->run_posted(); };
    // Of work that posts itself again each round of the loop has its share, and no more.
    if (core_->loop->on_loop_thread() && core_->running_posted.empty())
        core_->loop->defer_to_end_of_round(std::move(run));
    else
        core_->loop->post(std::move(run));
    return PATCHBAY_OK;
}

}  // namespace patchbay::plugin
