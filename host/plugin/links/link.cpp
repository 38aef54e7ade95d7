#include "plugin/links/link.hpp"

#include "core/escapes.hpp"
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
    return queue_.push(special_event(EventKind::Fault, std::move(what)));
}

patchbay_status Link::lose_event() {
    return queue_.push(special_event(EventKind::Spent, "the host had no memory for an event"));
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
        if (const auto verdict = life_.on(event.kind); verdict == LinkLife::Verdict::Dispatch)
            dispatch(event);
        else
            obey(verdict, event);
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

void Link::obey(LinkLife::Verdict verdict, const LinkEvent& event) {
    using Verdict = LinkLife::Verdict;
    switch (verdict) {
        case Verdict::Dispatch:
        case Verdict::Ignore:
            return;
        case Verdict::Destroy:
            return destroy();
        case Verdict::Fault:
            return fault(event.detail->text);
        case Verdict::GiveUp:
            return give_up(ErrorCode::Limit, event.detail->text);
        case Verdict::AfterClosed:
            return fault(std::string(name_of(event.kind)) + " after closed");
        case Verdict::Closed:
            return end_in_order(event);
    }
}

void Link::end_in_order(const LinkEvent& event) {
    destroy();  // first: whoever is told may let go of us
    if (life_.abandoned()) return;
    if (const auto owed = unfinished(); !owed.empty()) return fault("closed while " + owed);
    if (life_.end()) on_closed(event.detail ? &event.detail->problem : nullptr);
}

void Link::fault(const std::string& what) {
    instance.misbehaved(where_ + ": " + what);
    give_up(ErrorCode::Internal,
            "plugin \"" + instance.plugin() + "\" broke the plugin contract: " + what);
}

void Link::give_up(ErrorCode code, const std::string& why) {
    if (life_.distrust()) close_made();
    if (life_.end()) on_given_up({code, why});
}

void Link::failed_at(EventKind kind, const char* what) {
    const auto why = std::string("internal error at ") + name_of(kind) + ": " + what;
    core::count_escape();
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
    if (status == PATCHBAY_OK && wrong.empty()) {
        life_.begin();
        ++instance.channels;
    } else {
        abandon();
    }
    if (wrong.empty()) return status;
    wrong = slot + wrong;
    instance.misbehaved(who + ": " + wrong);
    return Error{ErrorCode::Internal, "plugin \"" + instance.plugin() + "\": " + wrong};
}

void Link::close() {
    loop.assert_here();
    if (life_.close()) close_made();
}

void Link::destroy() {
    if (!life_.destroy()) return;
    --instance.channels;
    destroy_made();
}

void Link::abandon() {
    life_.abandon();
    queue_.shut();
    if (!life_.alive()) return;
    core::log::warn("server \"" + server + "\": plugin \"" + instance.plugin() +
                    "\" has not closed its " + kind_ + "; it is left behind");
    // The plugin holds our address and may still tell events: it is never freed.
    static std::mutex of_all_loops;
    static auto& left_behind = *new std::vector<std::shared_ptr<Recipient>>;
    const std::scoped_lock lock(of_all_loops);
    left_behind.push_back(shared_from_this());
}

void Link::resume() {
    queue_.resume();
    end_round();
}

}  // namespace patchbay::plugin
