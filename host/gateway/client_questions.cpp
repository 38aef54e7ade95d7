#include "gateway/client_questions.hpp"

#include "core/text.hpp"
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
    waiting_.emplace(number, Waiting{std::move(answer), to, method, loop_.now() + kLifetime});
    if (!limit_.running()) watch_oldest();
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
    if (const auto gone = waiting_.extract(number)) call_off(number, gone.mapped().route, {});
}

void ClientQuestions::call_off(std::int64_t number, Route route, const std::string& reason) {
    auto members = "\"requestId\":" + std::to_string(number);
    if (!reason.empty()) protocol::append_member(members, "reason", protocol::quoted(reason));
    out_.say(protocol::notification("notifications/cancelled", members), route);
}

void ClientQuestions::watch_oldest() {
    if (waiting_.empty()) return;
    limit_.start(waiting_.begin()->second.until - loop_.now(), [this] { expire(); });
}

// Whoever hears that there is no answer may ask the next thing, or end the session.
void ClientQuestions::expire() {
    const auto watch = lifetime_.watch();
    while (!waiting_.empty() && waiting_.begin()->second.until <= loop_.now()) {
        const auto gone = waiting_.extract(waiting_.begin());
        const auto& asked = gone.mapped();
        const auto why =
            "the client has not answered " + asked.method + " within " + core::duration(kLifetime);
        call_off(gone.key(), asked.route, why);
        asked.answer(Error{ErrorCode::Timeout, why});
        if (watch.expired()) return;
    }
    watch_oldest();
}

}  // namespace patchbay::gateway
