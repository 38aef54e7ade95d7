#include "net/engine.hpp"

#include "net/workers.hpp"

#include <Poco/Exception.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

namespace patchbay::net {
namespace {

constexpr std::chrono::milliseconds kPatience{
    2};                                           // an answer this near is waited for by the worker
constexpr std::size_t kDrained = 64u << 10;       // of a body nobody wants, to keep its connection
constexpr std::size_t kBlockingBody = 32u << 10;  // a request that may not fit into the socket

const HeaderList kNoSecrets;

using Turn = transport::ChannelCore::Turn;

}  // namespace

// While it lives its worker does not count as busy: another one may serve the others.
class Engine::Slow {
public:
    explicit Slow(Engine& engine) : engine_(engine) {
        const Turn turn(engine_.core_);
        ++engine_.slow_;
        engine_.pump();
    }
    ~Slow() {
        const Turn turn(engine_.core_);
        --engine_.slow_;
    }
    Slow(const Slow&) = delete;

private:
    Engine& engine_;
};

void Engine::start(TaskPtr task) {
    task->engine_ = this;
    if (stopped_) task->blow();
    tasks_.insert(task);
    waiting_.push_back(std::move(task));
    admit();
}

void Engine::start_after(std::chrono::milliseconds delay, TaskPtr task) {
    task->engine_ = this;
    Task& later = *task;
    if (stopped_ || !core_.after(delay, &later, on_timer, later.timer_)) {
        later.blow();
        return start(std::move(task));
    }
    tasks_.insert(std::move(task));
}

void Engine::on_timer(void* ctx, patchbay_status status) noexcept {
    if (status != PATCHBAY_OK) return;  // from inside core_.end(), in a turn
    Task& task = *static_cast<Task*>(ctx);
    Engine& engine = *task.engine_;
    const Turn turn(engine.core_);
    task.timer_ = 0;
    engine.core_.arrived();
    engine.waiting_.push_back(task.shared_from_this());
    engine.admit();
}

void Engine::stop() {
    stopped_ = true;
    resume();
    idle_.clear();
    for (const auto& task : std::vector<TaskPtr>(tasks_.begin(), tasks_.end())) {
        task->blow();
        if (task->timer_) {
            core_.end(task->timer_);
            waiting_.push_back(task);
        } else if (task->watch_) {
            core_.end(task->watch_);
            ready_.push_back(task);
        }
    }
    admit();
}

void Engine::admit() {
    while (!waiting_.empty() && (under_way_ < kConnections || waiting_.front()->fuse_.blown())) {
        waiting_.front()->counted_ = true;
        ++under_way_;
        ready_.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    pump();
}

void Engine::pump() {
    while (ready_.size() > workers_ - busy_ && workers_ < kWorkers && workers_ - slow_ < kBusy) {
        ++workers_;
        core_.departed();
        core_.after_turn([this] { hire(); });
    }
}

void Engine::hire() {
    try {
        Workers::of_this_plugin().run([this] { work(); });
    } catch (const std::system_error& error) {
        const Turn turn(core_);
        --workers_;
        core_.arrived();
        if (workers_ > 0) return;
        const Trouble trouble(PATCHBAY_E_LIMIT,
                              std::string("no thread can be started: ") + error.what(), false);
        for (const auto& task : std::exchange(ready_, {})) finish(task, &trouble);
    }
}

void Engine::work() {
    for (bool busy = false;; busy = true) {
        TaskPtr task;
        {
            const Turn turn(core_);
            if (busy) --busy_;
            if (ready_.empty()) {
                --workers_;
                core_.arrived();
                return;  // the end of this turn may be the end of the channel, and of `this`
            }
            ++busy_;
            task = std::move(ready_.front());
            ready_.pop_front();
        }
        step(task);
    }
}

void Engine::step(const TaskPtr& task) {
    Trouble trouble(PATCHBAY_OK, {});
    try {
        if (!advance(task)) return;
    } catch (const Trouble& caught) {
        trouble = caught;
    } catch (const sdk::Failure& failure) {
        trouble = Trouble(failure.code(), failure.what());
    } catch (const Poco::Exception& error) {
        trouble = Trouble(PATCHBAY_E_IO, error.displayText());
    } catch (const std::exception& error) {
        trouble = Trouble(PATCHBAY_E_INTERNAL, error.what());
    }
    if (trouble.code != PATCHBAY_OK && task->fuse_.blown())
        trouble = Trouble(PATCHBAY_E_CANCELLED, "cancelled", trouble.sent);
    const Turn turn(core_);
    finish(task, trouble.code == PATCHBAY_OK ? nullptr : &trouble);
}

bool Engine::advance(const TaskPtr& task) {
    Task& it = *task;
    for (;;) {
        if (paused_ && it.phase_ != Task::Phase::Asking && hold(task)) return false;
        if (it.fuse_.blown())
            throw Trouble(PATCHBAY_E_CANCELLED, "cancelled", it.phase_ != Task::Phase::Asking);
        switch (it.phase_) {
            case Task::Phase::Asking:
                ask(it);
                it.phase_ = Task::Phase::Waiting;
                if (!it.connection_->wait(patient_ ? kPatience : std::chrono::milliseconds(0)) &&
                    park(task))
                    return false;
                break;
            case Task::Phase::Waiting:
                patient_ = Clock::now() - it.asked_ < kPatience;
                try {
                    if (!take_head(it)) break;  // asks anew: a redirect
                } catch (const Trouble& trouble) {
                    // A kept-alive connection that the server gave up while we used it.
                    if (!trouble.untouched || !it.reused_ || !it.repeatable) throw;
                    it.connection_.reset();
                    it.phase_ = Task::Phase::Asking;
                    break;
                }
                it.phase_ = Task::Phase::Reading;
                break;
            case Task::Phase::Reading: {
                if (it.take_ == Task::Take::Nothing ||
                    (it.take_ == Task::Take::Whole && it.body_begun_)) {
                    const Slow slow(*this);
                    while (!read(it)) {
                    }
                    return true;
                }
                if (!it.connection_->ready() && park(task)) return false;
                if (read(it)) return true;
                break;
            }
        }
    }
}

// Sends the request on a connection that is there, or on a new one.
void Engine::ask(Task& task) {
    for (;;) {
        task.connection_ = idle_connection(task.url);
        task.reused_ = task.connection_ != nullptr;
        if (task.reused_) {
            task.fuse_.arm(task.connection_->fd());
        } else {
            const Slow slow(*this);
            task.connection_ = Connection::dial(endpoint_, task.url, task.fuse_);
        }
        const auto& secrets = task.crossed_ ? kNoSecrets : task.secrets;
        task.asked_ = Clock::now();
        try {
            if (task.request.body.size() <= kBlockingBody) {
                task.connection_->send(task.url, task.request, secrets);
            } else {
                const Slow slow(*this);
                task.connection_->send(task.url, task.request, secrets);
            }
            return;
        } catch (const Trouble&) {
            if (!task.reused_ || !task.repeatable || task.fuse_.blown()) throw;
            task.fuse_.disarm();
        }
    }
}

// False: the answer is a redirect that is followed.
bool Engine::take_head(Task& task) {
    const auto head = task.connection_->receive_head();
    const bool moved = head.status == 301 || head.status == 302 || head.status == 303 ||
                       head.status == 307 || head.status == 308;
    if (moved && !head.value("location").empty()) {
        redirect(task, head);
        return false;
    }
    const Turn turn(core_);
    task.take_ = task.head(head);
    return true;
}

void Engine::redirect(Task& task, const Head& head) {
    const auto code = std::to_string(head.status);
    if (++task.redirects_ > kRedirects)
        throw Trouble(PATCHBAY_E_PROTOCOL, "more than " + std::to_string(kRedirects) +
                                               " redirects, the last one from " +
                                               task.url.without_query());
    if (task.request.method == "POST" && head.status != 307 && head.status != 308)
        throw Trouble(PATCHBAY_E_PROTOCOL,
                      "the server answered " + code +
                          ", a redirect that loses the request; set the "
                          "url to " +
                          task.url.resolve(head.value("location")).without_query());
    const auto next = [&] {
        try {
            return task.url.resolve(head.value("location"));
        } catch (const sdk::Failure& failure) {
            throw Trouble(PATCHBAY_E_PROTOCOL, std::string("the server redirects to where ") +
                                                   "nobody can follow: " + failure.what());
        }
    }();
    if (next.scheme != "http" && next.scheme != "https")
        throw Trouble(PATCHBAY_E_PROTOCOL, "a redirect to another protocol than http");
    if (task.url.secure() && !next.secure())
        throw Trouble(PATCHBAY_E_DENIED, "a redirect from https to http is not followed (" +
                                             next.without_query() + ")");
    if (next.origin() != task.url.origin()) task.crossed_ = true;
    task.fuse_.disarm();
    task.connection_.reset();
    task.url = next;
    task.phase_ = Task::Phase::Asking;
}

// One piece of the body. True: that was its end, or enough of it.
bool Engine::read(Task& task) {
    const bool anew = task.take_ == Task::Take::Stream || !std::exchange(task.body_begun_, true);
    const auto most = task.take_ == Task::Take::Whole ? task.body_limit() : SIZE_MAX;
    const bool more = task.connection_->read_body(task.body_, most, anew);
    switch (task.take_) {
        case Task::Take::Whole:
            return !more;  // finish() hands it on
        case Task::Take::Stream: {
            const Turn turn(core_);
            const bool enough = !task.body_.empty() && !task.data(task.body_);
            task.body_.clear();
            return enough || !more;
        }
        case Task::Take::Nothing:
            break;
    }
    task.drained_ += std::exchange(task.body_, {}).size();
    return !more || task.drained_ > kDrained;
}

void Engine::resume() {
    if (!paused_.exchange(false)) return;
    for (auto& task : std::exchange(held_, {})) ready_.push_back(std::move(task));
    pump();
}

// False: resumed meanwhile.
bool Engine::hold(const TaskPtr& task) {
    const Turn turn(core_);
    if (!paused_ || stopped_) return false;
    held_.push_back(task);
    return true;
}

// False: it cannot be parked, so its worker waits for it.
bool Engine::park(const TaskPtr& task) {
    const Turn turn(core_);
    if (task->fuse_.blown()) return false;
    return core_.watch(task->connection_->fd(), transport::ChannelCore::kReadable, task.get(),
                       on_readable, task->watch_);
}

void Engine::on_readable(void* ctx, std::uint32_t) noexcept {
    Task& task = *static_cast<Task*>(ctx);
    Engine& engine = *task.engine_;
    const Turn turn(engine.core_);
    if (!task.watch_) return;
    engine.core_.end(task.watch_);
    engine.ready_.push_back(task.shared_from_this());
    engine.pump();
}

void Engine::finish(const TaskPtr& task, const Trouble* trouble) {
    task->fuse_.disarm();
    if (!trouble && !stopped_ && task->connection_ && task->connection_->reusable() &&
        idle_.size() < kIdle)
        idle_.push_back({std::move(task->connection_), Clock::now()});
    task->connection_.reset();
    if (!trouble && task->take_ == Task::Take::Whole) task->whole(std::move(task->body_));
    task->end(trouble);
    if (std::exchange(task->counted_, false)) --under_way_;
    tasks_.erase(task);
    admit();
}

std::unique_ptr<Connection> Engine::idle_connection(const Url& url) {
    const auto origin = url.origin();
    for (;;) {
        std::unique_ptr<Connection> found;
        {
            const Turn turn(core_);
            const auto oldest = Clock::now() - kIdleLimit;
            std::erase_if(idle_, [&](const Idle& idle) { return idle.since < oldest; });
            const auto last = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& idle) {
                return idle.connection->origin() == origin;
            });
            if (last == idle_.rend()) return nullptr;
            found = std::move(last->connection);
            idle_.erase(std::next(last).base());
        }
        if (found->still_fresh()) return found;
    }
}

}  // namespace patchbay::net
