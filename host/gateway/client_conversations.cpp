#include "gateway/client_conversations.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace patchbay::gateway {

namespace {

std::optional<Error> too_long(const char* what, const std::string& text) {
    if (text.size() <= ClientConversations::kTextBytes) return {};
    return Error{ErrorCode::Limit, std::string(what) + " has " + std::to_string(text.size()) +
                                       " bytes, of at most " +
                                       std::to_string(ClientConversations::kTextBytes)};
}

}  // namespace

ClientConversations::~ClientConversations() {
    lifetime_.end();
    for (const auto& each : open_) with_->end(each.name);
}

std::deque<ClientConversations::Open>::iterator ClientConversations::find(const std::string& name) {
    return std::find_if(open_.begin(), open_.end(),
                        [&](const auto& each) { return each.name == name; });
}

Result<service::Operation> ClientConversations::start(const std::string& message,
                                                      Conversations::Said said) {
    if (auto error = too_long("the message", message)) return std::move(*error);
    return with_->start(message, noting(std::move(said)));
}

Result<service::Operation> ClientConversations::reply(const std::string& conversation,
                                                      const std::string& message,
                                                      Conversations::Said said) {
    if (auto error = too_long("the message", message)) return std::move(*error);
    const auto found = find(conversation);
    const auto called = "conversation \"" + core::printable(conversation, 80) + "\"";
    if (found == open_.end())
        return Error{ErrorCode::NotFound,
                     "no " + called + " is open; start_conversation begins one"};
    if (!found->reply.expired())
        return Error{ErrorCode::Unavailable,
                     called + " has a reply under way; wait for it, or cancel it"};
    auto operation = with_->reply(conversation, message, noting(std::move(said)));
    if (const auto still = find(conversation); still != open_.end()) still->reply = operation;
    return operation;
}

Conversations::Said ClientConversations::noting(Conversations::Said said) {
    return lifetime_.guard([this, said = std::move(said)](Result<Conversations::Turn> turn) {
        if (!turn) return said(std::move(turn));
        if (const auto found = find(turn->conversation); found != open_.end()) open_.erase(found);
        if (!turn->over) open_.push_back({turn->conversation, {}});
        if (open_.size() > kMost) {
            const auto oldest = std::move(open_.front().name);
            open_.pop_front();
            with_->end(oldest);
        }
        if (auto error = too_long("the answer", turn->text)) return said(std::move(*error));
        said(std::move(turn));
    });
}

}  // namespace patchbay::gateway
