#include "net/answers.hpp"

#include "net/guarded.hpp"
#include "net/redirect.hpp"

#include <utility>
#include <vector>

namespace patchbay::net {
namespace {

constexpr std::size_t kBytesPerSecond = 16u << 10;
constexpr auto kNever = Clock::time_point::max();

}  // namespace

Answers::Answers(transport::ChannelCore& core, Patience patience, std::chrono::seconds keep_alive,
                 const std::unordered_set<TaskPtr>& tasks, AnswersOwner& owner)
    : core_(core),
      patience_(patience),
      keep_alive_(keep_alive),
      tasks_(tasks),
      owner_(owner),
      turns_(core, *this),
      limits_(core, [this] { guarded(core_, [this] { look_at_limits(); }); }) {}

bool Answers::watch(Line& line) {
    return core_.watch(line.connection.fd(), line.events, &line, on_ready, line.watch);
}

void Answers::on_ready(void* ctx, std::uint32_t) noexcept {
    Line& line = *static_cast<Line*>(ctx);
    Answers& answers = line.answers;
    const transport::ChannelCore::Turn turn(answers.core_);
    guarded(answers.core_, [&] {
        if (line.task)
            answers.step(line.task->shared_from_this());
        else
            answers.owner_.on_unasked(line);
    });
}

void Answers::take_turn(const TaskPtr& task) {
    if (task->line_) step(task);
}

void Answers::step(const TaskPtr& task) {
    bool over = false;
    auto trouble = trouble_of([&] { over = advance(task); });
    if (trouble.code == PATCHBAY_OK) {
        if (over) owner_.finish(task, nullptr);
        return;
    }
    if (task->fuse_.blown()) {
        trouble = Trouble(PATCHBAY_E_CANCELLED, "cancelled", trouble.sent);
    } else if (trouble.untouched && task->reused_ && (task->repeatable || !trouble.sent)) {
        // A kept-alive connection that the server gave up while we used it.
        task->sent_before_ = task->sent_before_ || trouble.sent;
        return owner_.ask_again(task);
    } else if (task->body_ && task->body_->break_off()) {
        return owner_.finish(task, nullptr);
    }
    owner_.finish(task, &trouble);
}

bool Answers::advance(const TaskPtr& task) {
    Task& it = *task;
    auto& connection = it.line_->connection;
    if (it.fuse_.blown()) throw Trouble(PATCHBAY_E_CANCELLED, "cancelled");
    const auto unsent = connection.unsent();
    connection.flush();
    const auto sent = unsent - connection.unsent();
    if (!paused() && turns_.spent()) turns_.queue(task);
    if (paused() || it.in_line_) return await(task, sent), false;
    if (it.body_ && it.body_->has_rest()) {
        if (take(task, it.body_->read_rest(connection.body()))) return true;
        if (paused() || it.in_line_) return await(task, sent), false;
    }
    char buffer[Connection::kPiece];
    auto piece = connection.receive(buffer);
    if (!piece) return await(task, sent), false;
    const auto moved = sent + piece->size();
    if (!it.body_) {
        const auto head = connection.take_head(*piece);
        if (!head) return await(task, moved), false;
        if (!take_head(task, *head)) return false;
        if (connection.answered()) return true;
        if (piece->empty()) return await(task, moved), false;
    }
    if (take(task, it.body_->read(connection.body(), *piece))) return true;
    await(task, moved);
    return false;
}

// False: the answer is a redirect that is followed.
bool Answers::take_head(const TaskPtr& task, const Head& head) {
    if (is_redirect(head) && task->follows()) {
        task->redirect(head);
        owner_.ask_again(task);
        return false;
    }
    task->line_->idle_limit = KeptConnections::idle_limit(head.keep_alive(), keep_alive_);
    task->body_.emplace(*task, task->head(head), turns_);
    task->line_->connection.body().check();
    task->limit_ = kNever;
    return true;
}

// True: it was all.
bool Answers::take(const TaskPtr& task, AnswerBody::Read read) {
    if (read == AnswerBody::Read::GoesOn) turns_.queue(task);
    return read == AnswerBody::Read::Over;
}

void Answers::await(const TaskPtr& task, std::size_t moved) {
    auto& line = *task->line_;
    if (paused()) turns_.hold(task);
    const auto events = (task->in_line_ ? 0u : transport::ChannelCore::kReadable) |
                        (line.connection.wants_to_write() ? transport::ChannelCore::kWritable : 0u);
    if (events != line.events) core_.modify(line.watch, line.events = events);
    limit(*task, moved);
}

// What has begun has a limit, which the bytes extend that moved.
void Answers::limit(Task& task, std::size_t moved) {
    const auto& connection = task.line_->connection;
    const bool begun = task.body_ ? task.body_->must_end() : connection.head_begun();
    if (!begun && connection.unsent() == 0) {
        task.limit_ = kNever;
        return;
    }
    if (task.limit_ == kNever) task.limit_ = core_.now() + patience_.answer;
    task.limit_ += std::chrono::milliseconds(moved * 1000 / kBytesPerSecond);
    if (!limits_.running()) static_cast<void>(limits_.start(patience_.look));
}

void Answers::look_at_limits() {
    const auto now = core_.now();
    bool more = false;
    std::vector<TaskPtr> late;
    for (const auto& task : tasks_) {
        if (!paused() && task->line_ && task->limit_ <= now) late.push_back(task);
        more = more || task->limit_ != kNever;
    }
    for (const auto& task : late) {
        if (!task->line_) continue;  // ended by the end of another one
        const bool begun = task->line_->connection.answer_begun();
        const Trouble trouble(PATCHBAY_E_CLOSED, begun ? "the answer broke off: no answer in time"
                                                       : "no answer in time");
        const bool enough = task->body_ && task->body_->break_off();
        owner_.finish(task, enough ? nullptr : &trouble);
    }
    if (more && !stopped_ && !limits_.running()) static_cast<void>(limits_.start(patience_.look));
}

void Answers::resume() {
    for (const auto& task : turns_.resume()) {
        if (!task->line_) continue;
        task->limit_ = kNever;  // the time was ours
        if (task->body_ && task->body_->has_rest())
            turns_.queue(task);  // no watch tells of what has been read
        else
            await(task, 0);
    }
}

void Answers::stop() {
    stopped_ = true;
    limits_.stop();
    turns_.stop();
}

}  // namespace patchbay::net
