#include "app/batch_request.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::int64_t kMostMilliseconds = 366ll * 86400 * 1000;

// Members that an op cannot do without.
constexpr struct {
    std::string_view op;
    const char* member;
    json::kind kind;
    const char* like = "";
} kNeeded[] = {{"tools/call", "name", json::kind::string, " like mcp__server__tool"},
               {"resources/read", "uri", json::kind::string},
               {"resources/subscribe", "uri", json::kind::string},
               {"resources/unsubscribe", "uri", json::kind::string},
               {"prompts/get", "name", json::kind::string},
               {"completion/complete", "ref", json::kind::object},
               {"completion/complete", "argument", json::kind::object},
               {"logging/setLevel", "level", json::kind::string},
               {"subscriptions/listen", "notifications", json::kind::object}};

// What an op takes besides `id` and `op`. What is in `params` may stand in a member of that name or in
// the line itself, with `_meta` beside it; without them nothing goes to a server as it is.
struct Taken {
    std::vector<std::string> ours;
    std::optional<std::vector<std::string>> params = {};
};

const std::map<std::string, Taken, std::less<>>& ops() {
    const auto list = Taken{{"server", "refresh"}};
    const auto asks = [](std::vector<std::string> params) {
        return Taken{{"server", "timeout_ms", "progress"}, std::move(params)};
    };
    static const std::map<std::string, Taken, std::less<>> kOps = {
        {"tools/call", {{"timeout_ms", "progress"}, std::vector<std::string>{"name", "arguments"}}},
        {"tools/list", list},
        {"resources/list", list},
        {"resources/templates/list", list},
        {"prompts/list", list},
        {"resources/read", asks({"uri"})},
        {"resources/subscribe", asks({"uri"})},
        {"resources/unsubscribe", asks({"uri"})},
        {"prompts/get", asks({"name", "arguments"})},
        {"completion/complete", asks({"ref", "argument", "context"})},
        {"logging/setLevel", asks({"level"})},
        {"subscriptions/listen", asks({"notifications"})},
        {"ping", asks({})},
        {"server/discover", asks({})},
        // With any params: its method is anybody's.
        {"request", {{"server", "method", "timeout_ms", "progress"}, std::vector<std::string>{}}},
        {"cancel", {{"target", "reason"}}},
        {"wait", {{"method", "server", "timeout_ms"}}},
        {"status", {}},
        {"events", {{"server", "follow", "after"}}},
        {"barrier", {}}};
    return kOps;
}

// In a line without "params" the others are those. "request" takes what any op does that goes to a
// server, so it knows them all.
bool is_ours(std::string_view name) {
    const auto& ours = ops().find("request")->second.ours;
    return name == "id" || name == "op" || name == "params" ||
           std::find(ours.begin(), ours.end(), name) != ours.end();
}

// A misspelt "arguments" would call the tool without any.
std::string unknown_member(const json::object& request, const std::string& op) {
    const auto known = ops().find(op);
    if (known == ops().end()) return {};
    std::vector<std::string> names{"id", "op"}, inner;
    names.insert(names.end(), known->second.ours.begin(), known->second.ours.end());
    if (const auto& params = known->second.params) {
        inner = *params;
        inner.push_back("_meta");
        names.push_back("params");
    }
    const bool has_params = request.contains("params");  // then nothing else is one
    const bool takes_any = op == "request";
    if (takes_any && !has_params) return {};
    if (!has_params) names.insert(names.end(), inner.begin(), inner.end());
    for (const auto& member : request) {
        const std::string name(member.key());
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        if (has_params && (takes_any || std::find(inner.begin(), inner.end(), name) != inner.end()))
            return "\"" + name +
                   "\" stands beside \"params\" and would be lost; write it into \"params\"";
        return core::behind_hint(op + " has no member \"" + core::printable(name, 80) + "\"" +
                                     core::did_you_mean(name, names),
                                 "known: " + core::join(names, ", "));
    }
    return {};
}

}  // namespace

std::vector<std::string> known_ops() {
    std::vector<std::string> known;
    for (const auto& [op, taken] : ops()) known.push_back(op);
    return known;
}

std::string name_of_line(std::size_t number) {
    return "line " + std::to_string(number);
}

Error wrong_line(std::size_t number, const std::string& why) {
    return {ErrorCode::Invalid, name_of_line(number) + ": " + why};
}

std::chrono::milliseconds timeout_of(const json::object& request) {
    const auto* value = request.if_contains("timeout_ms");
    return std::chrono::milliseconds(value && value->is_int64() ? value->get_int64() : 0);
}

std::string trouble_with(const json::object& request) {
    const auto is = [&](const char* key, json::kind kind) {
        const auto* value = request.if_contains(key);
        return !value || value->kind() == kind;
    };
    if (const auto* limit = request.if_contains("timeout_ms");
        limit &&
        (!limit->is_int64() || limit->get_int64() < 1 || limit->get_int64() > kMostMilliseconds))
        return "\"timeout_ms\" must be a whole number from 1 to " +
               std::to_string(kMostMilliseconds);
    for (const char* key : {"op", "server", "method", "reason"}) {
        if (!is(key, json::kind::string)) return "\"" + std::string(key) + "\" must be a string";
    }
    for (const char* key : {"params", "_meta"}) {
        if (!is(key, json::kind::object)) return "\"" + std::string(key) + "\" must be an object";
    }
    for (const char* key : {"progress", "follow", "refresh"}) {
        if (!is(key, json::kind::bool_))
            return "\"" + std::string(key) + "\" must be true or false";
    }
    if (const auto* after = request.if_contains("after");
        after && (!after->is_int64() || after->get_int64() < 0))
        return "\"after\" must be the number of an event";
    return {};
}

const json::value* param_of(const json::object& request, const char* key) {
    const auto* params = request.if_contains("params");
    return (params ? params->get_object() : request).if_contains(key);
}

std::string trouble_with_params(const json::object& request) {
    const auto op = core::string_in(request, "op");
    if (auto unknown = unknown_member(request, op); !unknown.empty()) return unknown;
    if (op == "request") return {};  // the server judges the rest
    for (const auto& needed : kNeeded) {
        if (op != needed.op) continue;
        const auto* value = param_of(request, needed.member);
        // An empty name or URI would be asked of a server, only to be told so by it.
        if (!value || *value == json::value(""))
            return op + (needed.member[0] == 'a' ? " needs an \"" : " needs a \"") + needed.member +
                   "\"" + needed.like;
        if (value->kind() != needed.kind)
            return "\"" + std::string(needed.member) + "\" must be " +
                   (needed.kind == json::kind::string ? "a string" : "an object");
    }
    for (const char* key : {"arguments", "context", "_meta"}) {
        const auto* value = param_of(request, key);
        if (value && !value->is_object()) return "\"" + std::string(key) + "\" must be an object";
    }
    return {};
}

std::string_view raw_member_of(std::string_view line, std::string_view key) {
    for (const auto& [name, value] : protocol::members_in(line))
        if (name == key) return value;
    return {};
}

std::string_view raw_param_of(std::string_view line, std::string_view key) {
    const auto params = raw_member_of(line, "params");
    return raw_member_of(params.empty() ? line : params, key);
}

std::string raw_params_of(std::string_view line) {
    const auto given = raw_member_of(line, "params");
    std::string params;
    for (const auto& [name, value] : protocol::members_in(given.empty() ? line : given)) {
        if (!given.empty() || !is_ours(name)) protocol::append_member(params, name, value);
    }
    return "{" + params + "}";
}

}  // namespace patchbay::app
