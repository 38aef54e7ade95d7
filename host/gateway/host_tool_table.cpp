#include "gateway/host_tool_table.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/schema.hpp"

#include <array>
#include <vector>

namespace patchbay::gateway {

namespace {

// Hints by which a client decides what it asks its user for. A restart ends calls in flight, of others too
// where they share the connection: that is what is destroyed.
constexpr std::string_view kReads = R"({"readOnlyHint":true,"openWorldHint":false})";
constexpr std::string_view kRestarts =
    R"({"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false})";
constexpr std::string_view kCalls =
    R"({"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true})";
constexpr std::string_view kTalks =
    R"({"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false})";

constexpr std::string_view kTurn =
    R"({"type":"object","properties":{"conversation":{"type":"string"},"text":{"type":"string"},)"
    R"("over":{"type":"boolean","description":"Nothing more can be said in it"}},)"
    R"("required":["conversation","text","over"]})";

constexpr std::string_view kServer =
    R"({"type":"object","properties":{"server":{"type":"string"},"state":{"type":"string"},)"
    R"("transport":{"type":"string"},"protocol":{"type":"string"},)"
    R"("tools":{"type":"integer","description":"How many of them can be called here"},)"
    R"("restarts":{"type":"integer"},"last_error":{"type":"string"}},)"
    R"("required":["server","state","transport","tools","restarts"]})";
constexpr std::string_view kServers =
    R"({"type":"object","properties":{"servers":{"type":"array","items":{"type":"object",)"
    R"("properties":{"server":{"type":"string"},"state":{"type":"string"},)"
    R"("transport":{"type":"string"},"protocol":{"type":"string"},)"
    R"("tools":{"type":"integer","description":"How many of them can be called here"},)"
    R"("restarts":{"type":"integer"},"last_error":{"type":"string"}},)"
    R"("required":["server","state","transport","tools","restarts"]}}},"required":["servers"]})";

// By name, as lists are sorted. Schemas are raw JSON, since they go out as text; tests compile each. None is
// read at start: a gateway without host tools pays nothing for them.
constexpr std::array kTools{
    HostTool{HostTool::Does::CallTool, "patchbay__call_tool",
             "Calls a tool that patchbay__search_tools has found, and returns what it answers.",
             R"({"type":"object","properties":{"name":{"type":"string","minLength":1,)"
             R"("maxLength":256,"description":"As patchbay__search_tools named it"},)"
             R"("arguments":{"type":"object",)"
             R"("description":"As its inputSchema says"}},)"
             R"("required":["name"],"additionalProperties":false})",
             "", kCalls},
    HostTool{HostTool::Does::ReadResource, "patchbay__mcp_resource_read",
             "Reads a resource of one of the MCP servers behind this one. "
             "patchbay__mcp_resources_list says which there are.",
             R"({"type":"object","properties":{"uri":{"type":"string","minLength":1,)"
             R"("maxLength":8192,"description":"As it was listed"}},)"
             R"("required":["uri"],"additionalProperties":false})",
             R"({"type":"object","properties":{"contents":{"type":"array",)"
             R"("items":{"type":"object"}}},"required":["contents"]})",
             kReads},
    HostTool{
        HostTool::Does::ListResources, "patchbay__mcp_resources_list",
        "Lists the resources of the MCP servers behind this one that are ready.",
        R"({"type":"object","properties":{)"
        R"("server":{"type":"string","minLength":1,"description":"Only those of this server"},)"
        R"("limit":{"type":"integer","minimum":1,"maximum":500,"default":100},)"
        R"("cursor":{"type":"string","description":"nextCursor of the page before"}},)"
        R"("additionalProperties":false})",
        R"({"type":"object","properties":{"resources":{"type":"array",)"
        R"("items":{"type":"object"}},"nextCursor":{"type":"string",)"
        R"("description":"There are more"}},"required":["resources"]})",
        kReads},
    HostTool{HostTool::Does::Reply, "patchbay__reply",
             "Goes on with a conversation that patchbay__start_conversation began, and returns the "
             "answer.",
             R"({"type":"object","properties":{)"
             R"("conversation":{"type":"string","minLength":1,"maxLength":256,)"
             R"("description":"As patchbay__start_conversation named it"},)"
             R"("message":{"type":"string","minLength":1,"description":"What to say"}},)"
             R"("required":["conversation","message"],"additionalProperties":false})",
             kTurn, kTalks},
    HostTool{HostTool::Does::Search, "patchbay__search_tools",
             "Finds tools by words in their names and descriptions, the best first.",
             R"({"type":"object","properties":{)"
             R"("query":{"type":"string","minLength":1,"maxLength":1000,)"
             R"("description":"Words to look for"},)"
             R"("limit":{"type":"integer","minimum":1,"maximum":50,"default":10}},)"
             R"("required":["query"],"additionalProperties":false})",
             R"({"type":"object","properties":{"tools":{"type":"array","items":{"type":"object",)"
             R"("properties":{"name":{"type":"string"},"description":{"type":"string"}},)"
             R"("required":["name","description"]}}},"required":["tools"]})",
             kReads},
    HostTool{HostTool::Does::Restart, "patchbay__server_restart",
             "Closes the connection to an MCP server, which ends what it is doing, connects anew, "
             "and says how that went. For a server that hangs or has failed.",
             R"({"type":"object","properties":{"server":{"type":"string","minLength":1,)"
             R"("description":"As patchbay__server_status names it"}},)"
             R"("required":["server"],"additionalProperties":false})",
             kServer, kRestarts},
    HostTool{HostTool::Does::Status, "patchbay__server_status",
             "Says of each MCP server behind this one whether it is ready, and if not why.",
             R"({"type":"object","properties":{"server":{"type":"string","minLength":1,)"
             R"("description":"Only this one"}},"additionalProperties":false})",
             kServers, kReads},
    HostTool{HostTool::Does::StartConversation, "patchbay__start_conversation",
             "Begins a conversation with the agent that this host is, and returns its answer. "
             "patchbay__reply goes on with it.",
             R"({"type":"object","properties":{"message":{"type":"string","minLength":1,)"
             R"("description":"What to say first"}},)"
             R"("required":["message"],"additionalProperties":false})",
             kTurn, kTalks},
};

}  // namespace

std::span<const HostTool> host_tools() {
    return kTools;
}

std::string HostTool::definition() const {
    std::string members;
    protocol::append_member(members, "name", protocol::quoted(name));
    protocol::append_member(members, "description",
                            protocol::quoted("[patchbay] " + std::string(about)));
    protocol::append_member(members, "inputSchema", input);
    if (!output.empty()) protocol::append_member(members, "outputSchema", output);
    protocol::append_member(members, "annotations", annotations);
    return "{" + members + "}";
}

// Compiled at each call: they are rare, small and ours, and a cache would be state to keep. A model gets
// the names back, for it can mend its call by them.
Result<boost::json::object> HostTool::read_arguments(std::string_view raw) const {
    auto arguments = core::parse_json_object(raw.empty() ? "{}" : raw);
    if (!arguments) return within("the arguments", arguments.error());
    const auto form = core::parse_json(input);
    const auto schema =
        form ? protocol::Schema::compile(*form) : Result<protocol::Schema>(form.error());
    if (!schema) return schema.error();
    const auto wrong = schema->validate(*arguments);
    if (wrong.empty()) return arguments;
    std::vector<std::string> names;
    for (const auto& property : form->get_object().at("properties").get_object())
        names.emplace_back(property.key());
    const auto& first = wrong.front();
    return Error{ErrorCode::Invalid,
                 std::string(name) + ": the arguments" +
                     (first.pointer.empty() ? "" : " at " + core::printable(first.pointer, 80)) +
                     ": " + core::printable(first.message, 500) + "; it takes " +
                     core::join(names, ", ")};
}

}  // namespace patchbay::gateway
