#include "gateway/answers.hpp"

#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"

#include <array>

namespace patchbay::gateway {
using protocol::Era;

namespace {

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

// What a result says of itself.
struct Said {
    bool any = false, typed = false, complete = true, aged = false, scoped = false;
    bool meta_twice = false;
    std::string_view meta = {};  // raw; empty: none
};

Said said_in(std::string_view raw_result) {
    Said said;
    protocol::each_member(raw_result, [&](std::string_view key, std::string_view value) {
        said.any = true;
        if (key == "resultType") said.typed = true, said.complete = value == "\"complete\"";
        said.aged = said.aged || key == "ttlMs";
        said.scoped = said.scoped || key == "cacheScope";
        if (key != "_meta") return true;
        said.meta_twice = !said.meta.empty();
        said.meta = value;
        return true;
    });
    return said;
}

// Without its quotes: of ours, which has no escape.
std::string_view key_of(std::string_view member) {
    return member.substr(1, protocol::past_string(member, 0) - 2);
}

// Into the `_meta` that is there: all up to its end goes before.
void add_to_meta(Outcome& outcome, std::string_view raw_meta, std::string_view identity) {
    bool any = false, identified = false;
    const auto ours = key_of(identity);
    protocol::each_member(raw_meta, [&](std::string_view key, std::string_view) {
        any = true;
        identified = identified || key == ours;
        return !identified;
    });
    if (identified || !raw_meta.starts_with('{')) return;
    const auto inside = static_cast<std::size_t>(raw_meta.data() - outcome.rest.data()) + 1;
    outcome.begin.append(outcome.rest.substr(0, inside)).append(identity).append(any ? "," : "");
    outcome.rest.remove_prefix(inside);
}

}  // namespace

// What is added stands first: what a server said is not touched.
Outcome result_for(Era era, std::string_view method, std::string_view raw_result,
                   std::string_view identity) {
    Outcome outcome{"\"result\":", raw_result};
    if (era == Era::Legacy) return outcome;
    const auto said = said_in(raw_result);
    std::string added;
    if (!said.typed) protocol::append_member(added, "resultType", "\"complete\"");
    if (said.complete && may_be_kept(method)) {
        if (!said.aged) protocol::append_member(added, "ttlMs", "0");
        if (!said.scoped) protocol::append_member(added, "cacheScope", "\"private\"");
    }
    if (said.meta.empty() && !identity.empty())
        protocol::append_member(added, "_meta", "{" + std::string(identity) + "}");
    if (!added.empty()) {
        outcome.begin.append("{").append(added).append(said.any ? "," : "");
        outcome.rest.remove_prefix(raw_result.find('{') + 1);
    }
    if (!said.meta.empty() && !said.meta_twice && !identity.empty())
        add_to_meta(outcome, said.meta, identity);
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

std::string other_versions(std::string_view requested) {
    std::string supported;
    for (const auto version : protocol::kVersions)
        if (!protocol::speaks(requested) || protocol::era_of(version) == Era::Modern)
            supported.append(supported.empty() ? "" : ",").append(protocol::quoted(version));
    return "{\"supported\":[" + supported +
           "],\"requested\":" + protocol::quoted(core::printable(requested, 80)) + "}";
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

Outcome tool_error(Era era, std::string_view message, std::string_view identity) {
    const auto told = "{\"content\":[{\"type\":\"text\",\"text\":" +
                      protocol::quoted(core::log::masked(message)) + "}],\"isError\":true}";
    return {result_for(era, "tools/call", told, identity).text()};
}

Outcome refusal(Era era, std::string_view method, const Error& error, std::string_view identity) {
    const auto message = core::log::masked(error.message);
    const bool unknown = error.code == ErrorCode::NotFound || error.code == ErrorCode::Invalid;
    if (method == "tools/call" && !unknown) return tool_error(era, message, identity);
    const bool resource = error.code == ErrorCode::NotFound && method == "resources/read";
    const auto code = resource && era == Era::Legacy         ? kResourceNotFound
                      : unknown                              ? kInvalidParams
                      : error.code == ErrorCode::Unsupported ? kMethodNotFound
                                                             : kInternalError;
    return {"\"error\":" + error_object(code, message, {}), {}, code};
}

Outcome refusal_without(std::string_view raw_capabilities, const Error& error) {
    const auto data = "{\"requiredCapabilities\":" + std::string(raw_capabilities) + "}";
    return {"\"error\":" + error_object(kMissingCapability, core::log::masked(error.message), data),
            {},
            kMissingCapability};
}

}  // namespace patchbay::gateway
