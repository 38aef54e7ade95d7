#include "gateway/client_questions.hpp"

#include "protocol/compose.hpp"

#include <memory>

namespace patchbay::gateway {
namespace json = boost::json;

connection::Question ClientQuestions::ask(const std::string& method, const json::object& params,
                                          connection::Caller::Answer answer) {
    const auto number = ++last_;
    waiting_.emplace(number, std::move(answer));
    out_.send(protocol::request(number, method, {protocol::members_of(params), {}}));
    return {this, [withdrawn = lifetime_.guard([this, number] { withdraw(number); })](
                      void*) mutable { withdrawn(); }};
}

void ClientQuestions::answered(std::int64_t number, Result<json::object> given) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return;
    const auto answer = std::move(found->second);
    waiting_.erase(found);  // first: the question is withdrawn by being answered
    answer(std::move(given));
}

void ClientQuestions::withdraw(std::int64_t number) {
    if (waiting_.erase(number) == 0) return;
    out_.send(protocol::notification("notifications/cancelled",
                                     "\"requestId\":" + std::to_string(number)));
}

}  // namespace patchbay::gateway
