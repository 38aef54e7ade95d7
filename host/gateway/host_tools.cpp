#include "gateway/host_tools.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "core/timer.hpp"
#include "gateway/tool_search.hpp"
#include "protocol/compose.hpp"
#include "service/tools.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;
using service::Kind;
using Does = HostTool::Does;

namespace {

std::string text_of(const json::object& arguments, std::string_view name) {
    return std::string(core::text_in(&arguments, name).value_or(""));
}

std::size_t count_of(const json::object& arguments, std::int64_t usual) {
    return static_cast<std::size_t>(core::integer_in(&arguments, "limit").value_or(usual));
}

std::string raw_text(std::string_view text) {
    return "{\"type\":\"text\",\"text\":" + protocol::quoted(text) + "}";
}

std::string raw_result(const std::string& content, std::string_view structured) {
    return ("{\"content\":[" + content + "],\"structuredContent\":").append(structured) + "}";
}

// Text as text, for clients that know no resources; the rest as it came.
Result<std::string> contents_as_content(std::string_view raw_contents) {
    const auto contents = core::parse_json(raw_contents);
    if (!contents) return within("what the server answered", contents.error());
    const auto* items = contents->if_array();
    if (!items) return Error{ErrorCode::Protocol, "the server answered no \"contents\", a list"};
    std::string content;
    for (const auto& each : *items) {
        const auto text = core::text_in(each.if_object(), "text");
        content += content.empty() ? "" : ",";
        content += text ? raw_text(*text)
                        : json::serialize(json::object{{"type", "resource"}, {"resource", each}});
    }
    return content;
}

}  // namespace

// Behind --only a client believes that it speaks to that server, whose names they would be taken for.
bool HostTools::shows(const HostTool& tool) const {
    if (!view_.public_names()) return false;
    // Where no tool is listed these two are the way to all of them.
    if (tool.does == Does::CallTool) return view_.meta;
    if (tool.does == Does::Search && view_.meta) return true;
    if (!servers_.config().gateway.host_tools) return false;
    return conversations_.possible() || !tool.is_of_a_conversation();
}

const HostTool* HostTools::find(std::string_view name) const {
    for (const auto& tool : host_tools())
        if (tool.name == name) return shows(tool) ? &tool : nullptr;
    return nullptr;
}

std::vector<const HostTool*> HostTools::shown() const {
    std::vector<const HostTool*> tools;
    for (const auto& tool : host_tools())
        if (shows(tool)) tools.push_back(&tool);
    return tools;
}

void HostTools::call(RequestNumber number, const HostTool& tool, std::string_view raw_arguments) {
    auto arguments = tool.read_arguments(raw_arguments);
    if (!arguments) return fail(number, arguments.error());
    // Which needs no server.
    if (tool.is_of_a_conversation()) return talk(number, tool.does, *arguments);
    // A client that calls before the servers are there would be told of none, and believe it.
    auto then = [this, number, what = tool.does, arguments = std::move(*arguments)] {
        if (requests_.find(number)) carry_out(number, what, arguments);
    };
    // What servers listed for an earlier host is enough to be searched.
    if (tool.does == Does::Search) return arrival_.when_tools_known(std::move(then));
    arrival_.when_over(std::move(then));
}

void HostTools::carry_out(RequestNumber number, Does what, const Arguments& arguments) {
    if (arguments.contains("server"))
        if (const auto server = server_in(arguments); !server) return fail(number, server.error());
    switch (what) {
        case Does::Status:
            return tell_status(number, arguments);
        case Does::Restart:
            return restart(number, text_of(arguments, "server"));
        case Does::Search:
            return search(number, arguments);
        case Does::ListResources:
            return list_resources(number, arguments);
        case Does::ReadResource:
            return find_resource(number, text_of(arguments, "uri"));
        // call() has sent these on, or was not asked: they are here so that the compiler tells of a tool that is nowhere.
        case Does::CallTool:
        case Does::Reply:
        case Does::StartConversation:
            return talk(number, what, arguments);
    }
}

Result<std::string> HostTools::server_in(const Arguments& arguments) const {
    auto id = text_of(arguments, "server");
    const auto shown = view_.servers(servers_.connections());
    if (std::find(shown.begin(), shown.end(), id) != shown.end()) return id;
    return Error{ErrorCode::NotFound, "no server \"" + core::printable(id, 80) + "\" is here" +
                                          core::did_you_mean(id, shown) +
                                          "; patchbay__server_status says which are"};
}

HostTools::Counts HostTools::tool_counts() const {
    Counts counts;
    for (const auto& tool : servers_.router().tools(caller_)) ++counts[tool.server];
    return counts;
}

// As this client has it. Where its files are is no concern of a client's.
json::object HostTools::status_of(const std::string& server, const Counts& tools) const {
    const auto* held = servers_.connections().held(server, caller_.number());
    const auto found = servers_.connections().find(server);
    auto status = held ? held->status() : found ? found->get().status() : connection::Status();
    const auto count = tools.find(server);
    json::object told{{"server", server},
                      {"state", connection::name_of(status.state)},
                      {"transport", status.transport}};
    if (!status.protocol.empty()) told["protocol"] = status.protocol;
    told["tools"] = count == tools.end() ? 0 : count->second;
    told["restarts"] = status.restarts;
    if (!status.last_error.empty()) told["last_error"] = core::printable(status.last_error, 1'000);
    return told;
}

void HostTools::tell_status(RequestNumber number, const Arguments& arguments) {
    auto ids = view_.servers(servers_.connections());
    if (arguments.contains("server")) ids = {text_of(arguments, "server")};
    json::array servers;
    const auto tools = tool_counts();
    for (const auto& id : ids) servers.push_back(status_of(id, tools));
    finish(number, json::serialize(json::object{{"servers", std::move(servers)}}));
}

// The method is no server's: policy judges it, and a person approves it, as any request to that server.
void HostTools::restart(RequestNumber number, const std::string& server) {
    auto& request = *requests_.find(number);
    request.server = server;
    router::ServerRequest wanted{server, "server/restart", {}};
    wanted.reference = number;
    request.call = servers_.router().permit(caller_, std::move(wanted),
                                            [this, number, server](const auto& permitted) {
                                                if (!permitted)
                                                    return fail(number, permitted.error());
                                                restart_now(number, server);
                                            });
}

// Whoever hears of what that ends may end this client's session, or take the server away.
void HostTools::restart_now(RequestNumber number, const std::string& server) {
    const auto found = servers_.connections().find(server);
    if (!found) return fail(number, found.error());
    const auto watch = lifetime_.watch();
    const auto restarted = found->get().restart(caller_);
    if (watch.expired()) return;
    if (!restarted) return fail(number, restarted.error());
    auto* const request = requests_.find(number);
    if (!request) return;
    const auto connection = servers_.connections().lease(server, caller_);
    if (!connection) return fail(number, connection.error());
    // Whichever comes first tells; with the request, which owns it, the wait ends untold.
    const auto wait = std::make_shared<core::Timer>(servers_.connections().loop());
    const auto tell = [this, number, server, waiting = std::weak_ptr(wait)] {
        if (const auto held = waiting.lock())
            finish(number, json::serialize(status_of(server, tool_counts())));
    };
    wait->start(kRestartWait, tell);
    request->operation = wait;
    connection->get().connect(tell);
}

void HostTools::search(RequestNumber number, const Arguments& arguments) {
    const auto tools = servers_.router().tools(caller_);
    const auto& limits = servers_.connections().limits();
    json::array found;
    for (const auto* tool : best_tools(text_of(arguments, "query"), tools,
                                       count_of(arguments, HostTool::kUsuallyFound))) {
        json::object told{{"name", tool->public_name},
                          {"description", service::labelled(*tool, limits)}};
        // Who calls it has not been listed it.
        if (view_.meta) told["inputSchema"] = tool->tool->input_schema();
        found.push_back(std::move(told));
    }
    finish(number, json::serialize(json::object{{"tools", std::move(found)}}));
}

void HostTools::list_resources(RequestNumber number, const Arguments& arguments) {
    requests_.find(number)->operation =
        offered_.items(Kind::Resources, [this, number, arguments](const Offered::Items& items) {
            tell_resources(number, arguments, items.all);
        });
}

// The cursor is the last name: lists of servers change between two pages, and a place in them would skip
// or repeat what comes behind it. A page has one item at least, however long that is.
void HostTools::tell_resources(RequestNumber number, const Arguments& arguments,
                               const std::vector<Offered::Item>& items) {
    const auto server = text_of(arguments, "server"), cursor = text_of(arguments, "cursor");
    const auto most = count_of(arguments, HostTool::kUsualResources);
    auto at = items.begin();
    if (!cursor.empty()) {
        at = std::find_if(at, items.end(), [&](const auto& each) { return each.name == cursor; });
        if (at == items.end())
            return fail(number, {ErrorCode::Invalid,
                                 "no such cursor, or what it meant is gone; begin without one"});
        ++at;
    }
    std::string told, last;
    std::size_t count = 0;
    for (; at != items.end(); ++at) {
        if (!server.empty() && at->server != server) continue;
        if (count == most || (count > 0 && told.size() + at->text.size() > kPageBytes)) break;
        told.append(count++ ? "," : "").append(at->text);
        last = at->name;
    }
    finish(number, "{\"resources\":[" + told + "]" +
                       (at == items.end() ? "" : ",\"nextCursor\":" + protocol::quoted(last)) +
                       "}");
}

void HostTools::find_resource(RequestNumber number, const std::string& uri) {
    auto search =
        offered_.find(Kind::Resources, uri, [this, number](const Result<Offered::Owner>& owner) {
            if (!owner) return fail(number, owner.error());
            if (requests_.find(number)) read_resource(number, *owner);
        });
    // It may have been found at once, and the request be answered.
    if (auto* request = requests_.find(number); request && search)
        request->operation = std::move(search);
}

void HostTools::read_resource(RequestNumber number, const Offered::Owner& owner) {
    auto& request = *requests_.find(number);
    request.server = owner.server;
    router::ServerRequest asked{owner.server,
                                "resources/read",
                                {"\"uri\":" + protocol::quoted(owner.name), request.meta.relayed}};
    asked.reference = number;
    asked.capabilities = request.capabilities;
    asked.client_headers = request.client_headers;
    if (!request.meta.progress_token.empty())
        asked.on_progress = [this, number](const auto& told) {
            replies_.tell_progress(number, told);
        };
    request.call = servers_.router().request(caller_, std::move(asked),
                                             [this, number](Result<connection::Reply> reply) {
                                                 if (!reply) return fail(number, reply.error());
                                                 tell_contents(number, *reply);
                                             });
}

void HostTools::tell_contents(RequestNumber number, const connection::Reply& reply) {
    if (!reply.error.empty()) {
        const auto error = protocol::parse_rpc_error(reply.error);
        return fail(number,
                    {ErrorCode::Unavailable, error ? core::printable(error->message, 1'000)
                                                   : "the server answered no proper error"});
    }
    std::string_view contents = "[]";
    protocol::each_member(reply.result, [&](std::string_view key, std::string_view value) {
        if (key == "contents") contents = value;
        return true;
    });
    const auto content = contents_as_content(contents);
    if (!content) return fail(number, content.error());
    replies_.reply(number, raw_result(*content, "{\"contents\":" + std::string(contents) + "}"));
}

void HostTools::talk(RequestNumber number, Does what, const Arguments& arguments) {
    const auto said = lifetime_.guard([this, number](const Result<Conversations::Turn>& turn) {
        if (!turn) return fail(number, turn.error());
        finish(number, json::serialize(json::object{{"conversation", turn->conversation},
                                                    {"text", turn->text},
                                                    {"over", turn->over}}));
    });
    const auto message = text_of(arguments, "message");
    auto begun = what == Does::Reply
                     ? conversations_.reply(text_of(arguments, "conversation"), message, said)
                     : conversations_.start(message, said);
    if (!begun) return fail(number, begun.error());
    if (auto* request = requests_.find(number)) request->operation = std::move(*begun);
}

// Twice, as the specification asks for it: older clients read the text alone.
void HostTools::finish(RequestNumber number, const std::string& raw_structured) {
    replies_.reply(number, raw_result(raw_text(raw_structured), raw_structured));
}

// As what a model may do something about, whatever it is.
void HostTools::fail(RequestNumber number, const Error& error) {
    replies_.refuse(number, {ErrorCode::Unavailable, error.message});
}

}  // namespace patchbay::gateway
