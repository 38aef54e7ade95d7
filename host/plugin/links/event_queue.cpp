#include "plugin/links/event_queue.hpp"

#include <utility>

namespace patchbay::plugin {
namespace {

// Queued, then a message is answered PAUSE: by bytes, and by events because small ones cost more
// than their bytes.
constexpr std::size_t kPauseBytes = 1u << 20;
constexpr std::size_t kPauseEvents = 1'000;
constexpr std::size_t kMostQueuedOutputs = 10'000;  // lines for people beyond are dropped

}  // namespace

LinkEvent special_event(EventKind kind, std::string what) {
    LinkEvent event{kind};
    event.detail = std::make_unique<EventDetail>();
    event.detail->text = std::move(what);
    return event;
}

patchbay_status EventQueue::push(LinkEvent&& event) {
    core::Buffer refused;  // a plugin's release is called outside the lock
    const std::scoped_lock lock(mutex_);
    if (shut_) return PATCHBAY_OK;
    if (event.kind == EventKind::Output && waiting_ >= kMostQueuedOutputs) return PATCHBAY_OK;
    const bool many = waiting_ >= limits_.events;
    // `closed` always fits: without it what the plugin made could never be destroyed.
    if ((many || queued_bytes_ + event.body.size() > limits_.bytes) &&
        event.kind != EventKind::Closed) {
        if (std::exchange(overflowed_, true)) return PATCHBAY_PAUSE;
        refused = std::move(event.body);
        event = overflow(many);
    }
    queued_bytes_ += event.body.size();
    ++waiting_;
    const bool is_message = event.kind == EventKind::Message;
    queue_.push_back(std::move(event));
    schedule();
    if (!is_message || (!paused_ && queued_bytes_ <= kPauseBytes && waiting_ <= kPauseEvents))
        return PATCHBAY_OK;
    answered_pause_ = true;
    return PATCHBAY_PAUSE;
}

// With the mutex held.
LinkEvent EventQueue::overflow(bool many) const {
    return special_event(EventKind::Spent, std::to_string(queued_bytes_) + " bytes in " +
                                               std::to_string(waiting_) +
                                               " events of the server were waiting (limit " +
                                               kind_ + (many ? "_events)" : "_bytes)"));
}

// With the mutex held, also across post(): who delivers `closed` must wait until the thread that
// said it has left this object.
void EventQueue::schedule() {
    if (std::exchange(scheduled_, true)) return;
    if (!kept_) kept_ = owner_.shared_from_this();
    auto run = [this] { owner_.deliver(); };  // small enough for std::function to hold in place
    // What is left of a round waits for the others' turn as well, which post() gives them.
    if (loop_.on_loop_thread() && !left())
        loop_.defer(run);
    else
        loop_.post(run);
}

void EventQueue::shut() {
    const std::scoped_lock lock(mutex_);
    shut_ = true;
}

void EventQueue::begin_round() {
    const std::scoped_lock lock(mutex_);
    kept_ = nullptr;
    scheduled_ = false;
    if (left()) return;
    batch_.clear();
    next_ = 0;
    batch_.swap(queue_);
}

LinkEvent EventQueue::next() {
    LinkEvent event{EventKind::Message};
    if (!parts_.empty()) {
        event.body = std::move(parts_.front());
        parts_.pop_front();
    } else {
        event = std::move(batch_[next_++]);
        delivered_bytes_ += event.body.size();
        ++delivered_;
    }
    return event;
}

bool EventQueue::end_round() {
    const std::scoped_lock lock(mutex_);
    queued_bytes_ -= std::exchange(delivered_bytes_, 0);
    waiting_ -= std::exchange(delivered_, 0);
    const bool again = answered_pause_ && !paused_ && !left();
    if (again) answered_pause_ = false;
    if (left() || !queue_.empty()) schedule();
    return again;
}

void EventQueue::unfold(std::vector<core::Buffer> messages) {
    for (auto& message : messages) parts_.push_back(std::move(message));
}

}  // namespace patchbay::plugin
