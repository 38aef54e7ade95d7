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

std::string result_for(Era era, std::string_view method, std::string_view raw_result) {
    std::string result(raw_result);
    if (era == Era::Legacy) return result;
    bool typed = false, complete = true, aged = false, scoped = false, any = false;
    protocol::each_member(raw_result, [&](const std::string& key, std::string_view value) {
        any = true;
        if (key == "resultType") typed = true, complete = value == "\"complete\"";
        aged = aged || key == "ttlMs";
        scoped = scoped || key == "cacheScope";
        return true;
    });
    std::string added;
    if (!typed) protocol::append_member(added, "resultType", "\"complete\"");
    if (complete && may_be_kept(method)) {
        if (!aged) protocol::append_member(added, "ttlMs", "0");
        if (!scoped) protocol::append_member(added, "cacheScope", "\"private\"");
    }
    if (added.empty()) return result;
    return result.insert(result.find('{') + 1, any ? added + "," : added);
}

std::string error_for(Era era, std::string_view raw_error) {
    const auto error = protocol::parse_rpc_error(raw_error);
    if (!error) return error_object(kInternalError, "the server answered no proper error", {});
    const bool modern = era == Era::Modern;
    auto code = error->code;
    if (modern && code == kResourceNotFound) code = kInvalidParams;
    if (modern && code == kUrlElicitationRequired) code = kInternalError;
    if (code == error->code) return std::string(raw_error);
    return error_object(code, error->message, error->data);
}

std::string error_message(std::string_view raw_id, std::int64_t code, std::string_view message,
                          std::string_view raw_data) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + std::string(raw_id.empty() ? "null" : raw_id) +
           ",\"error\":" + error_object(code, message, raw_data) + "}";
}

std::string refusal(Era era, std::string_view method, const Error& error) {
    const auto message = core::log::masked(error.message);
    const bool unknown = error.code == ErrorCode::NotFound || error.code == ErrorCode::Invalid;
    if (method == "tools/call" && !unknown)
        return "\"result\":" + result_for(era, method,
                                          "{\"content\":[{\"type\":\"text\",\"text\":" +
                                              protocol::quoted(message) + "}],\"isError\":true}");
    const bool resource = error.code == ErrorCode::NotFound && method == "resources/read";
    const auto code = resource && era == Era::Legacy         ? kResourceNotFound
                      : unknown                              ? kInvalidParams
                      : error.code == ErrorCode::Unsupported ? kMethodNotFound
                                                             : kInternalError;
    return "\"error\":" + error_object(code, message, {});
}

}  // namespace patchbay::gateway
