#include "gateway/request_outcomes.hpp"

#include "core/json.hpp"
#include "gateway/client_abilities.hpp"
#include "gateway/request_log.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"

#include <utility>

namespace patchbay::gateway {

connection::Question RequestOutcomes::ask(RequestNumber number, const std::string& method,
                                          std::string_view params,
                                          connection::Caller::Answer answer,
                                          const std::string& key) {
    auto question = rounds_.ask(number, method, params, std::move(answer), key);
    // At the end of the turn: several things may be asked.
    loop_.defer(lifetime_.guard([this, number] { go_on(number); }));
    return question;
}

bool RequestOutcomes::resume(const ClientRequest& again, const protocol::Params& params) {
    const auto raw = protocol::raw_member(params.members, "requestState");
    if (raw.empty()) return false;
    const auto number = rounds_.resume(protocol::text_of_raw(raw).value_or(""),
                                       RequestStates::request(again.method, params.members));
    if (!number) {
        out_.answer(error_answer(again.id, kInvalidParams, number.error().message), again.route);
        return true;
    }
    requests_.rename(*number, again.id, again.route);
    requests_.find(*number)->meta = again.meta;
    // Who gets the answer may end the session.
    const auto watch = lifetime_.watch();
    rounds_.deliver(*number, protocol::raw_member(params.members, "inputResponses"));
    if (!watch.expired()) go_on(*number);
    return true;
}

// With the outcome that came meanwhile, or what is still to be asked.
void RequestOutcomes::go_on(RequestNumber number) {
    auto* request = requests_.find(number);
    if (!request || request->id.empty()) return;
    if (!request->outcome.empty()) {
        const auto ended = requests_.take(number);
        forget(number);
        return out_.answer(answer_with(ended->id, {ended->outcome, {}, ended->error}),
                           ended->route);
    }
    if (!rounds_.any(number)) return;
    const auto id = request->id;
    const auto route = request->route;
    const auto what = RequestStates::request(request->method, request->subject);
    const auto method = request->method;
    requests_.rename(number, {}, 0);
    const auto asked = rounds_.begin(number, what);
    out_.answer(answer_with(id, result_for(protocol::Era::Modern, method, asked, identity_)),
                route);
}

void RequestOutcomes::reply(RequestNumber number, std::string raw_result) {
    if (const auto* request = requests_.find(number))
        settle(number, result_for(request->meta.era, request->method, raw_result, identity_));
}

void RequestOutcomes::note_lack(RequestNumber number, std::string raw_capabilities) {
    if (auto* request = requests_.find(number)) request->lacking = std::move(raw_capabilities);
}

void RequestOutcomes::refuse(RequestNumber number, const Error& error) {
    const auto* request = requests_.find(number);
    if (!request) return;
    if (error.code == ErrorCode::Denied && request->modern() && !request->lacking.empty())
        return settle(number, refusal_without(request->lacking, error));
    settle(number,
           refusal(request->meta.era, request->as_task ? "" : request->method, error, identity_));
}

void RequestOutcomes::pass_on(RequestNumber number, Result<connection::Reply> reply) {
    const auto* request = requests_.find(number);
    if (!request) return;
    // What a router finds invalid of a call is its arguments, and whoever wrote them can write others.
    const bool of_a_call = request->method == "tools/call" && !request->as_task;
    if (!reply && of_a_call && reply.error().code == ErrorCode::Invalid)
        return settle(number, tool_error(request->meta.era, reply.error().message, identity_));
    if (!reply) return refuse(number, reply.error());
    if (!reply->error.empty() && has_pages_visited(number, reply->error)) return;
    const auto era = request->meta.era;
    settle(number, reply->error.empty() ? result_for(era, request->method, reply->result, identity_)
                                        : error_for(era, reply->error));
}

bool RequestOutcomes::has_pages_visited(RequestNumber number, std::string_view raw_error) {
    auto& request = *requests_.find(number);
    if (!request.modern() || !may_want_input(request.method)) return false;
    const auto pages = PageVisits::in(raw_error);
    if (pages.empty() || ++request.visits > PageVisits::kMostRounds) return false;
    request.call = 0;
    const auto can = core::parse_json_object(request.meta.capabilities);
    if (!can || !can_be_asked(*can, "elicitation/create", {{"mode", "url"}})) {
        settle(number, refusal_without(R"({"elicitation":{"url":{}}})",
                                       {ErrorCode::Denied, "pages have to be visited first"}));
        return true;
    }
    visits_.begin(
        number, pages,
        [&](const auto& page, auto answer) {
            return ask(number, "elicitation/create", page.params, std::move(answer), page.id);
        },
        [this, number](bool agreed) { on_visited(number, agreed); });
    return true;
}

// In another turn: the answer to the last page is still on its way to whoever asked.
void RequestOutcomes::on_visited(RequestNumber number, bool agreed) {
    loop_.defer(lifetime_.guard([this, number, agreed] {
        if (!requests_.find(number)) return;
        if (agreed) return start_(number);
        refuse(number, {ErrorCode::Denied,
                        "its server wants pages visited first, and that was not agreed to"});
    }));
}

void RequestOutcomes::forget(RequestNumber number) {
    visits_.end(number);
    rounds_.end(number);
}

// Once its client waits for it; until it asks again the outcome is kept.
void RequestOutcomes::settle(RequestNumber number, const Outcome& outcome) {
    auto& request = *requests_.find(number);
    if (request.call == 0) log_own_answer(client_, request, outcome, loop_.now());
    request.call = 0;
    if (request.id.empty()) {
        request.outcome = outcome.text();
        request.error = outcome.error;
        return;
    }
    const auto ended = requests_.take(number);
    forget(number);
    out_.answer(answer_with(ended->id, outcome), ended->route);
}

void RequestOutcomes::tell_progress(RequestNumber number, const connection::Progress& progress) {
    const auto* request = requests_.find(number);
    // One that was asked again may want to hear of none any more.
    if (!request || request->id.empty() || request->meta.progress_token.empty()) return;
    std::string members;
    protocol::each_member(progress.params, [&](std::string_view key, std::string_view value) {
        protocol::append_member(members, key,
                                key == "progressToken" ? request->meta.progress_token : value);
        return true;
    });
    out_.send_event(request->id, protocol::notification("notifications/progress", members),
                    request->route);
}

}  // namespace patchbay::gateway
