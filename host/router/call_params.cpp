#include "router/call_params.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"

#include <utility>

namespace patchbay::router {
namespace json = boost::json;

namespace {

Error invalid(std::string why) {
    return {ErrorCode::Invalid, std::move(why)};
}

}  // namespace

Result<json::object> read_params(const ServerRequest& request, std::size_t depth) {
    auto params = core::parse_json_object("{" + request.params.members + "}", {.depth = depth});
    if (params) return params;
    return invalid("the params of " + request.method + ": " + params.error().message);
}

std::string text_member(const json::object& object, std::string_view key) {
    return std::string(core::text_in(&object, key).value_or(""));
}

Subject subject_of(const ServerRequest& request, std::size_t depth) {
    using Kind = Subject::Kind;
    const auto& method = request.method;
    const bool is_completion = method == "completion/complete";
    const bool of_a_resource = method == "resources/read" || method == "resources/subscribe" ||
                               method == "resources/unsubscribe";
    if (!of_a_resource && !is_completion && method != "prompts/get") return {};
    const auto params = read_params(request, depth);
    if (!params) return {};
    if (method == "prompts/get") return {Kind::Prompt, text_member(*params, "name")};
    const auto* ref = core::object_in(&*params, "ref");
    if (!ref) return {Kind::Resource, text_member(*params, "uri")};
    if (text_member(*ref, "type") == "ref/prompt") return {Kind::Prompt, text_member(*ref, "name")};
    return {Kind::Template, text_member(*ref, "uri")};
}

Result<RawCall> read_raw_call(ServerRequest& request, std::size_t depth) {
    // An embedder's may be no JSON at all; a client's was read once, which is not known here.
    const auto params = protocol::split_params("{" + request.params.members + "}", depth);
    if (!params) return invalid("the params of tools/call: " + params.error().message);
    RawCall read;
    auto& call = read.call;
    protocol::each_of(params->members, [&](std::string_view key, std::string_view value) {
        if (key == "arguments")
            call.arguments = value;
        else if (key == "name")
            read.tool = protocol::text_of_raw(value).value_or("");
        else
            protocol::append_member(call.members, key, value);
        return true;
    });
    if (read.tool.empty()) return invalid("tools/call needs a \"name\"");
    if (!call.arguments.empty() && call.arguments.front() != '{')
        return invalid("\"arguments\" must be an object");
    call.meta = std::move(request.params.meta);
    call.timeout = request.timeout;
    call.begun = request.begun;
    call.on_progress = std::move(request.on_progress);
    call.reference = request.reference;
    call.capabilities = std::move(request.capabilities);
    call.client_headers = std::move(request.client_headers);
    call.log_level = std::move(request.log_level);
    return read;
}

connection::Request request_of(std::string_view quoted_name, Call& call) {
    connection::Request request{"tools/call",
                                {{}, std::move(call.meta)},
                                call.timeout,
                                std::move(call.on_progress),
                                call.begun,
                                call.reference,
                                std::move(call.capabilities),
                                std::move(call.client_headers),
                                std::move(call.log_level)};
    auto& members = request.params.members;
    members.reserve(quoted_name.size() + call.arguments.size() + call.members.size() + 32);
    members.append("\"name\":").append(quoted_name);
    members.append(",\"arguments\":");
    members.append(call.arguments.empty() ? "{}" : call.arguments);
    if (!call.members.empty()) members.append(",").append(call.members);
    return request;
}

std::size_t size_of(const Call& call) {
    return call.arguments.size() + call.members.size() + call.meta.size();
}

std::size_t size_of(const ServerRequest& request) {
    return request.params.members.size() + request.params.meta.size();
}

}  // namespace patchbay::router
