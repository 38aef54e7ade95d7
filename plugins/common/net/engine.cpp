#include "net/engine.hpp"

#include "net/workers.hpp"

#include <Poco/Exception.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

namespace patchbay::net {
namespace {

constexpr std::size_t kDrained = 64u << 10;  // of a body nobody wants, to keep its connection
constexpr std::size_t kBytesPerSecond = 16u << 10;
constexpr std::chrono::seconds kLook{1};  // so often at the limits

const HeaderList kNoSecrets;

using Turn = transport::ChannelCore::Turn;

// What `work` throws, as trouble; PATCHBAY_OK: nothing.
template <class Work>
Trouble trouble_of(Work work) {
    try {
        work();
        return {PATCHBAY_OK, {}};
    } catch (const Trouble& caught) {
        return caught;
    } catch (const sdk::Failure& failure) {
        return {failure.code(), failure.what()};
    } catch (const Poco::Exception& error) {
        return {PATCHBAY_E_IO, error.displayText()};
    } catch (const std::exception& error) {
        return {PATCHBAY_E_INTERNAL, error.what()};
    }
}

}  // namespace

// A connection and its watch, which lasts as long as it.
struct Line {
    Line(Engine& its_engine, Dialed dialed, const Url& url)
        : engine(its_engine), connection(std::move(dialed), url) {}

    Engine& engine;
    Connection connection;
    Task* task = nullptr;  // whose exchange is on it; null: idle
    patchbay_op watch = 0;
    std::uint32_t events = transport::ChannelCore::kReadable;  // that are watched
    Clock::time_point idle_since;
    bool ended = false;  // idle and of no use: the reactor will drop it
};

Task::Task(Url its_url) : url(std::move(its_url)) {}
Task::~Task() = default;

Engine::Engine(transport::ChannelCore& core, const Endpoint& endpoint)
    : core_(core), endpoint_(endpoint) {}
Engine::~Engine() = default;

// ---- asking

void Engine::start(TaskPtr task) {
    task->engine_ = this;
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

void Engine::admit() {
    const auto over = [this](const Task& task) { return stopped_ || task.fuse_.blown(); };
    while (!waiting_.empty() && (under_way_ < kConnections || over(*waiting_.front()))) {
        const auto task = std::move(waiting_.front());
        waiting_.pop_front();
        task->counted_ = true;
        ++under_way_;
        if (over(*task)) {
            const Trouble cancelled(PATCHBAY_E_CANCELLED, "cancelled", false);
            finish(task, &cancelled);
        } else {
            ask(task);
        }
    }
}

// On a connection that is there, else on one that a worker makes.
void Engine::ask(const TaskPtr& task) {
    auto line = take_idle(task->url);
    task->reused_ = line != nullptr;
    if (line) return begin(*task, std::move(line));
    task->phase_ = Task::Phase::Asking;
    dialing_.push_back(task);
    if (workers_ == kWorkers) return;
    ++workers_;
    core_.departed();
    core_.after_turn([this] { hire(); });
}

void Engine::begin(Task& task, LinePtr line) {
    line->task = &task;
    task.line_ = std::move(line);
    task.phase_ = Task::Phase::Waiting;
    task.limit_ = Clock::time_point::max();
    auto& connection = task.line_->connection;
    if (!task.crossed_) task.prepare();
    if (task.fuse_.arm(connection.fd()))
        connection.ask(task.url, task.request, task.crossed_ ? kNoSecrets : task.secrets);
    else
        connection.end();
    await(task.shared_from_this(), 0);
}

// ---- connecting

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
        for (const auto& task : std::exchange(dialing_, {})) finish(task, &trouble);
    }
}

void Engine::work() {
    for (;;) {
        TaskPtr task;
        {
            const Turn turn(core_);
            if (dialing_.empty()) {
                --workers_;
                core_.arrived();
                return;  // the end of this turn may be the end of the channel, and of `this`
            }
            task = std::move(dialing_.front());
            dialing_.pop_front();
        }
        connect(task);
    }
}

void Engine::connect(const TaskPtr& task) {
    LinePtr line;
    auto trouble = trouble_of([&] {
        line = std::make_unique<Line>(*this, dial(endpoint_, task->url, task->fuse_), task->url);
    });
    const Turn turn(core_);
    if (task->fuse_.blown())
        trouble = Trouble(PATCHBAY_E_CANCELLED, "cancelled", false);
    else if (line &&
             !core_.watch(line->connection.fd(), line->events, line.get(), on_ready, line->watch))
        trouble = Trouble(PATCHBAY_E_IO, "the host cannot watch the connection", false);
    if (trouble.code != PATCHBAY_OK) return finish(task, &trouble);
    begin(*task, std::move(line));
}

// ---- answers

void Engine::on_ready(void* ctx, std::uint32_t) noexcept {
    Line& line = *static_cast<Line*>(ctx);
    Engine& engine = line.engine;
    const Turn turn(engine.core_);
    if (line.task)
        engine.step(line.task->shared_from_this());
    else if (line.ended || !line.connection.fresh())
        engine.drop_idle(line);
}

void Engine::step(const TaskPtr& task) {
    bool over = false;
    auto trouble = trouble_of([&] { over = advance(task); });
    if (trouble.code == PATCHBAY_OK) {
        if (over) finish(task, nullptr);
        return;
    }
    if (task->fuse_.blown()) {
        trouble = Trouble(PATCHBAY_E_CANCELLED, "cancelled", trouble.sent);
    } else if (trouble.untouched && task->reused_ && (task->repeatable || !trouble.sent)) {
        // A kept-alive connection that the server gave up while we used it.
        task->fuse_.disarm();
        drop(std::move(task->line_));
        return ask(task);
    }
    finish(task, &trouble);
}

bool Engine::advance(const TaskPtr& task) {
    Task& it = *task;
    auto& connection = it.line_->connection;
    if (it.fuse_.blown()) throw Trouble(PATCHBAY_E_CANCELLED, "cancelled");
    const auto unsent = connection.unsent();
    connection.flush();
    const auto sent = unsent - connection.unsent();
    if (paused_) return await(task, sent), false;
    char buffer[Connection::kPiece];
    auto piece = connection.receive(buffer);
    if (!piece) return await(task, sent), false;
    const auto moved = sent + piece->size();
    if (it.phase_ == Task::Phase::Waiting) {
        const auto head = connection.take_head(*piece);
        if (!head) return await(task, moved), false;
        if (!take_head(task, *head)) return false;
        it.limit_ = Clock::time_point::max();
        if (connection.answered()) return true;
        if (piece->empty()) return await(task, moved), false;
    }
    if (read(it, *piece)) return true;
    await(task, moved);
    return false;
}

// False: the answer is a redirect that is followed.
bool Engine::take_head(const TaskPtr& task, const Head& head) {
    const bool moved = head.status == 301 || head.status == 302 || head.status == 303 ||
                       head.status == 307 || head.status == 308;
    if (moved && !head.value("location").empty()) {
        redirect(*task, head);
        task->fuse_.disarm();
        drop(std::move(task->line_));
        ask(task);
        return false;
    }
    task->take_ = task->head(head);
    task->phase_ = Task::Phase::Reading;
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
    if (!next.same_origin(task.url)) task.crossed_ = true;
    task.url = next;
}

// A piece of the body; empty: the connection ended. True: that was all, or enough of it.
bool Engine::read(Task& task, std::string_view piece) {
    task.body_begun_ = true;
    const auto most = task.take_ == Task::Take::Whole ? task.body_limit() : SIZE_MAX;
    const bool over = task.line_->connection.take_body(piece, task.body_, most);
    if (task.take_ == Task::Take::Whole) return over;  // finish() hands it on
    const auto got = std::exchange(task.body_, {});
    if (task.take_ == Task::Take::Stream) return (!got.empty() && !task.data(got)) || over;
    task.drained_ += got.size();
    return over || task.drained_ > kDrained;
}

// Has the watch tell of what the task waits for. `moved` bytes were sent or received just now: what
// has begun has a limit, which they extend; only the next event of a stream may take for ever.
void Engine::await(const TaskPtr& task, std::size_t moved) {
    Task& it = *task;
    auto& line = *it.line_;
    const auto events = (paused_ ? 0u : transport::ChannelCore::kReadable) |
                        (line.connection.wants_to_write() ? transport::ChannelCore::kWritable : 0u);
    if (paused_) held_.push_back(task);
    if (events != line.events) core_.modify(line.watch, line.events = events);

    const bool begun =
        it.phase_ == Task::Phase::Waiting
            ? line.connection.head_begun()
            : it.take_ == Task::Take::Nothing || (it.take_ == Task::Take::Whole && it.body_begun_);
    if (!begun && line.connection.unsent() == 0) {
        it.limit_ = Clock::time_point::max();
        return;
    }
    if (it.limit_ == Clock::time_point::max()) it.limit_ = Clock::now() + kTime;
    it.limit_ += std::chrono::milliseconds(moved * 1000 / kBytesPerSecond);
    if (!limits_) static_cast<void>(core_.after(kLook, this, on_limits, limits_));
}

void Engine::on_limits(void* ctx, patchbay_status status) noexcept {
    if (status != PATCHBAY_OK) return;  // from inside core_.end(), in a turn
    Engine& engine = *static_cast<Engine*>(ctx);
    const Turn turn(engine.core_);
    engine.limits_ = 0;
    engine.core_.arrived();
    const auto now = Clock::now();
    bool more = false;
    std::vector<TaskPtr> late;
    for (const auto& task : engine.tasks_) {
        if (!engine.paused_ && task->line_ && task->limit_ <= now) late.push_back(task);
        more = more || task->limit_ != Clock::time_point::max();
    }
    for (const auto& task : late) {
        const Trouble trouble(PATCHBAY_E_CLOSED, task->line_->connection.answer_begun()
                                                     ? "the answer broke off: no answer in time"
                                                     : "no answer in time");
        engine.finish(task, &trouble);
    }
    if (more && !engine.stopped_)
        static_cast<void>(engine.core_.after(kLook, &engine, on_limits, engine.limits_));
}

void Engine::resume() {
    if (!std::exchange(paused_, false)) return;
    for (const auto& task : std::exchange(held_, {})) {
        if (!task->line_) continue;
        task->limit_ = Clock::time_point::max();  // the time was ours
        await(task, 0);
    }
}

// ---- the end

void Engine::finish(const TaskPtr& task, const Trouble* trouble) {
    task->fuse_.disarm();
    auto line = std::move(task->line_);
    if (line && !trouble && !stopped_ && !task->fuse_.blown() && line->connection.reusable() &&
        idle_.size() < kIdle) {
        line->task = nullptr;
        line->idle_since = Clock::now();
        idle_.push_back(std::move(line));
    }
    drop(std::move(line));
    if (!trouble && task->take_ == Task::Take::Whole) task->whole(std::move(task->body_));
    // Before end(), which may start the same task once more.
    const auto keep = task;
    if (std::exchange(task->counted_, false)) --under_way_;
    tasks_.erase(keep);
    keep->end(trouble);
    admit();
}

void Engine::stop() {
    stopped_ = true;
    paused_ = false;
    core_.end(limits_);
    held_.clear();
    for (auto& line : std::exchange(idle_, {})) drop(std::move(line));
    const Trouble cancelled(PATCHBAY_E_CANCELLED, "cancelled");
    for (const auto& task : std::vector<TaskPtr>(tasks_.begin(), tasks_.end())) {
        task->blow();  // ends its worker's dialing
        const bool later = task->timer_ != 0;
        core_.end(task->timer_);
        if (later || task->line_) finish(task, &cancelled);
    }
    admit();
}

// ---- connections that are kept

// The one that was used last, if it is of use; null: there is none.
std::unique_ptr<Line> Engine::take_idle(const Url& url) {
    const auto oldest = Clock::now() - kIdleLimit;
    for (auto at = idle_.rbegin(); at != idle_.rend(); ++at) {
        auto& line = **at;
        if (line.ended || !line.connection.serves(url)) continue;
        if (line.idle_since > oldest && line.connection.fresh()) {
            auto found = std::move(*at);
            idle_.erase(std::next(at).base());
            return found;
        }
        line.ended = true;
        line.connection.end();
    }
    return nullptr;
}

void Engine::drop_idle(Line& line) {
    const auto found = std::find_if(idle_.begin(), idle_.end(),
                                    [&](const LinePtr& each) { return each.get() == &line; });
    auto gone = std::move(*found);
    idle_.erase(found);
    drop(std::move(gone));
}

// On the reactor's thread, where watches end.
void Engine::drop(LinePtr line) {
    if (line) core_.end(line->watch);
}

}  // namespace patchbay::net
