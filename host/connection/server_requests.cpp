#include "connection/server_requests.hpp"

#include <string>

namespace patchbay::connection {

Result<void> ServerRequests::add(RequestId exchange, std::size_t bytes) {
    open_.emplace(exchange, bytes);
    bytes_ += bytes;
    return judge();
}

Result<bool> ServerRequests::answer(RequestId exchange, std::size_t bytes) {
    const auto found = open_.find(exchange);
    if (found == open_.end()) return false;
    bytes_ += bytes - found->second;
    found->second = bytes;
    if (const auto fits = judge(); !fits) return fits.error();
    return true;
}

void ServerRequests::done(RequestId exchange) {
    const auto found = open_.find(exchange);
    if (found == open_.end()) return;
    bytes_ -= found->second;
    open_.erase(found);
}

void ServerRequests::clear() {
    open_.clear();
    bytes_ = 0;
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
