#include "connection/input_rounds.hpp"

#include "core/json_beside.hpp"
#include "protocol/compose.hpp"

#include <boost/json.hpp>

#include <map>
#include <optional>

namespace patchbay::connection {
namespace json = boost::json;

namespace {

// Of an object's text.
std::string_view members_inside(std::string_view object) {
    const auto begin = object.find('{'), end = object.rfind('}');
    if (begin == std::string_view::npos || end == std::string_view::npos) return {};
    return object.substr(begin + 1, end - begin - 1);
}

bool may_want_input(std::string_view method) {
    return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

}  // namespace

// One input_required result being answered.
struct InputRounds::Round {
    RequestId id = 0;
    unsigned number = 0;
    std::string state;           // `"requestState":...`, to be sent back; empty: there is none
    std::string responses = {};  // raw members
    std::size_t missing = 0;
    std::optional<Error> failed = {};
};

InputRounds::InputRounds(const Context& context, const ServerName& name, Requests& requests)
    : context_(context), name_(name), requests_(requests) {}

PendingRequest* InputRounds::waiting(const Round& round) {
    auto* entry = requests_.pending().find(round.id);
    const bool asking = entry && entry->stage == Stage::Asking && entry->rounds == round.number;
    return asking ? entry : nullptr;
}

Result<json::object> InputRounds::judge(PendingRequest& entry, std::string_view result) const {
    const auto& limits = context_.terms.limits;
    if (entry.own() || !may_want_input(entry.request.method))
        return Error{ErrorCode::Protocol,
                     entry.request.method +
                         " was answered with input_required, which only prompts/get, "
                         "resources/read and tools/call may be"};
    // Counted before anything is looked at: what makes no sense is a round as well.
    if (++entry.rounds > limits.input_rounds)
        return Error{ErrorCode::Limit, "asked for input more than " +
                                           std::to_string(limits.input_rounds) +
                                           " times for one request (limit input_rounds)"};
    auto object = core::read_json_object(result, {.depth = limits.json_depth});
    if (!object)
        return Error{object.error().code,
                     "asked for input in a result that " + object.error().message};
    const auto* asked = core::object_in(&*object, "inputRequests");
    const bool nothing = !asked || asked->empty();
    if (nothing && !object->if_contains("requestState"))
        return Error{ErrorCode::Protocol, "asked for input without saying what"};
    if (!nothing && asked->size() > limits.input_requests)
        return Error{ErrorCode::Limit,
                     "asked " + std::to_string(asked->size()) + " questions at once, more than " +
                         std::to_string(limits.input_requests) + " (limit input_requests)"};
    return std::move(*object);
}

// The result has ended that sending, and behind HTTP its stream with it.
void InputRounds::begin(RequestId id, std::string_view result) {
    auto& pending = requests_.pending();
    auto& entry = *pending.find(id);
    const auto object = judge(entry, result);
    if (!object) return requests_.fail_unanswered(id, object.error());
    auto round = std::make_shared<Round>();
    round->id = id;
    round->number = entry.rounds;
    const auto raw = members_inside(result);
    if (const auto state = protocol::raw_member(raw, "requestState"); !state.empty())
        protocol::append_member(round->state, "requestState", state);
    // Its bytes go with the request that is sent again, or whose answer this is.
    const std::string questions(protocol::raw_member(raw, "inputRequests"));
    // What still comes for the old number is nobody's.
    pending.set_wire_id(id, requests_.delivery().next_id());
    entry.stage = Stage::Asking;
    // It has reached its server, which may have begun with it: whatever becomes of the next sending.
    entry.uncertain = true;
    pending.hold(entry, core::kInputWait);  // the time a person takes is not the server's
    const auto* asked = core::object_in(&*object, "inputRequests");
    if (!asked || asked->empty()) return send_again(round);
    ask(round, *asked, questions);
}

void InputRounds::ask(const std::shared_ptr<Round>& round, const json::object& questions,
                      std::string_view raw) {
    round->missing = questions.size();
    std::map<std::string, std::string_view> texts;  // by key; of equal keys the last, as was read
    protocol::each_member(raw, [&](std::string_view key, std::string_view text) {
        texts.insert_or_assign(std::string(key), text);
        return true;
    });
    const auto watch = lifetime_.watch();
    for (const auto& member : questions) {
        const auto answer = lifetime_.guard(
            [this, round, key = std::string(member.key())](const Result<Given>& given) {
                if (given)
                    protocol::append_member(round->responses, key, given->text);
                else if (!round->failed)
                    round->failed = given.error();
                if (--round->missing == 0) send_again(round);
            });
        const auto* request = member.value().if_object();
        const auto method = core::text_in(request, "method");
        const auto* params = core::object_in(request, "params");
        if (!method) {
            auto unasked = answer;
            unasked(Result<Given>(Error{ErrorCode::Protocol, "an input request has no method"}));
            continue;
        }
        auto* caller = waiting(*round) ? context_.callers.find(waiting(*round)->caller) : nullptr;
        if (!caller) return;  // it has ended, and may have gone, by what was asked before
        const std::string key(member.key());
        const auto text = protocol::raw_member(members_inside(texts[key]), "params");
        auto question = caller->answer(
            name_.id(), std::string(*method), params ? *params : json::object(), answer,
            {waiting(*round)->request.reference, key, params ? text : std::string_view()});
        // The caller may have answered at once, and that may have ended the request, or us.
        if (watch.expired()) return;
        auto* entry = waiting(*round);
        if (question && entry) entry->questions.push_back(std::move(question));
    }
}

void InputRounds::send_again(const std::shared_ptr<Round>& round) {
    auto* entry = waiting(*round);
    if (!entry) return;
    if (round->failed) return requests_.fail_unanswered(round->id, *round->failed);
    entry->questions.clear();
    requests_.pending().release(*entry);
    // The original params stay as they were; only this round's answers are added.
    entry->round = round->state;
    if (!round->responses.empty())
        entry->round =
            protocol::joined("\"inputResponses\":{" + round->responses + "}", round->state);
    requests_.resend(round->id);
}

}  // namespace patchbay::connection
