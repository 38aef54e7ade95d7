#include "connection/outbox.hpp"

#include "protocol/compose.hpp"
#include "protocol/versions.hpp"

namespace patchbay::connection {

Outbox::Outbox(core::Loop& loop, const core::Limits& limits, Link& link, OutboxOwner& owner)
    : loop_(loop), limits_(limits), link_(link), owner_(owner) {}

void Outbox::send(Outgoing&& message) {
    // What a caller wrote stands in it as it was written; a line of its own would be a message that
    // nobody judged.
    protocol::flatten(message.body);
    if (flow_ == plugin::Flow::Ready) return hand_over(message);
    // Requests and answers are bounded where they come from; this bounds notifications.
    if (waiting_.size() >= limits_.queue_messages + limits_.server_requests) return overflow();
    ++last_place_;
    if (message.kind == plugin::MessageKind::Request)
        owner_.on_queued(message.exchange, last_place_);
    waiting_.emplace(last_place_, std::move(message));
}

// Who sends may be in the middle of ending its request: the connection ends after that.
void Outbox::overflow() {
    Error error{ErrorCode::Limit,
                "does not read what it is sent: " + std::to_string(waiting_.size()) +
                    " messages wait (limit queue_messages)"};
    loop_.defer(lifetime_.guard([this, error = std::move(error)] {
        if (link_.channel && !waiting_.empty()) owner_.on_overflow(error);
    }));
}

void Outbox::hand_over(Outgoing& outgoing) {
    if (outgoing.kind == plugin::MessageKind::Request) owner_.on_leaving(outgoing.exchange);
    if (outgoing.method == "tools/call") ++link_.bill.cost.calls;
    link_.bill.cost.sent_bytes += outgoing.body.size();
    plugin::OutgoingMessage message;
    message.kind = outgoing.kind;
    message.exchange = outgoing.exchange;
    message.body = core::Buffer::from(std::move(outgoing.body));
    message.method = outgoing.method;
    if (link_.session)
        message.protocol = link_.session->version;
    else if (link_.modern(outgoing.method))
        message.protocol = protocol::kModernVersion;
    message.headers = &outgoing.headers;
    const auto flow =
        link_.channel ? link_.channel->send(std::move(message))
                      : Result<plugin::Flow>(Error{ErrorCode::Unavailable, "there is no channel"});
    if (!flow) return owner_.on_not_taken(outgoing.kind, outgoing.exchange, flow.error());
    flow_ = *flow;
}

void Outbox::writable() {
    flow_ = plugin::Flow::Ready;
    while (!waiting_.empty() && flow_ == plugin::Flow::Ready) {
        auto next = std::move(waiting_.begin()->second);
        waiting_.erase(waiting_.begin());
        hand_over(next);
    }
}

void Outbox::clear() {
    waiting_.clear();
    flow_ = plugin::Flow::Ready;
}

}  // namespace patchbay::connection
