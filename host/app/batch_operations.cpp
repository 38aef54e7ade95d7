#include "app/batch_operations.hpp"

#include "app/event_stream.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "service/call.hpp"
#include "service/statuses.hpp"
#include "service/tools.hpp"

#include <algorithm>

namespace patchbay::app {
namespace json = boost::json;

namespace {

BatchInFlight::Outcome outcome_of(const std::vector<service::ServerError>& errors) {
    return errors.empty() ? BatchInFlight::Outcome::Fine : BatchInFlight::Outcome::Lacking;
}

// Instead of what is known of them.
bool to_be_asked(const BatchLine& line) {
    return core::flag_in(&line.members, "refresh") == true;
}

}  // namespace

bool BatchOperations::accepts(const BatchLine& line) {
    const auto op = core::string_in(line.members, "op");
    const auto ops = known_ops();
    if (std::find(ops.begin(), ops.end(), op) == ops.end()) {
        const auto what = op.empty() ? "\"op\" is missing"
                                     : "unknown op \"" + core::printable(op, 64) + "\"" +
                                           core::did_you_mean(op, ops);
        return in_flight_.refuse(line, core::behind_hint(what, "known: " + core::join(ops, ", "))),
               false;
    }
    if (const auto trouble = trouble_with_params(line.members); !trouble.empty())
        return in_flight_.refuse(line, trouble), false;
    if (const auto server = core::string_in(line.members, "server"); !servers_.has(server))
        return in_flight_.fail(line.id, servers_.no_such_server(server)), false;
    return true;
}

void BatchOperations::start(const BatchLine& line) {
    const auto op = core::string_in(line.members, "op");
    if (op == "tools/call") return call_tool(line);
    if (op == "tools/list") return list_tools(line);
    for (const auto kind :
         {service::Kind::Resources, service::Kind::Templates, service::Kind::Prompts})
        if (op == service::words_of(kind).method) return list_things(line, kind);
    if (op == "cancel") return cancel(line);
    if (op == "wait") return wait_for(line);
    if (op == "status") return show_status(line);
    if (op == "events") return tell_events(line);
    if (op != "request") return ask_server(line, op);
    const auto method = core::string_in(line.members, "method");
    if (method.empty()) return in_flight_.refuse(line, "op \"request\" needs a \"method\"");
    ask_server(line, method);
}

void BatchOperations::call_tool(const BatchLine& line) {
    // Arguments and `_meta` as bytes: a number that no type here holds reaches the server as it was
    // written.
    router::Call call;
    call.name = param_of(line.members, "name")->get_string();
    call.arguments = raw_param_of(line.text, "arguments");
    if (const auto meta = raw_param_of(line.text, "_meta"); !meta.empty())
        call.meta = meta.substr(1, meta.size() - 2);
    call.timeout = timeout_of(line.members);
    call.reference = reference_;
    if (core::flag_in(&line.members, "progress") == true)
        call.on_progress = in_flight_.tell_progress(line.id);
    in_flight_.add(line.id).call =
        service::call(servers_, caller_, std::move(call), in_flight_.relay(line.id));
}

void BatchOperations::ask_server(const BatchLine& line, const std::string& method) {
    router::ServerRequest asked;
    asked.server = core::string_in(line.members, "server");
    if (asked.server.empty())
        return in_flight_.refuse(line, core::printable(method, 200) + " needs a \"server\"");
    asked.method = method;
    auto params = protocol::split_params(raw_params_of(line.text));
    if (!params) return in_flight_.refuse(line, params.error().message);
    asked.params = std::move(*params);
    asked.timeout = timeout_of(line.members);
    asked.reference = reference_;
    if (core::flag_in(&line.members, "progress") == true)
        asked.on_progress = in_flight_.tell_progress(line.id);
    auto& request = in_flight_.add(line.id);
    request.endless = method == "subscriptions/listen";
    request.call = servers_.router().request(caller_, std::move(asked), in_flight_.relay(line.id));
}

void BatchOperations::list_tools(const BatchLine& line) {
    const auto server = core::string_in(line.members, "server");
    recall_(server);
    in_flight_.add(line.id).list = service::list_tools(
        servers_, caller_, server, to_be_asked(line) ? service::Ask::Anew : service::Ask::IfStale,
        [this, id = line.id](Result<service::ToolList> list) {
            if (!list) return in_flight_.fail(id, list.error());
            in_flight_.succeed(id, service::to_json(*list), outcome_of(list->errors));
        });
}

void BatchOperations::list_things(const BatchLine& line, service::Kind kind) {
    const auto server = core::string_in(line.members, "server");
    recall_(server);  // who has listed tools has said what else it has
    using Which = service::ThingListing::Servers;
    in_flight_.add(line.id).list = service::list_things(
        servers_, caller_, kind, server, to_be_asked(line) ? Which::Refreshed : Which::Known,
        [this, id = line.id, kind, server](service::ThingList list) {
            // Of all servers, what the others list is worth having beside one's error.
            if (!server.empty() && !list.errors.empty())
                return in_flight_.fail(id, list.errors.front().error);
            in_flight_.succeed(id, service::to_json(list, kind), outcome_of(list.errors));
        });
}

void BatchOperations::cancel(const BatchLine& line) {
    // Our own waits and lists just end; only a call or request has a server to be told.
    const std::string target(raw_member_of(line.text, "target"));
    if (waits_.give_up(target)) {
        in_flight_.succeed(line.id, "{}");
        return in_flight_.fail(target, {ErrorCode::Cancelled, "the wait was cancelled"});
    }
    const auto* found = in_flight_.find(target);
    if (found && found->list) {
        const char* const what =
            found->endless ? "events are told no more" : "the list was cancelled";
        in_flight_.succeed(line.id, "{}");
        return in_flight_.fail(target, {ErrorCode::Cancelled, what});
    }
    if (target.empty())
        return in_flight_.refuse(line, "cancel needs the \"target\" id of a request in flight");
    if (!found || found->call == 0)
        return in_flight_.fail(
            line.id, {ErrorCode::NotFound, "no request or wait with the id " +
                                               core::printable(target, 80) + " is in flight"});
    const auto call = found->call;  // `found` is not good any more once something was answered
    in_flight_.succeed(line.id, "{}");
    servers_.router().cancel(call, core::string_in(line.members, "reason"));
}

void BatchOperations::wait_for(const BatchLine& line) {
    const auto method = core::string_in(line.members, "method");
    if (method.empty())
        return in_flight_.refuse(line, "wait needs the \"method\" of a notification");
    waits_.begin(line.id, core::string_in(line.members, "server"), method,
                 timeout_of(line.members));
}

void BatchOperations::end_hopeless_waits() {
    waits_.end_hopeless([this](const std::string& server) -> std::string {
        auto& connections = servers_.connections();
        const auto ids = server.empty() ? connections.ids() : std::vector<std::string>{server};
        std::string why = "no server is connected";
        for (const auto& id : ids) {
            const auto* held = connections.held(id, caller_.number());
            const auto status = held ? held->status() : connection::Status();
            // One that is idle is nobody's to wake any more.
            const bool may_come =
                status.state != connection::State::Idle &&
                (status.state == connection::State::Ready || service::undecided(status));
            if (held && may_come) return {};
            if (server.empty()) continue;
            why = held ? why_not_ready(status).message : "server \"" + id + "\" is not connected";
        }
        return why;
    });
}

void BatchOperations::tell_events(const BatchLine& line) {
    if (!event_log_)
        return in_flight_.fail(line.id, {ErrorCode::Unsupported,
                                         "events are told by a host that runs; `patchbay run` "
                                         "starts one"});
    const bool follows = core::flag_in(&line.members, "follow") == true;
    std::erase_if(follows_, [](const auto& each) { return each.expired(); });
    if (follows && follows_.size() >= kFollows)
        return in_flight_.fail(
            line.id, {ErrorCode::Limit, "events are followed " + std::to_string(kFollows) +
                                            " times already; cancel one of these"});
    const EventStream stream{core::string_in(line.members, "server"),
                             in_flight_.tell_event(line.id)};
    stream.tell_kept(*event_log_, core::integer_in(&line.members, "after"));
    if (!follows) return in_flight_.succeed(line.id, last_event_text(*event_log_));
    auto& request = in_flight_.add(line.id);
    request.endless = true;
    request.list = event_log_->follow([stream](const events::Event& event) { stream.tell(event); });
    follows_.push_back(request.list);
}

void BatchOperations::show_status(const BatchLine& line) {
    json::array list;
    for (const auto& status : servers_.statuses()) list.push_back(service::to_json(status));
    in_flight_.succeed(line.id, json::serialize(json::object{{"servers", std::move(list)}}));
}

}  // namespace patchbay::app
