// Tools that need something of the client. Legacy: a request to it. Modern: an input_required
// result, and the whole call once more with the answer in it.
#include "example/tools.hpp"
#include "example/wire.hpp"

namespace example {
namespace json = boost::json;

namespace {

struct Question {
    const char* capability;
    const char* method;
    std::string params;  // members
};

// The client's result, as it came, is what the tool answers with.
std::string told(const json::value& result) {
    const std::string text = json::serialize(result);
    return text_content(text) + ",\"structuredContent\":{\"answer\":" + text + "}";
}

void put(const Call& call, const Question& question) {
    // Says which question this was; worth nothing to a forger, so it is not signed.
    const std::string state = std::string("asked ") + question.method;
    const bool able = call.request.capabilities.contains(question.capability);
    if (call.request.era == Era::Legacy) {
        if (!able)
            return answer_failure(call, std::string("the client has no ") + question.capability);
        call.session.ask(
            question.method, question.params,
            [&session = call.session, ticket = call.ticket()](const json::object& message) {
                if (const auto* result = message.if_contains("result")) {
                    return session.answer(ticket, told(*result));
                }
                const auto* error = message.if_contains("error");
                session.answer(ticket,
                               text_content("the client refused: " +
                                            json::serialize(error ? *error : json::value())) +
                                   ",\"isError\":true");
            });
        return;
    }
    if (const auto* responses = object_in(call.request.params, "inputResponses")) {
        const auto* given_state = string_in(call.request.params, "requestState");
        if (!given_state || *given_state != state) {
            return call.session.fail(call.request.id, -32602,
                                     "requestState is not the one we gave");
        }
        if (const auto* response = responses->if_contains("question")) {
            return call.session.answer(call.ticket(), told(*response));
        }
    }
    if (!able) {
        return call.session.fail(
            call.request.id, -32021, std::string("the client has no ") + question.capability,
            std::string(R"({"requiredCapabilities":{")") + question.capability + R"(":{}}})");
    }
    call.session.answer(
        call.ticket(),
        "\"resultType\":\"input_required\",\"inputRequests\":{\"question\":{\"method\":" +
            quoted(question.method) + ",\"params\":{" + question.params +
            "}}},\"requestState\":" + quoted(state));
}

std::string text_argument(const Call& call, std::string_view key, std::string_view otherwise) {
    const auto* text = string_in(call.arguments, key);
    return text ? std::string(text->data(), text->size()) : std::string(otherwise);
}

}  // namespace

void run_ask(const Call& call) {
    if (const auto url = text_argument(call, "url", ""); !url.empty())
        return put(call, {"elicitation", "elicitation/create",
                          R"("mode":"url","elicitationId":"e","message":"Please visit","url":)" +
                              quoted(url)});
    put(call,
        {"elicitation", "elicitation/create",
         "\"mode\":\"form\",\"message\":" +
             quoted(text_argument(call, "question", "What is your name?")) +
             R"(,"requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"nobody"},)"
             R"("age":{"type":"integer","minimum":0,"default":30}},"required":["name"]})"});
}

void run_sample(const Call& call) {
    put(call, {"sampling", "sampling/createMessage",
               R"("messages":[{"role":"user","content":{"type":"text","text":)" +
                   quoted(text_argument(call, "prompt", "Say hello.")) + R"(}}],"maxTokens":100)"});
}

void run_roots(const Call& call) {
    put(call, {"roots", "roots/list", ""});
}

}  // namespace example
