#include "gateway/answers.hpp"

#include "core/log.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

#include <array>

namespace patchbay::gateway {
using protocol::Era;

namespace {

constexpr std::int64_t kUrlElicitationRequired = -32042;  // 2025-11-25 alone

bool may_be_kept(std::string_view method) {
    constexpr std::array<std::string_view, 6> kCacheable = {
        "server/discover",          "tools/list",    "prompts/list", "resources/list",
        "resources/templates/list", "resources/read"};
    for (const auto each : kCacheable)
        if (each == method) return true;
    return false;
}

std::string error_object(std::int64_t code, std::string_view message, std::string_view raw_data) {
    std::string object =
        "{\"code\":" + std::to_string(code) + ",\"message\":" + protocol::quoted(message);
    if (!raw_data.empty()) object.append(",\"data\":").append(raw_data);
    return object + "}";
}

}  // namespace

// What is added stands first: what a server said is not touched.
Outcome result_for(Era era, std::string_view method, std::string_view raw_result) {
    Outcome outcome{"\"result\":", raw_result};
    if (era == Era::Legacy) return outcome;
    bool typed = false, complete = true, aged = false, scoped = false, any = false;
    const bool kept = may_be_kept(method);
    protocol::each_member(raw_result, [&](const std::string& key, std::string_view value) {
        any = true;
        if (key == "resultType") typed = true, complete = value == "\"complete\"";
        aged = aged || key == "ttlMs";
        scoped = scoped || key == "cacheScope";
        return kept || !typed;
    });
    std::string added;
    if (!typed) protocol::append_member(added, "resultType", "\"complete\"");
    if (complete && kept) {
        if (!aged) protocol::append_member(added, "ttlMs", "0");
        if (!scoped) protocol::append_member(added, "cacheScope", "\"private\"");
    }
    if (added.empty()) return outcome;
    outcome.begin.append("{").append(added).append(any ? "," : "");
    outcome.rest.remove_prefix(raw_result.find('{') + 1);
    return outcome;
}

Outcome error_for(Era era, std::string_view raw_error) {
    const auto of_our_own = [](std::int64_t code, std::string_view message, std::string_view data) {
        return Outcome{"\"error\":" + error_object(code, message, data), {}, code};
    };
    const auto error = protocol::parse_rpc_error(raw_error);
    if (!error) return of_our_own(kInternalError, "the server answered no proper error", {});
    const bool modern = era == Era::Modern;
    auto code = error->code;
    if (modern && code == kResourceNotFound) code = kInvalidParams;
    if (modern && code == kUrlElicitationRequired) code = kInternalError;
    if (code == error->code) return {"\"error\":", raw_error, code};
    return of_our_own(code, error->message, error->data);
}

Answer answer_with(std::string_view raw_id, const Outcome& outcome) {
    constexpr std::string_view kBegin = "{\"jsonrpc\":\"2.0\",\"id\":";
    Answer answer{{}, outcome.error};
    auto& message = answer.message;
    message.reserve(kBegin.size() + raw_id.size() + outcome.begin.size() + outcome.rest.size() + 2);
    message.append(kBegin).append(raw_id).append(",");
    message.append(outcome.begin).append(outcome.rest).append("}");
    return answer;
}

Answer error_answer(std::string_view raw_id, std::int64_t code, std::string_view message,
                    std::string_view raw_data) {
    auto answer = answer_with(raw_id.empty() ? "null" : raw_id,
                              {"\"error\":" + error_object(code, message, raw_data), {}, code});
    answer.nameless = raw_id.empty();
    return answer;
}

std::string error_message(std::string_view raw_id, std::int64_t code, std::string_view message) {
    return error_answer(raw_id, code, message).message;
}

Outcome refusal(Era era, std::string_view method, const Error& error) {
    const auto message = core::log::masked(error.message);
    const bool unknown = error.code == ErrorCode::NotFound || error.code == ErrorCode::Invalid;
    if (method == "tools/call" && !unknown) {
        const auto told = "{\"content\":[{\"type\":\"text\",\"text\":" + protocol::quoted(message) +
                          "}],\"isError\":true}";
        return {result_for(era, method, told).text()};
    }
    const bool resource = error.code == ErrorCode::NotFound && method == "resources/read";
    const auto code = resource && era == Era::Legacy         ? kResourceNotFound
                      : unknown                              ? kInvalidParams
                      : error.code == ErrorCode::Unsupported ? kMethodNotFound
                                                             : kInternalError;
    return {"\"error\":" + error_object(code, message, {}), {}, code};
}

}  // namespace patchbay::gateway
