#include "gateway/client_questions.hpp"

#include "protocol/compose.hpp"

#include <memory>

namespace patchbay::gateway {

connection::Question ClientQuestions::ask(const std::string& from, const std::string& method,
                                          std::string_view params,
                                          connection::Caller::Answer answer, Route to) {
    const auto number = ++last_;
    const auto split = protocol::split_params(params.empty() ? "{}" : params);
    if (!out_.send_question(
            from, protocol::request(number, method, split ? *split : protocol::Params{}), to)) {
        answer(Error{ErrorCode::Unavailable, "the client does not read what it is asked"});
        return {};
    }
    waiting_.emplace(number, Waiting{std::move(answer), to});
    return {this, [withdrawn = lifetime_.guard([this, number] { withdraw(number); })](
                      void*) mutable { withdrawn(); }};
}

void ClientQuestions::answered(std::int64_t number, Result<connection::Given> given) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return;
    const auto answer = std::move(found->second.answer);
    waiting_.erase(found);  // first: the question is withdrawn by being answered
    answer(std::move(given));
}

void ClientQuestions::withdraw(std::int64_t number) {
    const auto gone = waiting_.extract(number);
    if (!gone) return;
    out_.say(protocol::notification("notifications/cancelled",
                                    "\"requestId\":" + std::to_string(number)),
             gone.mapped().route);
}

}  // namespace patchbay::gateway
