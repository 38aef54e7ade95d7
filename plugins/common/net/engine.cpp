#include "net/engine.hpp"

#include "net/guarded.hpp"

#include <utility>
#include <vector>

namespace patchbay::net {
namespace {

const HeaderList kNoSecrets;

}  // namespace

Engine::Engine(transport::ChannelCore& core, Workers& pool, const Endpoint& endpoint,
               EngineOwner* owner, Patience patience)
    : core_(core),
      owner_(owner),
      dialers_(core, pool, endpoint, *this),
      answers_(core, patience, endpoint.keep_alive, tasks_, *this) {}
Engine::~Engine() = default;

void Engine::start(TaskPtr task) {
    task->engine_ = this;
    tasks_.insert(task);
    admission_.arrive(task->request.body.size());
    waiting_.push_back(std::move(task));
    admit();
}

void Engine::start_after(std::chrono::milliseconds delay, TaskPtr task) {
    task->engine_ = this;
    Task& later = *task;
    later.timer_.emplace(
        core_, [this, &later] { guarded(core_, [&] { start(later.shared_from_this()); }); });
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
    admission_.arrive(task->request.body.size());
    waiting_.push_front(std::move(task));
    admit();
}

void Engine::follow(TaskPtr task, const Head& head) {
    const auto trouble = trouble_of([&] { task->redirect(head); });
    if (trouble.code != PATCHBAY_OK) return task->end(&trouble);
    start(std::move(task));
}

// Whoever ends a task comes back here: the loop that is running goes on instead of another one
// inside it, however many wait.
void Engine::admit() {
    if (std::exchange(admitting_, true)) return;
    const auto over = [this](const Task& task) { return stopped_ || task.fuse_.blown(); };
    while (!waiting_.empty() && (admission_.has_place() || over(*waiting_.front()))) {
        const auto task = std::move(waiting_.front());
        waiting_.pop_front();
        admission_.depart(task->request.body.size());
        task->counted_ = true;
        admission_.enter();
        auto trouble = over(*task) ? Trouble(PATCHBAY_E_CANCELLED, "cancelled")
                                   : trouble_of([&] { ask(task); });
        trouble.sent = false;
        if (trouble.code != PATCHBAY_OK) finish(task, &trouble);
    }
    admitting_ = false;
    if (admission_.has_room_again() && owner_) owner_->engine_has_room();
}

// On a connection that is there, else on one that a worker makes.
void Engine::ask(const TaskPtr& task) {
    if (task->behind_ != 0) {
        if (auto line = kept_.take(task->behind_)) return begin(task, std::move(line));
        throw Trouble(PATCHBAY_E_CLOSED, "nothing more can be asked on its connection");
    }
    auto line = task->comes_first ? nullptr : kept_.take(task->url, core_.now());
    task->reused_ = line != nullptr;
    if (line) return begin(task, std::move(line));
    dialers_.add(task, task->url, task->fuse_);
}

void Engine::begin(const TaskPtr& task, LinePtr line) {
    Task& it = *task;
    line->task = &it;
    it.line_ = std::move(line);
    it.body_.reset();
    it.limit_ = Clock::time_point::max();
    auto& connection = it.line_->connection;
    auto trouble = trouble_of([&] {
        if (!it.crossed_) it.prepare();
        if (it.fuse_.arm(connection.fd()))
            connection.ask(it.url, it.request, it.crossed_ ? kNoSecrets : it.secrets);
        else
            connection.end();
        answers_.await(task, 0);
    });
    if (trouble.code == PATCHBAY_OK) return;
    trouble.sent = connection.sent();
    finish(task, &trouble);
}

// The connection closes behind the end of its task, which may have its fuse on it.
void Engine::dialed(const TaskPtr& task, Dialed* dialed, Trouble trouble) {
    LinePtr line;
    if (dialed) {
        line = std::make_unique<Line>(answers_, std::move(*dialed), task->url);
        if (answers_.watch(*line)) return begin(task, std::move(line));
        trouble = Trouble(PATCHBAY_E_IO, "the host cannot watch the connection", false);
    }
    finish(task, &trouble);
}

void Engine::ask_again(const TaskPtr& task) {
    task->fuse_.disarm();
    drop(std::move(task->line_));
    ask(task);
}

void Engine::on_unasked(Line& line) {
    if (line.ended || !line.connection.fresh()) drop(kept_.give_up(line));
}

void Engine::finish(const TaskPtr& task, const Trouble* trouble) {
    task->fuse_.disarm();
    auto line = std::move(task->line_);
    if (line && !trouble && !stopped_ && !task->fuse_.blown() && line->connection.reusable())
        line = kept_.keep(std::move(line), task->unproven(), core_.now());
    drop(std::move(line));
    const auto keep = task;
    Trouble told(PATCHBAY_OK, {});
    if (trouble) {
        told = *trouble;
        told.sent = told.sent || task->sent_before_;
    } else if (task->body_ && task->body_->whole()) {
        told = trouble_of([&] { keep->whole(keep->body_->release()); });
    }
    // Before end(), which may start the same task once more.
    if (std::exchange(keep->counted_, false)) admission_.leave();
    tasks_.erase(keep);
    guarded(core_, [&] { keep->end(told.code == PATCHBAY_OK ? nullptr : &told); });
    admit();
}

void Engine::stop() {
    stopped_ = true;
    answers_.stop();
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
