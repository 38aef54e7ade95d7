#include "net/engine.hpp"

#include "net/redirect.hpp"
#include "net/trouble_of.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace patchbay::net {
namespace {

constexpr std::size_t kDrained = 64u << 10;  // of a body nobody wants, to keep its connection
constexpr std::size_t kBytesPerSecond = 16u << 10;
constexpr std::size_t kSlice = 16u << 10;        // of a stream, unpacked ahead of who takes it
constexpr std::size_t kBytesATurn = 256u << 10;  // of all exchanges
constexpr std::size_t kBytesAStep = 64u << 10;   // of one of them, then others have theirs

const HeaderList kNoSecrets;

using Turn = transport::ChannelCore::Turn;

}  // namespace

Task::Task(Url its_url) : url(std::move(its_url)) {}
Task::~Task() = default;

bool Task::sent() const {
    return sent_before_ || (line_ && line_->connection.sent());
}

void Task::vouch() {
    engine_->vouch(unproven());
}

Engine::Engine(transport::ChannelCore& core, Workers& pool, const Endpoint& endpoint,
               EngineOwner* owner, Patience patience)
    : core_(core),
      owner_(owner),
      patience_(patience),
      limits_(core, [this] { guard([this] { look_at_limits(); }); }),
      dialers_(core, pool, endpoint, *this) {}
Engine::~Engine() = default;

// The edge of the core with our words for what Poco throws.
template <class Work>
void Engine::guard(Work work) noexcept {
    core_.contain("an exchange", [&work] {
        const auto trouble = trouble_of(std::move(work));
        if (trouble.code != PATCHBAY_OK) throw trouble;
    });
}

// ---- asking

void Engine::start(TaskPtr task) {
    task->engine_ = this;
    tasks_.insert(task);
    enqueue(std::move(task));
}

void Engine::enqueue(TaskPtr task) {
    waiting_bytes_ += task->request.body.size();
    waiting_.push_back(std::move(task));
    admit();
}

bool Engine::crowded() {
    crowded_ = crowded_ || waiting_.size() > kQueued || waiting_bytes_ > kQueuedBytes;
    return crowded_;
}

void Engine::start_after(std::chrono::milliseconds delay, TaskPtr task) {
    task->engine_ = this;
    Task& later = *task;
    later.timer_.emplace(core_,
                         [this, &later] { guard([&] { enqueue(later.shared_from_this()); }); });
    if (stopped_ || !later.timer_->start(delay)) {
        later.blow();
        return start(std::move(task));
    }
    tasks_.insert(std::move(task));
}

// Ahead of all that wait: who is behind something has had a turn, and the server's patience runs.
void Engine::start_behind(const Task& before, TaskPtr task) {
    task->engine_ = this;
    task->behind_ = before.unproven();
    task->crossed_ = before.crossed_;
    tasks_.insert(task);
    waiting_bytes_ += task->request.body.size();
    waiting_.push_front(std::move(task));
    admit();
}

void Engine::follow(TaskPtr task, const Head& head) {
    const auto trouble = trouble_of([&] { redirect(*task, head); });
    task->sent_before_ = true;  // who redirects has read it, whatever becomes of the next one
    if (trouble.code != PATCHBAY_OK) return task->end(&trouble);
    task->body_begun_ = false;
    start(std::move(task));
}

// Whoever ends a task comes back here: the loop that is running goes on instead of another one
// inside it, however many wait.
void Engine::admit() {
    if (std::exchange(admitting_, true)) return;
    const auto over = [this](const Task& task) { return stopped_ || task.fuse_.blown(); };
    while (!waiting_.empty() && (under_way_ < kConnections || over(*waiting_.front()))) {
        const auto task = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_bytes_ -= task->request.body.size();
        task->counted_ = true;
        ++under_way_;
        auto trouble = over(*task) ? Trouble(PATCHBAY_E_CANCELLED, "cancelled")
                                   : trouble_of([&] { ask(task); });
        trouble.sent = false;
        if (trouble.code != PATCHBAY_OK) finish(task, &trouble);
    }
    admitting_ = false;
    if (!crowded_ || waiting_.size() > kQueued / 2 || waiting_bytes_ > kQueuedBytes / 2) return;
    crowded_ = false;
    if (owner_) owner_->engine_has_room();
}

// On a connection that is there, else on one that a worker makes.
void Engine::ask(const TaskPtr& task) {
    if (task->behind_ != 0) {
        if (auto line = kept_.take(task->behind_)) return begin(task, std::move(line));
        throw Trouble(PATCHBAY_E_CLOSED, "nothing more can be asked on its connection");
    }
    auto line = task->comes_first ? nullptr : kept_.take(task->url);
    task->reused_ = line != nullptr;
    if (line) return begin(task, std::move(line));
    task->phase_ = Task::Phase::Asking;
    dialers_.add(task, task->url, task->fuse_);
}

void Engine::begin(const TaskPtr& task, LinePtr line) {
    Task& it = *task;
    line->task = &it;
    it.line_ = std::move(line);
    it.phase_ = Task::Phase::Waiting;
    it.limit_ = Clock::time_point::max();
    // What has had a byte of a body is never asked again: it has none yet.
    auto& connection = it.line_->connection;
    auto trouble = trouble_of([&] {
        if (!it.crossed_) it.prepare();
        if (it.fuse_.arm(connection.fd()))
            connection.ask(it.url, it.request, it.crossed_ ? kNoSecrets : it.secrets);
        else
            connection.end();
        await(task, 0);
    });
    if (trouble.code == PATCHBAY_OK) return;
    trouble.sent = connection.sent();
    finish(task, &trouble);
}

// The connection closes behind the end of its task, which may have its fuse on it.
void Engine::dialed(const TaskPtr& task, Dialed* dialed, Trouble trouble) {
    LinePtr line;
    if (dialed) {
        line = std::make_unique<Line>(*this, std::move(*dialed), task->url);
        if (core_.watch(line->connection.fd(), line->events, line.get(), on_ready, line->watch))
            return begin(task, std::move(line));
        trouble = Trouble(PATCHBAY_E_IO, "the host cannot watch the connection", false);
    }
    finish(task, &trouble);
}

// ---- answers

void Engine::on_ready(void* ctx, std::uint32_t) noexcept {
    Line& line = *static_cast<Line*>(ctx);
    Engine& engine = line.engine;
    const Turn turn(engine.core_);
    engine.guard([&] {
        if (line.task)
            engine.step(line.task->shared_from_this());
        else if (line.ended || !line.connection.fresh())
            engine.drop(engine.kept_.give_up(line));
    });
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
        task->sent_before_ = task->sent_before_ || trouble.sent;
        task->fuse_.disarm();
        drop(std::move(task->line_));
        return ask(task);
    } else if (task->phase_ == Task::Phase::Reading && task->take_ == Task::Take::Whole &&
               task->body_may_be_cut()) {
        task->cut_ = true;
        return finish(task, nullptr);
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
    if (!paused_ && unpacked_ >= kBytesATurn) queue(task);
    if (paused_ || it.queued_) return await(task, sent), false;
    const bool streams = it.take_ == Task::Take::Stream;
    if (!it.rest_.empty() || (streams && !it.body_.empty())) {
        const auto rest = std::exchange(it.rest_, {});
        if (streams ? read_stream(it, rest) : read(it, rest)) return true;
        if (paused_ || it.queued_) return await(task, sent), false;
    }
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
    if (is_redirect(head) && task->follows()) {
        redirect(*task, head);
        task->fuse_.disarm();
        task->sent_before_ = true;  // who redirects has read it, whatever becomes of the next one
        drop(std::move(task->line_));
        ask(task);
        return false;
    }
    task->phase_ = Task::Phase::Reading;
    task->line_->idle_limit = KeptConnections::idle_limit(head.keep_alive());
    task->take_ = task->head(head);
    task->line_->connection.check_body();
    return true;
}

void Engine::redirect(Task& task, const Head& head) {
    if (++task.redirects_ > kRedirects)
        throw Trouble(PATCHBAY_E_PROTOCOL, "more than " + std::to_string(kRedirects) +
                                               " redirects, the last one from " +
                                               task.url.without_query());
    const auto next = redirect_target(task.url, task.request.method, head, task.leaves_origin);
    task.crossed_ = task.crossed_ || !task.url.leads_home(next);
    task.url = next;
}

// A piece of the body; empty: the connection ended. True: that was all, or enough of it.
bool Engine::read(Task& task, std::string_view piece) {
    task.body_begun_ = true;
    auto& connection = task.line_->connection;
    if (piece.empty()) connection.end_body();
    switch (task.take_) {
        case Task::Take::Stream:
            return read_stream(task, piece);
        case Task::Take::Whole: {  // finish() hands it on
            const auto most = task.body_limit();
            const bool cut = task.body_may_be_cut();
            const auto step = task.body_.size() + kBytesAStep;
            if (!piece.empty())
                unpack(task, piece, cut ? SIZE_MAX : most, cut ? std::min(most, step) : step);
            if (!cut || task.body_.size() < most) {
                if (!piece.empty()) return go_on_later(task, piece), false;
                task.torn_ = !cut && connection.answered() && connection.torn();
                break;
            }
            task.body_.resize(most);
            task.cut_ = true;
            return true;
        }
        case Task::Take::Nothing:
            while (!piece.empty() && task.drained_ <= kDrained) {
                unpack(task, piece, SIZE_MAX, kSlice);
                task.drained_ += std::exchange(task.body_, {}).size();
            }
            if (task.drained_ > kDrained) return true;
    }
    return connection.answered();
}

void Engine::unpack(Task& task, std::string_view& piece, std::size_t most, std::size_t enough) {
    const auto before = task.body_.size();
    task.line_->connection.take_body(piece, task.body_, most, enough);
    unpacked_ += task.body_.size() - before;
    if (unpacked_ >= kBytesATurn) call_back(on_called);  // which counts anew
}

// What a few bytes unpack to may be more than one turn is for: others have theirs in between.
void Engine::go_on_later(Task& task, std::string_view rest) {
    task.rest_ = rest;
    queue(task.shared_from_this());
}

// It has its turn behind those that came before it.
void Engine::queue(const TaskPtr& task) {
    if (std::exchange(task->queued_, true)) return;
    resumed_.push_back(task);
    call_back(on_called);
}

// On the reactor's thread, where connections end; refused only by a host that is closing itself.
void Engine::call_back(transport::ChannelCore::Posted fn) {
    if (!called_) called_ = core_.post(this, fn);
}

// Hands on what is there in slices, as far as the host wants more; what is left waits with the
// task. True: that was all, or enough of it.
bool Engine::read_stream(Task& task, std::string_view piece) {
    auto& connection = task.line_->connection;
    for (std::size_t step = 0;; step += task.body_.size()) {
        if (!task.body_.empty()) {
            std::string_view slice(task.body_);
            if (!task.data(slice)) return true;
            task.body_.erase(0, paused_ ? task.body_.size() - slice.size() : std::string::npos);
        }
        if (paused_ && !task.body_.empty()) return task.rest_ = piece, false;
        if (piece.empty()) return connection.answered();
        if (step >= kBytesAStep || unpacked_ >= kBytesATurn) return go_on_later(task, piece), false;
        unpack(task, piece, SIZE_MAX, kSlice);
    }
}

// Has the watch tell of what the task waits for. `moved` bytes were sent or received just now: what
// has begun has a limit, which they extend; only the next event of a stream may take for ever.
void Engine::await(const TaskPtr& task, std::size_t moved) {
    Task& it = *task;
    auto& line = *it.line_;
    const auto events = (paused_ || it.queued_ ? 0u : transport::ChannelCore::kReadable) |
                        (line.connection.wants_to_write() ? transport::ChannelCore::kWritable : 0u);
    if (paused_ && !std::exchange(it.queued_, true)) held_.push_back(task);
    if (events != line.events) core_.modify(line.watch, line.events = events);

    const bool begun = it.phase_ == Task::Phase::Waiting ? line.connection.head_begun()
                       : it.take_ == Task::Take::Whole   ? it.body_begun_ || it.body_may_be_cut()
                                                         : it.take_ == Task::Take::Nothing;
    if (!begun && line.connection.unsent() == 0) {
        it.limit_ = Clock::time_point::max();
        return;
    }
    if (it.limit_ == Clock::time_point::max()) it.limit_ = Clock::now() + patience_.answer;
    it.limit_ += std::chrono::milliseconds(moved * 1000 / kBytesPerSecond);
    if (!limits_.running()) static_cast<void>(limits_.start(patience_.look));
}

void Engine::look_at_limits() {
    const auto now = Clock::now();
    bool more = false;
    std::vector<TaskPtr> late;
    for (const auto& task : tasks_) {
        if (!paused_ && task->line_ && task->limit_ <= now) late.push_back(task);
        more = more || task->limit_ != Clock::time_point::max();
    }
    for (const auto& task : late) {
        if (!task->line_) continue;  // ended by the end of another one
        const bool begun = task->line_->connection.answer_begun();
        const Trouble trouble(PATCHBAY_E_CLOSED, begun ? "the answer broke off: no answer in time"
                                                       : "no answer in time");
        const bool cut = begun && task->take_ == Task::Take::Whole && task->body_may_be_cut();
        task->cut_ = cut;
        finish(task, cut ? nullptr : &trouble);
    }
    if (more && !stopped_ && !limits_.running()) static_cast<void>(limits_.start(patience_.look));
}

void Engine::resume() {
    if (!std::exchange(paused_, false)) return;
    for (const auto& task : std::exchange(held_, {})) {
        task->queued_ = false;
        if (!task->line_) continue;
        task->limit_ = Clock::time_point::max();  // the time was ours
        if (task->rest_.empty() && (task->body_.empty() || task->take_ != Task::Take::Stream))
            await(task, 0);
        else
            queue(task);  // no watch tells of what has been read
    }
}

// Still in the round that has had its bytes: what is posted by posted work is the next round's.
void Engine::on_called(void* ctx) noexcept {
    Engine& engine = *static_cast<Engine*>(ctx);
    engine.core_.enter("the turns of exchanges", [&engine] {
        engine.core_.arrived();
        engine.called_ = false;
        engine.call_back(on_resumed);
    });
}

void Engine::on_resumed(void* ctx) noexcept {
    Engine& engine = *static_cast<Engine*>(ctx);
    const Turn turn(engine.core_);
    engine.core_.arrived();
    engine.unpacked_ = 0;
    engine.guard([&] {
        while (!engine.resumed_.empty() && engine.unpacked_ < kBytesATurn) {
            const auto task = std::move(engine.resumed_.front());
            engine.resumed_.pop_front();
            task->queued_ = false;
            if (task->line_) engine.step(task);
        }
    });
    engine.called_ = false;
    if (!engine.resumed_.empty() || engine.unpacked_ >= kBytesATurn) engine.call_back(on_resumed);
}

// ---- the end

void Engine::finish(const TaskPtr& task, const Trouble* trouble) {
    task->fuse_.disarm();
    auto line = std::move(task->line_);
    if (line && !trouble && !stopped_ && !task->fuse_.blown() && line->connection.reusable())
        line = kept_.keep(std::move(line), task->unproven());
    drop(std::move(line));
    const auto keep = task;
    Trouble told(PATCHBAY_OK, {});
    if (trouble) {
        told = *trouble;
        told.sent = told.sent || task->sent_before_;
    } else if (task->take_ == Task::Take::Whole) {
        told = trouble_of([&] { keep->whole(std::exchange(keep->body_, {})); });
    }
    // Before end(), which may start the same task once more.
    if (std::exchange(keep->counted_, false)) --under_way_;
    tasks_.erase(keep);
    guard([&] { keep->end(told.code == PATCHBAY_OK ? nullptr : &told); });
    admit();
}

void Engine::stop() {
    stopped_ = true;
    paused_ = false;
    limits_.stop();
    held_.clear();
    resumed_.clear();
    for (auto& line : kept_.give_up_all()) drop(std::move(line));
    for (const auto& task : std::vector<TaskPtr>(tasks_.begin(), tasks_.end())) {
        const Trouble cancelled(PATCHBAY_E_CANCELLED, "cancelled", task->sent());
        task->blow();  // ends its worker's dialing
        const bool later = task->waits();
        if (later) task->timer_->stop();
        if (later || task->line_) finish(task, &cancelled);
    }
    admit();
}

// On the reactor's thread, where watches end.
void Engine::drop(LinePtr line) {
    if (line) core_.end(line->watch);
}

}  // namespace patchbay::net
