#include "service/session_answers.hpp"

#include "service/decisions.hpp"
#include "service/statuses.hpp"

namespace patchbay::service {

namespace {

Decision decision_of(const connection::SessionApproval& given, const core::Principal& asker) {
    Decision made;
    made.server = given.server;
    made.tool = given.tool;
    if (given.tool.empty()) made.request = given.method;
    made.level = config::Level::AllowSession;
    made.subject = subject_of(asker);
    made.by = core::to_string(asker);
    made.when = time_of(given.when);
    made.definition = given.definition;
    return made;
}

}  // namespace

std::vector<Decision> session_answers(const connection::Callers& callers) {
    std::vector<Decision> all;
    for (const auto number : callers.numbers()) {
        const auto& caller = *callers.find(number);
        for (const auto& given : caller.session_approvals().all()) {
            if (all.size() >= kMostSessionAnswers) return all;
            all.push_back(decision_of(given, caller.principal()));
        }
    }
    return all;
}

std::size_t forget_session_answers(const connection::Callers& callers,
                                   const std::function<bool(const Decision&)>& these) {
    std::size_t gone = 0;
    for (const auto number : callers.numbers()) {
        auto& caller = *callers.find(number);
        gone += caller.session_approvals().forget(
            [&](const auto& given) { return these(decision_of(given, caller.principal())); });
    }
    return gone;
}

}  // namespace patchbay::service
