#include "gateway/operations.hpp"

#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/log_levels.hpp"
#include "protocol/raw_json.hpp"
#include "service/call.hpp"
#include "service/tools.hpp"

namespace patchbay::gateway {
using service::Kind;

namespace {

constexpr std::size_t kReasonBytes = 500;  // why a stream is not for a resource

// Of a request that is asked again with what its server wanted to know.
bool is_of_a_round(std::string_view key) {
    return key == "inputResponses" || key == "requestState";
}

// By it a legacy client asks for a task. Of a modern one it means nothing, and a legacy server would begin one of
// its own era.
bool is_wish_for_a_task(std::string_view key) {
    return key == "task";
}

std::string text_of(std::string_view raw) {
    return protocol::text_of_raw(raw).value_or("");
}

std::string text_member(const protocol::Params& params, std::string_view key) {
    return text_of(protocol::raw_member(params.members, key));
}

// The params with another value of that member, and without what belongs to a round.
std::string with_member(const protocol::Params& params, std::string_view key,
                        const std::string& raw_value) {
    std::string members;
    protocol::each_of(params.members, [&](std::string_view name, std::string_view value) {
        if (!is_of_a_round(name))
            protocol::append_member(members, name, name == key ? raw_value : value);
        return true;
    });
    return members;
}

// Those of a tools/call, as its server gets them under its own name.
std::string of_a_call(const protocol::Params& params, bool modern) {
    std::string members;
    protocol::each_of(params.members, [&](std::string_view name, std::string_view value) {
        if (!is_of_a_round(name) && !(modern && is_wish_for_a_task(name)))
            protocol::append_member(members, name, value);
        return true;
    });
    return members;
}

// As its server described it, but for its name, and whose it is before its description.
void append_tool(std::string& out, const router::ListedTool& tool) {
    auto about = tool.tool->text("description");
    // A model is not to take for the server's word what stands in its place.
    if (const auto& fault = tool.tool->schema_fault; !fault.empty())
        about.append(about.empty() ? "" : " ")
            .append("(What it takes is not described: its inputSchema " + fault + ".)");
    out.append("{\"name\":").append(protocol::quoted(tool.public_name));
    out.append(",\"description\":");
    out += protocol::quoted("[" + tool.server + "]" + (about.empty() ? "" : " ") + about);
    for (const auto* members : {&tool.tool->known, &tool.tool->others})
        protocol::each_of(*members, [&](std::string_view key, auto value) {
            if (key != "name" && key != "description")
                out.append(",").append(protocol::quoted(key)).append(":").append(value);
            return true;
        });
    out += '}';
}

void append_as_it_is(std::string& out, const protocol::Tool& tool) {
    out.append("{\"name\":").append(protocol::quoted(tool.name));
    for (const auto* members : {&tool.known, &tool.others})
        if (!members->empty()) out.append(",").append(*members);
    out += '}';
}

}  // namespace

bool Operations::start(RequestNumber number, const protocol::Params& params) {
    const auto& request = *requests_.find(number);
    const auto& method = request.method;
    if (method.starts_with("tasks/"))
        return request.modern() ? extension_.start(number, params) : tasks_.start(number, params);
    const auto raw_cursor = method.ends_with("/list")
                                ? protocol::raw_member(params.members, "cursor")
                                : std::string_view();
    const auto cursor = text_of(raw_cursor);
    const bool none = raw_cursor.empty() || raw_cursor == "null" || raw_cursor == "\"\"";
    if (!none && (method != "tools/list" || !cursor.starts_with("mcp__")))
        return replies_.refuse(number, {ErrorCode::Invalid, "no such cursor"}), true;
    for (const auto kind : {Kind::Resources, Kind::Templates, Kind::Prompts}) {
        if (method != service::words_of(kind).method) continue;
        return list_things(number, kind), true;
    }
    if (method == "tools/call") return call_tool(number, params), true;
    if (method == "tools/list") return list_tools(number, cursor), true;
    if (method == "prompts/get") return ask_owner(number, Kind::Prompts, params, "name"), true;
    if (method == "resources/read") return ask_owner(number, Kind::Resources, params, "uri"), true;
    if (method == "completion/complete") return complete(number, params), true;
    if (request.modern()) return method == "subscriptions/listen" && (listen(number, params), true);
    if (method == "resources/subscribe") return subscribe(number, params), true;
    if (method == "resources/unsubscribe") return unsubscribe(number, params), true;
    return method == "logging/setLevel" && (log_level(number, params), true);
}

void Operations::call_tool(RequestNumber number, const protocol::Params& params) {
    auto& request = *requests_.find(number);
    request.as_task = !request.modern() && !protocol::raw_member(params.members, "task").empty();
    if (!view_.public_names()) {
        auto members = of_a_call(params, request.modern());
        if (!request.as_task)
            return ask(number, view_.only, std::move(members),
                       [this, number](auto reply) { on_called(number, std::move(reply)); });
        return tasks_.begin(number, {}, [this, number, members](auto on_reply) {
            ask(number, view_.only, members, std::move(on_reply));
        });
    }
    router::Call call;
    protocol::each_of(params.members, [&](std::string_view key, std::string_view value) {
        if (key == "name")
            call.name = text_of(value);
        else if (key == "arguments")
            call.arguments = value;
        else if (!is_of_a_round(key) && !(request.modern() && is_wish_for_a_task(key)))
            protocol::append_member(call.members, key, value);
        return true;
    });
    if (call.name.empty())
        return replies_.refuse(number, {ErrorCode::Invalid, "tools/call needs a \"name\""});
    if (!call.arguments.empty() && call.arguments.front() != '{')
        return replies_.refuse(number, {ErrorCode::Invalid, "\"arguments\" must be an object"});
    if (const auto* own = host_tools_.find(call.name);
        own && own->does == HostTool::Does::CallTool) {
        // Of the tool that it names, judged and recorded as that.
        if (auto wrong = own->read_arguments(call.arguments); !wrong)
            return replies_.refuse(number, wrong.error());
        const auto meant = std::exchange(call.arguments, {});
        protocol::each_member(meant, [&](std::string_view key, std::string_view value) {
            if (key == "name") call.name = text_of(value);
            if (key == "arguments") call.arguments = value;
            return true;
        });
        if (host_tools_.find(call.name))
            return replies_.refuse(
                number,
                {ErrorCode::Invalid, call.name + " is no tool of a server; call it by itself"});
    }
    if (const auto* own = host_tools_.find(call.name)) {
        if (request.as_task)
            return replies_.refuse(number, {ErrorCode::Unsupported,
                                            call.name + " runs as no task; call it without one"});
        return host_tools_.call(number, *own, call.arguments);
    }
    call.meta = request.meta.relayed;
    call.reference = number;
    call.capabilities = request.capabilities;
    call.client_headers = request.client_headers;
    call.log_level = request.meta.log_level();
    if (!request.meta.progress_token.empty())
        call.on_progress = [this, number](const auto& told) {
            replies_.tell_progress(number, told);
        };
    request.tool = call.name;
    if (request.as_task)
        return tasks_.begin(number, request.tool, [this, number, call](auto on_reply) {
            requests_.find(number)->call =
                service::call(servers_, caller_, call, std::move(on_reply));
        });
    request.call = service::call(servers_, caller_, std::move(call), [this, number](auto reply) {
        on_called(number, std::move(reply));
    });
}

void Operations::on_called(RequestNumber number, Result<connection::Reply> reply) {
    if (reply && reply->is_task) return extension_.on_begun(number, std::move(*reply));
    replies_.pass_on(number, std::move(reply));
}

// In the order of their names, and a cursor is the name that was the last: what comes and goes between
// two pages moves no other tool.
void Operations::list_tools(RequestNumber number, const std::string& after) {
    arrival_.when_tools_known([this, number, after] {
        auto* request = requests_.find(number);
        if (!request) return;
        const auto stale =
            service::with_stale_tools(servers_, caller_, view_.servers(servers_.connections()));
        if (stale.empty() || !after.empty()) return tell_tools(number, after);
        request->operation =
            service::list_again(servers_, caller_, stale, servers_.config().gateway.first_list,
                                [this, number, after] { tell_tools(number, after); });
    });
}

void Operations::tell_tools(RequestNumber number, const std::string& after) {
    auto list = service::tools_listed(servers_, caller_, view_.servers(servers_.connections()));
    for (const auto& lacking : list.errors)
        core::log::debug("server \"" + lacking.server + "\": " + lacking.error.message);
    const std::string begin = "\"tools\":[";
    std::string tools = begin, end = "]";
    for (std::size_t i = 0; i < list.tools.size() && !view_.meta; ++i) {
        const auto& tool = list.tools[i];
        if (!after.empty() && tool.public_name <= after) continue;
        if (tools.size() > kPageBytes) {
            end = "],\"nextCursor\":" + protocol::quoted(list.tools[i - 1].public_name);
            break;
        }
        if (tools != begin) tools += ',';
        if (view_.public_names())
            append_tool(tools, tool);
        else
            append_as_it_is(tools, *tool.tool);
    }
    // Their names come behind those of all others.
    if (end == "]")
        for (const auto* own : host_tools_.shown())
            tools.append(tools == begin ? "" : ",").append(own->definition());
    events_.on_tools_listed();
    reply_list(number, std::move(tools += end), list.caching);
}

void Operations::list_things(RequestNumber number, Kind kind) {
    const auto list = [this, number, kind] {
        auto* request = requests_.find(number);
        if (!request) return;
        const auto tell = [this, number, kind](const Offered::Items& items) {
            std::string texts;
            for (const auto& item : items.all)
                texts.append(texts.empty() ? "" : ",").append(item.text);
            reply_list(number,
                       "\"" + std::string(service::words_of(kind).member) + "\":[" + texts + "]",
                       items.caching);
        };
        request->operation = offered_.items(kind, tell, requests_.as_asked(number));
    };
    arrival_.begin();
    if (offered_.known(kind)) return list();
    arrival_.when_over(list);
}

// As its servers say, and for all only where everybody who asks here is shown the same. Of no server
// there is no word.
void Operations::reply_list(RequestNumber number, std::string members,
                            const protocol::Caching& caching) {
    const auto* request = requests_.find(number);
    if (request && request->modern()) {
        const bool shown_alike =
            caller_.principal().id.empty() && !view_.picked && view_.tools.empty();
        auto told = caching == protocol::kKeptByAll ? protocol::Caching() : caching;
        if (!shown_alike) told.scope = protocol::CacheScope::Private;
        members += "," + protocol::members_of(told);
    }
    replies_.reply(number, "{" + members + "}");
}

void Operations::find(RequestNumber number, Kind kind, const std::string& name,
                      std::function<void(const Offered::Owner&)> found) {
    auto look = [this, number, kind, name, found = std::move(found)] {
        if (!requests_.find(number)) return;
        auto operation = offered_.find(kind, name, [this, number, found](auto owner) {
            if (!owner) return replies_.refuse(number, owner.error());
            if (requests_.find(number)) found(*owner);
        });
        if (auto* request = requests_.find(number); request && operation)
            request->operation = std::move(operation);
    };
    arrival_.begin();
    if (offered_.known(kind, name)) return look();
    arrival_.when_over(std::move(look));
}

void Operations::ask_owner(RequestNumber number, Kind kind, const protocol::Params& params,
                           std::string_view key) {
    const auto name = text_member(params, key);
    if (name.empty())
        return replies_.refuse(
            number, {ErrorCode::Invalid,
                     requests_.find(number)->method + " needs a \"" + std::string(key) + "\""});
    find(number, kind, name, [this, number, params, key](const Offered::Owner& owner) {
        ask(number, owner.server, with_member(params, key, protocol::quoted(owner.name)));
    });
}

void Operations::complete(RequestNumber number, const protocol::Params& params) {
    const std::string raw(protocol::raw_member(params.members, "ref"));
    const auto ref = core::read_json_object(raw);
    const auto type = ref ? core::text_in(&*ref, "type").value_or("") : "";
    const bool prompt = type == "ref/prompt";
    const auto key = prompt ? "name" : "uri";
    const auto name = ref ? std::string(core::text_in(&*ref, key).value_or("")) : std::string();
    if (name.empty() || (!prompt && type != "ref/resource"))
        return replies_.refuse(
            number, {ErrorCode::Invalid,
                     "completion/complete needs a \"ref\": {\"type\": \"ref/prompt\", \"name\"} or "
                     "{\"type\": \"ref/resource\", \"uri\"}"});
    find(number, prompt ? Kind::Prompts : Kind::Templates, name,
         [this, number, params, key, raw](const Offered::Owner& owner) {
             const auto name_of_it = protocol::quoted(owner.name);
             std::string renamed;
             protocol::each_member(raw, [&](std::string_view member, std::string_view value) {
                 protocol::append_member(renamed, member, member == key ? name_of_it : value);
                 return true;
             });
             ask(number, owner.server, with_member(params, "ref", "{" + renamed + "}"));
         });
}

// It holds from the moment that its server has taken it.
void Operations::subscribe(RequestNumber number, const protocol::Params& params) {
    const auto uri = text_member(params, "uri");
    if (uri.empty())
        return replies_.refuse(number, {ErrorCode::Invalid, "resources/subscribe needs a \"uri\""});
    find(number, Kind::Resources, uri, [this, number, params, uri](const Offered::Owner& owner) {
        ask(number, owner.server, with_member(params, "uri", protocol::quoted(owner.name)),
            [this, number, uri](auto reply) {
                if (!reply || !reply->error.empty())
                    return replies_.pass_on(number, std::move(reply));
                wishes_.add(uri, [this, number,
                                  reply = std::make_shared<decltype(reply)>(std::move(reply))] {
                    replies_.pass_on(number, std::move(*reply));
                });
            });
    });
}

// The client wants it no more, whatever its server says to that.
void Operations::unsubscribe(RequestNumber number, const protocol::Params& params) {
    wishes_.remove(text_member(params, "uri"), [this, number, params] {
        if (requests_.find(number)) ask_owner(number, Kind::Resources, params, "uri");
    });
}

void Operations::ask(RequestNumber number, const std::string& server, std::string members,
                     connection::ReplyHandler on_reply) {
    auto& request = *requests_.find(number);
    request.server = server;
    auto asked = requests_.as_asked(number);
    asked.server = server;
    asked.method = request.method;
    asked.params.members = std::move(members);
    if (!request.meta.progress_token.empty())
        asked.on_progress = [this, number](const auto& told) {
            replies_.tell_progress(number, told);
        };
    if (!on_reply)
        on_reply = [this, number](auto reply) { replies_.pass_on(number, std::move(reply)); };
    request.call = servers_.router().request(caller_, std::move(asked), std::move(on_reply));
}

void Operations::log_level(RequestNumber number, const protocol::Params& params) {
    const auto level = text_member(params, "level");
    if (!protocol::log_severity(level))
        return replies_.refuse(number, {ErrorCode::Invalid, "unknown log level \"" +
                                                                core::printable(level, 80) + "\""});
    wishes_.set_level(level, [this, number] { replies_.reply(number, "{}"); });
}

// It is acknowledged once it is known which resources and tasks can be heard of.
void Operations::listen(RequestNumber number, const protocol::Params& params) {
    const auto object = core::read_json_object("{" + params.members + "}");
    if (!object) return replies_.refuse(number, {ErrorCode::Invalid, object.error().message});
    const auto* filter = core::object_in(&*object, "notifications");
    if (filter && filter->contains("taskIds") && !extension_.takes_them(number)) return;
    auto wanted = Listeners::read(requests_.find(number)->id, *object);
    if (!wanted) return replies_.refuse(number, wanted.error());
    const auto uris = events_.listeners().add(number, std::move(*wanted)).uris;
    const auto settled = [this, number, missing = std::make_shared<std::size_t>(uris.size() + 1)] {
        if (--*missing > 0) return;
        events_.acknowledge(number);
        task_streams_.begin(number);
    };
    task_streams_.listen(number, settled);
    for (const auto& uri : uris)
        wishes_.subscribe(uri, [this, number, uri, settled](const auto& why_not) {
            auto* waiting = events_.listeners().find(number);
            if (waiting && why_not) {
                waiting->uris.erase(uri);
                waiting->left_out[uri] =
                    core::log::masked(core::printable(why_not->message, kReasonBytes));
            }
            settled();
        });
}

void Operations::stop(const ClientRequest& request, RequestNumber number,
                      const std::string& reason) {
    task_streams_.end(number);
    for (const auto& uri : events_.listeners().remove(number)) wishes_.unsubscribe(uri);
    if (request.call != 0) servers_.router().cancel(request.call, reason);
}

}  // namespace patchbay::gateway
