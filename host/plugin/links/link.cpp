#include "plugin/links/link.hpp"

#include "core/log.hpp"

#include <mutex>

namespace patchbay::plugin {
namespace {

const char* name_of(EventKind kind) {
    static constexpr const char* names[] = {"opened",    "message", "done", "writable",
                                            "challenge", "output",  "fact", "acquired",
                                            "closed",    "fault",   "spent"};
    return names[static_cast<int>(kind)];
}

}  // namespace

Link::Link(core::Loop& its_loop, Instance& its_instance, const char* kind, std::string its_server,
           std::string where, EventQueue::Limits limits, std::shared_ptr<Signer> its_signer)
    : loop(its_loop),
      instance(its_instance),
      server(std::move(its_server)),
      signer(std::move(its_signer)),
      kind_(kind),
      where_(std::move(where)),
      queue_(its_loop, *this, kind, limits) {}

// ---- [any]

patchbay_status Link::queue_fault(std::string what) {
    return push(special_event(EventKind::Fault, std::move(what)));
}

patchbay_status Link::lose_event() {
    return push(special_event(EventKind::Spent, "the host had no memory for an event"));
}

// ---- [loop]

void Link::deliver() {
    const auto keep = shared_from_this();
    queue_.begin_round();
    std::size_t bytes = 0;
    for (std::size_t events = 0; queue_.goes_on(events, bytes); ++events) bytes += deliver_next();
    end_round();
}

std::size_t Link::deliver_next() {
    auto event = queue_.next();
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

void Link::end_round() {
    if (queue_.end_round() && usable()) resume_made();
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
    abandoned_ = true;
    queue_.shut();
    if (!alive_) return;
    core::log::warn("server \"" + server + "\": plugin \"" + instance.plugin() +
                    "\" has not closed its " + kind_ + "; it is left behind");
    // The plugin holds our address and may still tell events: it is never freed.
    static std::mutex of_all_loops;
    static auto& left_behind = *new std::vector<std::shared_ptr<Delivery>>;
    const std::scoped_lock lock(of_all_loops);
    left_behind.push_back(shared_from_this());
}

void Link::resume() {
    queue_.resume();
    end_round();
}

}  // namespace patchbay::plugin
