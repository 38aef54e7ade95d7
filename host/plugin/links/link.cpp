#include "plugin/links/link.hpp"

#include "core/log.hpp"

namespace patchbay::plugin {
namespace {

// Queued, then a message is answered PAUSE: by bytes, and by events because small ones cost more
// than their bytes.
constexpr std::size_t kPauseBytes = 1u << 20;
constexpr std::size_t kPauseEvents = 1'000;
constexpr std::size_t kMostQueuedOutputs = 10'000;  // lines for people beyond are dropped
constexpr std::size_t kBytesPerRound = 256u << 10;  // delivered in one turn of the loop

LinkEvent special_event(EventKind kind, std::string what) {
    LinkEvent event{kind};
    event.detail = std::make_unique<EventDetail>();
    event.detail->text = std::move(what);
    return event;
}

const char* name_of(EventKind kind) {
    static constexpr const char* names[] = {"opened",    "message", "done", "writable",
                                            "challenge", "output",  "fact", "acquired",
                                            "closed",    "fault",   "spent"};
    return names[static_cast<int>(kind)];
}

}  // namespace

Link::Link(core::Loop& its_loop, Instance& its_instance, const char* kind, std::string its_server,
           std::string where, Limits limits, std::shared_ptr<Signer> its_signer)
    : loop(its_loop),
      instance(its_instance),
      server(std::move(its_server)),
      signer(std::move(its_signer)),
      kind_(kind),
      where_(std::move(where)),
      limits_(limits) {}

// ---- [any]

patchbay_status Link::push(LinkEvent&& event) {
    core::Buffer refused;  // a plugin's release is called outside the lock
    const std::scoped_lock lock(mutex_);
    if (abandoned_) return PATCHBAY_OK;
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
LinkEvent Link::overflow(bool many) const {
    return special_event(EventKind::Spent, std::to_string(queued_bytes_) + " bytes in " +
                                               std::to_string(waiting_) +
                                               " events of the server were waiting (limit " +
                                               kind_ + (many ? "_events)" : "_bytes)"));
}

patchbay_status Link::queue_fault(std::string what) {
    return push(special_event(EventKind::Fault, std::move(what)));
}

patchbay_status Link::lose_event() {
    return push(special_event(EventKind::Spent, "the host had no memory for an event"));
}

// With the mutex held, also across post(): who delivers `closed` must wait until the thread that
// said it has left this object.
void Link::schedule() {
    if (std::exchange(scheduled_, true)) return;
    if (!self_) self_ = shared_from_this();
    auto run = [this] { deliver(); };  // small enough for std::function to hold in place
    // What is left of a round waits for the others' turn as well, which post() gives them.
    if (loop.on_loop_thread() && !left())
        loop.defer(run);
    else
        loop.post(run);
}

// ---- [loop]

void Link::deliver() {
    const auto keep = shared_from_this();
    {
        const std::scoped_lock lock(mutex_);
        self_ = nullptr;
        scheduled_ = false;
        if (!left()) {
            batch_.clear();
            next_ = 0;
            batch_.swap(queue_);
        }
    }
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < limits_.round && bytes < kBytesPerRound && left(); ++i)
        bytes += deliver_next();
    go_on();
}

std::size_t Link::deliver_next() {
    LinkEvent event{EventKind::Message};
    if (!parts_.empty()) {
        event.body = std::move(parts_.front());
        parts_.pop_front();
    } else {
        event = std::move(batch_[next_++]);
        delivered_bytes_ += event.body.size();
        ++delivered_;
    }
    const auto bytes = event.bytes();
    try {
        if (ordinary(event))
            dispatch(event);
        else
            judge(event);
    } catch (const std::exception& error) {
        failed_at(event.kind, error.what());
    } catch (...) {
        failed_at(event.kind, "no std::exception");
    }
    return bytes;
}

void Link::go_on() {
    bool again = false;
    {
        const std::scoped_lock lock(mutex_);
        queued_bytes_ -= std::exchange(delivered_bytes_, 0);
        waiting_ -= std::exchange(delivered_, 0);
        again = answered_pause_ && !paused_ && !left();
        if (again) answered_pause_ = false;
        if (left() || !queue_.empty()) schedule();
    }
    if (again && usable()) resume_made();
}

void Link::judge(LinkEvent& event) {
    const bool closes = event.kind == EventKind::Closed;
    // Nothing is believed after a fault, but `closed` still says when destroy may follow.
    if (faulted_) {
        if (closes) destroy();
        return;
    }
    if (event.kind == EventKind::Fault) return fault(event.detail->text);
    if (event.kind == EventKind::Spent) return give_up(ErrorCode::Limit, event.detail->text);
    if (closed_) return fault(std::string(name_of(event.kind)) + " after closed");
    if (!closes) return;  // nobody listens any more
    closed_ = true;
    destroy();  // first: whoever is told may let go of us
    if (abandoned_) return;
    if (const auto owed = unfinished(); !owed.empty()) return fault("closed while " + owed);
    ended_ = true;
    on_closed(event.detail ? &event.detail->problem : nullptr);
}

void Link::fault(const std::string& what) {
    instance.misbehaved(where_ + ": " + what);
    give_up(ErrorCode::Internal,
            "plugin \"" + instance.plugin() + "\" broke the plugin contract: " + what);
}

void Link::give_up(ErrorCode code, const std::string& why) {
    faulted_ = true;
    // It runs threads and calls of its own until it has stopped.
    if (alive_ && !std::exchange(closing_, true)) close_made();
    if (std::exchange(ended_, true) || abandoned_) return;
    on_given_up({code, why});
}

void Link::failed_at(EventKind kind, const char* what) {
    const auto why = std::string("internal error at ") + name_of(kind) + ": " + what;
    core::log::error(where_ + ": " + why);
    give_up(ErrorCode::Internal, why);
}

Result<patchbay_status> Link::take_over(const char* slot, const std::string& who,
                                        patchbay_status status, const std::string* thrown,
                                        bool made) {
    std::string wrong;
    if (thrown)
        wrong = " threw: " + *thrown;
    else if (status > PATCHBAY_OK)
        wrong = " returned " + std::to_string(status);
    else if (status == PATCHBAY_OK && !made)
        wrong = std::string(" returned OK without ") + (*kind_ == 'a' ? "an " : "a ") + kind_;
    alive_ = status == PATCHBAY_OK && wrong.empty();
    if (alive_)
        ++instance.channels;
    else
        abandon();
    if (wrong.empty()) return status;
    wrong = slot + wrong;
    instance.misbehaved(who + ": " + wrong);
    return Error{ErrorCode::Internal, "plugin \"" + instance.plugin() + "\": " + wrong};
}

void Link::close() {
    loop.assert_here();
    if (usable() && !std::exchange(closing_, true)) close_made();
}

void Link::destroy() {
    if (!std::exchange(alive_, false)) return;
    --instance.channels;
    destroy_made();
}

void Link::abandon() {
    {
        const std::scoped_lock lock(mutex_);
        abandoned_ = true;
    }
    if (!alive_) return;
    core::log::warn("server \"" + server + "\": plugin \"" + instance.plugin() +
                    "\" has not closed its " + kind_ + "; it is left behind");
    // The plugin holds our address and may still tell events: it is never freed.
    static std::mutex of_all_loops;
    static auto& left_behind = *new std::vector<std::shared_ptr<Link>>;
    const std::scoped_lock lock(of_all_loops);
    left_behind.push_back(shared_from_this());
}

void Link::resume() {
    paused_ = false;
    go_on();
}

void Link::unfold(std::vector<core::Buffer> messages) {
    for (auto& message : messages) parts_.push_back(std::move(message));
}

}  // namespace patchbay::plugin
