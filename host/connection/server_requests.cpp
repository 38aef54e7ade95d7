#include "connection/server_requests.hpp"

#include <string>
#include <utility>

namespace patchbay::connection {

Result<void> ServerRequests::add(RequestId exchange, std::size_t bytes, std::string id,
                                 RequestId call) {
    unanswered_[id].insert(exchange);
    open_.emplace(exchange, Open{bytes, std::move(id), call, {}});
    bytes_ += bytes;
    return judge();
}

void ServerRequests::keep(RequestId exchange, Question question) {
    const auto found = open_.find(exchange);
    if (!question || found == open_.end() || found->second.answered) return;
    found->second.question = std::move(question);
    asking_.insert(exchange);
}

void ServerRequests::ask(RequestId exchange, CallerNumber caller) {
    const auto found = open_.find(exchange);
    if (found != open_.end()) found->second.caller = caller;
}

ServerRequests::Exchanges ServerRequests::open_at(CallerNumber caller) const {
    Exchanges exchanges;
    for (const auto& [exchange, open] : open_)
        if (open.caller == caller && !open.answered) exchanges.emplace_back(exchange, open.id);
    return exchanges;
}

ServerRequests::Exchanges ServerRequests::asking(CallerNumber caller, RequestId call) const {
    Exchanges exchanges;
    for (const auto exchange : asking_) {
        const auto& open = open_.at(exchange);
        if (open.caller == caller && (call == 0 || open.call == call))
            exchanges.emplace_back(exchange, open.id);
    }
    return exchanges;
}

void ServerRequests::withdraw(std::string_view id) {
    const auto found = unanswered_.find(id);
    if (found != unanswered_.end()) done(*found->second.begin());
}

Result<bool> ServerRequests::answer(RequestId exchange, std::size_t bytes) {
    const auto found = open_.find(exchange);
    if (found == open_.end() || found->second.answered) return false;
    auto& open = found->second;
    bytes_ += bytes - open.bytes;
    open.bytes = bytes;
    open.answered = true;
    forget_id(exchange, open);
    const auto gone = std::move(open.question);
    if (const auto fits = judge(); !fits) return fits.error();
    return true;
}

// A question that goes may bring the next one up, whose answer comes back here: it goes last.
void ServerRequests::done(RequestId exchange) {
    const auto found = open_.find(exchange);
    if (found == open_.end()) return;
    const auto gone = std::move(found->second.question);
    if (!found->second.answered) forget_id(exchange, found->second);
    bytes_ -= found->second.bytes;
    open_.erase(found);
}

void ServerRequests::clear() {
    const auto gone = std::exchange(open_, {});
    unanswered_.clear();
    asking_.clear();
    bytes_ = 0;
}

void ServerRequests::forget_id(RequestId exchange, const Open& open) {
    asking_.erase(exchange);
    const auto found = unanswered_.find(open.id);
    found->second.erase(exchange);
    if (found->second.empty()) unanswered_.erase(found);
}

Result<void> ServerRequests::judge() const {
    // One alone is bounded by message_bytes.
    const bool many = open_.size() > limits_.server_requests;
    const bool large = open_.size() > 1 && bytes_ > limits_.server_request_bytes;
    if (!many && !large) return {};
    return Error{
        ErrorCode::Limit,
        "sent requests of its own without reading the answers: " + std::to_string(open_.size()) +
            " with " + std::to_string(bytes_) + " bytes are open (limit " +
            (many ? "server_requests, " + std::to_string(limits_.server_requests)
                  : "server_request_bytes, " + std::to_string(limits_.server_request_bytes)) +
            ")"};
}

}  // namespace patchbay::connection
