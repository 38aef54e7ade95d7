// The script of a legacy MCP server without a session behind HTTP, for ScriptedHttp: it greets, lists
// `tools`, and answers each call with the text "done".
//
// Threads: that of its ScriptedHttp; `on_method`, if there is one, is called on it, with each message
//          before it is answered.
#pragma once

#include "support/scripted_http.hpp"

#include <boost/json.hpp>

#include <functional>
#include <string>
#include <utility>

namespace patchbay::test {

inline ScriptedHttp::Script scripted_mcp(
    boost::json::array tools, std::function<void(const std::string& method)> on_method = {}) {
    namespace json = boost::json;
    return [tools = std::move(tools), on_method = std::move(on_method)](
               const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (!request.is("POST")) return {ScriptedHttp::empty("405 Method Not Allowed")};
        json::error_code failed;
        const auto message = json::parse(request.body, failed);
        const auto* object = message.if_object();
        if (failed || !object || !object->contains("method"))
            return {ScriptedHttp::empty("400 Bad Request")};
        const auto method = json::value_to<std::string>(object->at("method"));
        if (on_method) on_method(method);
        if (!object->contains("id")) return {ScriptedHttp::empty("202 Accepted")};
        json::object answer{{"jsonrpc", "2.0"}, {"id", object->at("id")}};
        if (method == "initialize")
            answer["result"] = {{"protocolVersion", "2025-06-18"},
                                {"capabilities", {{"tools", json::object()}}},
                                {"serverInfo", {{"name", "scripted"}, {"version", "1"}}}};
        else if (method == "tools/list")
            answer["result"] = {{"tools", tools}};
        else if (method == "tools/call")
            answer["result"] = json::parse(R"({"content":[{"type":"text","text":"done"}]})");
        else
            answer["error"] = {{"code", -32601}, {"message", "Method not found"}};
        return {ScriptedHttp::json(json::serialize(answer))};
    };
}

}  // namespace patchbay::test
