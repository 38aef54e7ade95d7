#include "connection/pending_requests.hpp"

#include <algorithm>

namespace patchbay::connection {

PendingRequests::PendingRequests(core::Loop& loop, std::function<void(RequestId)> expired)
    : loop_(loop), expired_(std::move(expired)), time_(loop.time()), timer_(loop) {}

PendingRequest& PendingRequests::add(RequestId id, PendingRequest&& pending) {
    auto& added = pending_.emplace(id, std::move(pending)).first->second;
    added.wire_id = id;
    bytes_ += added.bytes;
    touch(added);
    return added;
}

PendingRequest* PendingRequests::find(RequestId id) {
    const auto found = pending_.find(id);
    return found == pending_.end() ? nullptr : &found->second;
}

RequestId PendingRequests::id_of_wire(RequestId wire_id) const {
    if (!resent_.empty()) {
        const auto found = resent_.find(wire_id);
        if (found != resent_.end()) return found->second;
    }
    const auto found = pending_.find(wire_id);
    // The first sending of a request that was sent again is no longer awaited.
    return found != pending_.end() && found->second.wire_id == wire_id ? wire_id : 0;
}

void PendingRequests::set_wire_id(RequestId id, RequestId wire_id) {
    auto& pending = pending_.at(id);
    if (pending.wire_id != id) resent_.erase(pending.wire_id);
    pending.wire_id = wire_id;
    resent_[wire_id] = id;
}

void PendingRequests::touch(PendingRequest& pending) {
    if (pending.idle.count() > 0) pending.idle_deadline = time_.now() + pending.idle;
    arm(pending.due());
}

void PendingRequests::hold(PendingRequest& pending, std::chrono::milliseconds most) {
    pending.held_at = time_.now();
    pending.held_deadline = pending.deadline;
    pending.idle_deadline = core::Clock::time_point::max();
    if (pending.request.timeout.count() == 0) pending.deadline = pending.held_at + most;
    arm(pending.due());
}

// What a person took to answer counts against nobody, except where the caller set the time-out and
// so meant all of it.
void PendingRequests::release(PendingRequest& pending) {
    constexpr auto never = core::Clock::time_point::max();
    const bool callers_own = pending.request.timeout.count() > 0 || pending.held_deadline == never;
    pending.deadline = pending.held_deadline;
    if (!callers_own) pending.deadline += time_.now() - pending.held_at;
    touch(pending);
}

PendingRequest PendingRequests::take(RequestId id) {
    const auto found = pending_.find(id);
    PendingRequest taken = std::move(found->second);
    pending_.erase(found);
    if (taken.wire_id != id) resent_.erase(taken.wire_id);
    bytes_ -= taken.bytes;
    // After its handler, which is the last to know of it; who waits for the end may end all of this.
    if (drained_ && !taken.own())
        loop_.defer(lifetime_.guard([this] {
            if (!any_begun()) drained_();
        }));
    return taken;
}

bool PendingRequests::any_begun() const {
    return std::any_of(pending_.begin(), pending_.end(), [](const auto& each) {
        return !each.second.own() && each.second.stage != Stage::Waiting;
    });
}

bool PendingRequests::any_of(CallerNumber caller) const {
    return std::any_of(pending_.begin(), pending_.end(), [&](const auto& each) {
        return caller == 0 ? !each.second.own() : each.second.caller == caller;
    });
}

CallerNumber PendingRequests::only_caller_sent() const {
    CallerNumber only = 0;
    for (const auto& [id, pending] : pending_) {
        if (pending.own() || pending.stage != Stage::Sent) continue;
        if (only != 0 && only != pending.caller) return 0;
        only = pending.caller;
    }
    return only;
}

std::vector<const PendingRequest*> PendingRequests::sent() const {
    std::vector<const PendingRequest*> sent;
    for (const auto& [id, pending] : pending_)
        if (!pending.own() && pending.stage == Stage::Sent) sent.push_back(&pending);
    return sent;
}

std::vector<RequestId> PendingRequests::ids() const {
    std::vector<RequestId> ids;
    ids.reserve(pending_.size());
    for (const auto& [id, pending] : pending_) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    return ids;
}

// One timer for all: a timer each would cost every call its start and its end.
void PendingRequests::arm(core::Clock::time_point due) {
    if (due >= armed_for_ || due == core::Clock::time_point::max()) return;
    armed_for_ = due;
    timer_.start(std::max(due - time_.now(), core::Clock::duration::zero()), [this] { sweep(); });
}

void PendingRequests::sweep() {
    armed_for_ = core::Clock::time_point::max();
    const auto now = time_.now();
    auto next = core::Clock::time_point::max();
    std::vector<RequestId> due;
    for (const auto& [id, pending] : pending_) {
        if (pending.due() <= now)
            due.push_back(id);
        else
            next = std::min(next, pending.due());
    }
    arm(next);
    std::sort(due.begin(), due.end());  // in the order in which they were asked
    for (const auto id : due) {
        if (find(id)) expired_(id);
    }
}

}  // namespace patchbay::connection
