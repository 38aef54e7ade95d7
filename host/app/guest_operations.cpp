#include "app/guest_operations.hpp"

#include "app/policy_targets.hpp"
#include "app/rule_warnings.hpp"
#include "app/status_text.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "service/call.hpp"
#include "service/session_answers.hpp"
#include "service/statuses.hpp"
#include "service/things.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

std::vector<std::string> servers_in(const BatchLine& line) {
    std::vector<std::string> ids;
    if (const auto* list = core::array_in(&line.members, "servers"))
        for (const auto& each : *list) ids.emplace_back(core::text_of(each).value_or(""));
    return ids;
}

service::Ask ask_in(const BatchLine& line) {
    return core::flag_in(&line.members, "anew") == true ? service::Ask::Anew
                                                        : service::Ask::IfStale;
}

// Within what every clock holds, whatever was said.
std::chrono::milliseconds time_in(const BatchLine& line, const char* key) {
    constexpr std::int64_t kMost = 366ll * 86400 * 1000;
    const auto said = core::integer_in(&line.members, key).value_or(0);
    return std::chrono::milliseconds(std::clamp<std::int64_t>(said, 0, kMost));
}

}  // namespace

// Beyond the words of `batch`: what a command of ours needs to show the same as with a host of its own.
bool GuestOperations::start(const BatchLine& line, BatchInFlight& in_flight) {
    const auto op = core::string_in(line.members, "op");
    if (op == "host/connect")
        connect(line, in_flight);
    else if (op == "host/ask")
        ask(line, in_flight);
    else if (op == "host/unknown")
        in_flight.succeed(line.id, unknown(line));
    else if (op == "host/find")
        find(line, in_flight);
    else if (op == "host/call")
        call(line, in_flight);
    else if (op == "host/things")
        list_things(line, in_flight);
    else if (op == "host/statuses")
        in_flight.succeed(line.id, statuses());
    else if (op == "host/tools")
        in_flight.succeed(line.id, tools(line));
    else if (op == "host/rules")
        in_flight.succeed(line.id, rules(line));
    else if (op == "host/answers")
        in_flight.succeed(line.id, answers());
    else if (op == "host/forget-answers")
        in_flight.succeed(line.id, forget_answers(line));
    else if (op == "host/ping")
        in_flight.succeed(line.id, "{}");
    else if (op == "host/stop" || op == "host/start" || op == "host/restart" ||
             op == "host/disable" || op == "host/enable")
        turn(line, in_flight);
    else if (op == "host/apply" || op == "host/rollback")
        move(line, in_flight);
    else if (op == "host/sandbox-state")
        set_sandbox_state(line, in_flight);
    else if (op == "host/interrupt") {
        const auto guest = core::integer_in(&line.members, "guest").value_or(0);
        in_flight.succeed(line.id, "{}");
        // Not in the middle of its own lines, should it mean itself.
        servers_.connections().loop().defer(
            lifetime_.guard([this, guest, why = core::string_in(line.members, "why")] {
                control_.interrupt(static_cast<std::size_t>(guest), why);
            }));
    } else if (op == "host/approve") {
        in_flight.succeed(line.id, "{}");
        decide(line);
    } else
        return false;
    return true;
}

void GuestOperations::decide(const BatchLine& line) {
    const auto guest = core::integer_in(&line.members, "guest").value_or(0);
    const auto number = core::integer_in(&line.members, "approval").value_or(0);
    const auto level = config::level_from(core::string_in(line.members, "level"));
    servers_.connections().loop().defer(lifetime_.guard([this, guest, number, level] {
        control_.decide(static_cast<std::size_t>(guest), number,
                        level ? connection::approval_for(*level) : connection::Approval::Refused);
    }));
}

void GuestOperations::connect(const BatchLine& line, BatchInFlight& in_flight) {
    const auto servers = servers_in(line);
    for (const auto& id : servers)
        if (!servers_.has(id)) return in_flight.fail(line.id, servers_.no_such_server(id));
    servers_.connections().connect(
        caller_, servers, lifetime_.guard([this, servers, &in_flight, id = line.id] {
            check(servers, [&in_flight, id] { in_flight.succeed(id, "{}"); });
        }));
}

// A server behind HTTP may have gone without a word: who looks at it is told what is so now.
void GuestOperations::check(std::vector<std::string> servers, std::function<void()> checked) {
    auto& connections = servers_.connections();
    if (servers.empty()) servers = connections.ids();
    const std::function<void()> one_less =
        lifetime_.guard([missing = std::make_shared<std::size_t>(servers.size() + 1),
                         checked = std::move(checked)] {
            if (--*missing == 0) checked();
        });
    for (const auto& id : servers)
        if (const auto leased = connections.lease(id, caller_))
            leased->get().check(one_less);
        else
            one_less();
    one_less();
}

void GuestOperations::ask(const BatchLine& line, BatchInFlight& in_flight) {
    service::ask_for_tools(
        servers_, caller_, servers_in(line), ask_in(line),
        lifetime_.guard([&in_flight, id = line.id] { in_flight.succeed(id, "{}"); }));
}

void GuestOperations::find(const BatchLine& line, BatchInFlight& in_flight) {
    service::find_tool(
        servers_, caller_, core::string_in(line.members, "name"), time_in(line, "timeout_ms"),
        lifetime_.guard([&in_flight, id = line.id](Result<router::ListedTool> found) {
            if (!found) return in_flight.fail(id, found.error());
            in_flight.succeed(id, json::serialize(tool_text(*found)));
        }));
}

void GuestOperations::list_things(const BatchLine& line, BatchInFlight& in_flight) {
    const auto server = core::string_in(line.members, "server");
    if (!servers_.has(server)) return in_flight.fail(line.id, servers_.no_such_server(server));
    auto kind = service::Kind::Resources;
    for (const auto each : {service::Kind::Templates, service::Kind::Prompts})
        if (core::string_in(line.members, "kind") == service::words_of(each).method) kind = each;
    auto done = lifetime_.guard([&in_flight, id = line.id](const service::ThingList& list) {
        in_flight.succeed(id, json::serialize(things_text(list)));
    });
    in_flight.add(line.id).list =
        service::list_things(servers_, caller_, kind, server,
                             which_in(core::string_in(line.members, "which")), std::move(done));
}

// As `tools/call`, but that some of its time is spent already: finding the tool was the same command's.
void GuestOperations::call(const BatchLine& line, BatchInFlight& in_flight) {
    router::Call call;
    call.name = core::string_in(line.members, "name");
    call.arguments = raw_member_of(line.text, "arguments");
    call.timeout = time_in(line, "timeout_ms");
    call.reference = reference_;
    call.begun = servers_.connections().loop().now() - time_in(line, "spent_ms");
    if (core::flag_in(&line.members, "progress") == true)
        call.on_progress = in_flight.tell_progress(line.id);
    in_flight.add(line.id).call =
        service::call(servers_, caller_, std::move(call), in_flight.relay(line.id));
}

void GuestOperations::turn(const BatchLine& line, BatchInFlight& in_flight) {
    const auto op = core::string_in(line.members, "op");
    const auto server = core::string_in(line.members, "server");
    auto& servers = control_.server_switch();
    const auto done = op == "host/stop"      ? servers.stop(server)
                      : op == "host/start"   ? start_server(server)
                      : op == "host/disable" ? servers.disable(server)
                      : op == "host/enable"  ? servers.enable(server)
                                             : restart(server);
    if (!done) return in_flight.fail(line.id, done.error());
    in_flight.succeed(line.id, "{}");
}

void GuestOperations::move(const BatchLine& line, BatchInFlight& in_flight) {
    auto& reload = control_.reload();
    auto moved = lifetime_.guard(
        [this, &in_flight, id = line.id](const auto& plan) { tell_move(plan, id, in_flight); });
    if (core::string_in(line.members, "op") == "host/apply")
        reload.apply(std::move(moved));
    else
        moved(reload.rollback());
}

void GuestOperations::tell_move(const Result<registry::Plan>& plan, const std::string& id,
                                BatchInFlight& in_flight) const {
    if (!plan) return in_flight.fail(id, plan.error());
    json::array lines;
    for (const auto& each : registry::lines_of(*plan))
        lines.push_back(
            json::array{json::value(each.what), json::value(each.whom), json::value(each.how)});
    in_flight.succeed(
        id, json::serialize(json::object{{"configuration", control_.configuration_number()},
                                         {"plan", registry::to_json(*plan)},
                                         {"lines", std::move(lines)}}));
}

// Of one that has failed, or that must not come back, it is asked for as plainly as by a restart.
Result<void> GuestOperations::start_server(const std::string& server) {
    if (const auto started = control_.server_switch().start(server); !started)
        return started.error();
    for (const auto& status : servers_.statuses()) {
        const bool down =
            status.state == connection::State::Failed || status.state == connection::State::Error;
        if (status.id != server || !down) continue;
        const auto again = restart(server);
        // It was begun anew a moment ago, and goes on by itself.
        if (!again && again.error().code != ErrorCode::Limit) return again.error();
    }
    return {};
}

void GuestOperations::set_sandbox_state(const BatchLine& line, BatchInFlight& in_flight) {
    auto& connections = servers_.connections();
    const auto state = raw_member_of(line.text, "state");
    if (state.empty()) return in_flight.succeed(line.id, connections.sandbox_state());
    const auto told = connections.set_sandbox_state(state);
    if (!told) return in_flight.fail(line.id, told.error());
    json::array servers(told->begin(), told->end());
    in_flight.succeed(line.id, json::serialize(json::object{{"servers", std::move(servers)}}));
}

Result<void> GuestOperations::restart(const std::string& server) {
    const auto found = servers_.connections().find(server);
    if (!found) return servers_.no_such_server(server);
    return found->get().restart(caller_);
}

std::string GuestOperations::statuses() const {
    json::array list;
    for (const auto& status : servers_.statuses()) list.push_back(status_text(status));
    return json::serialize(list);
}

std::string GuestOperations::unknown(const BatchLine& line) const {
    const auto ids = service::with_unknown_tools(servers_, caller_, servers_in(line));
    return json::serialize(json::array(ids.begin(), ids.end()));
}

std::string GuestOperations::tools(const BatchLine& line) const {
    const auto wait = core::flag_in(&line.members, "cut_short") == true ? service::Wait::CutShort
                                                                        : service::Wait::ToTheEnd;
    auto list = service::tools_listed(servers_, caller_, servers_in(line), wait, ask_in(line));
    // Of one that is stopped only this host knows.
    for (const auto& id : servers_in(line))
        if (!servers_.has(id)) list.errors.push_back({id, servers_.no_such_server(id)});
    return json::serialize(tools_text(list));
}

std::string GuestOperations::answers() const {
    json::array all;
    for (const auto& each : service::session_answers(control_.callers()))
        all.push_back(service::decision_text(each));
    return json::serialize(all);
}

std::string GuestOperations::forget_answers(const BatchLine& line) const {
    std::vector<PolicyTarget> targets;
    if (const auto* list = core::array_in(&line.members, "targets"))
        for (const auto& each : *list) {
            const auto* pair = each.if_array();
            if (!pair || pair->size() != 2) continue;
            targets.push_back({std::string(core::text_of((*pair)[0]).value_or("")),
                               std::string(core::text_of((*pair)[1]).value_or(""))});
        }
    const auto gone = service::forget_session_answers(
        control_.callers(), [&](const auto& answer) { return are_meant(targets, answer); });
    return json::serialize(json::object{{"forgotten", gone}});
}

std::string GuestOperations::rules(const BatchLine& line) const {
    json::array warnings;
    for (const auto& each : rule_warnings(servers_, servers_in(line)))
        warnings.emplace_back(core::log::masked(config::to_string(each)));
    return json::serialize(warnings);
}

}  // namespace patchbay::app
