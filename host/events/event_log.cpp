#include "events/event_log.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace patchbay::events {
namespace json = boost::json;

namespace {

constexpr std::chrono::seconds kBetweenLooks{1};  // at calls, however many there are

std::string words(std::string_view text) {
    return core::printable(core::log::masked(std::string(text)), EventLog::kTextBytes);
}

std::string date_text(core::Calendar::time_point date) {
    using std::chrono::milliseconds;
    const auto since = std::chrono::floor<milliseconds>(date.time_since_epoch());
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since).count();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char day[32], text[48];
    std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>(since.count() % 1000));
    return text;
}

std::int64_t milliseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

json::array names(const std::vector<std::string>& all) {
    json::array told;
    for (const auto& each : all) {
        if (told.size() == EventLog::kNames) break;
        told.emplace_back(words(each));
    }
    return told;
}

// Names that are left out are counted still.
void put_more(json::object& members, const char* key, std::size_t all) {
    if (all > EventLog::kNames) members[std::string(key) + "_more"] = all - EventLog::kNames;
}
void put_names(json::object& members, const char* key, const std::vector<std::string>& all) {
    if (all.empty()) return;
    members[key] = names(all);
    put_more(members, key, all.size());
}

void put(json::object& members, const char* key, std::string_view text) {
    if (!text.empty()) members[key] = words(text);
}

}  // namespace

EventLog::EventLog(core::Loop& loop) : loop_(loop), look_(loop) {}

std::shared_ptr<void> EventLog::follow(Follower follower) {
    auto held = std::make_shared<Follower>(std::move(follower));
    followers_.push_back(held);
    return held;
}

void EventLog::tell(const char* event, std::string_view server, const json::object& members) {
    json::object whole{
        {"event", event}, {"number", ++last_}, {"at", date_text(loop_.time().date())}};
    if (!server.empty()) whole["server"] = server;
    for (const auto& member : members) whole[member.key()] = member.value();
    kept_.push_back({last_, std::string(server), json::serialize(whole)});
    bytes_ += kept_.back().text.size();
    while (kept_.size() > 1 && (kept_.size() > kEvents || bytes_ > kBytes)) {
        bytes_ -= kept_.front().text.size();
        kept_.pop_front();
    }
    std::erase_if(followers_, [](const auto& each) { return each.expired(); });
    for (const auto& each : followers_)
        if (const auto follower = each.lock()) (*follower)(kept_.back());
}

void EventLog::tell_startup(const std::vector<std::string>& ready,
                            const std::vector<Failed>& failed) {
    json::array failures;
    for (const auto& [server, why] : failed) {
        if (failures.size() == kNames) break;
        failures.push_back(json::object{{"server", server}, {"error", words(why)}});
    }
    json::object members{{"ready", names(ready)}, {"failed", std::move(failures)}};
    put_more(members, "ready", ready.size());
    put_more(members, "failed", failed.size());
    tell("mcp_startup_complete", {}, members);
}

void EventLog::on_call_begun(const core::BegunCall& call) {
    const auto now = loop_.now();
    calls_[call.number] = {std::string(call.server), std::string(call.name), now, now + kLongCall};
    json::object members{{"call", call.number}};
    put(members, "name", call.name);
    put(members, "tool", call.tool);
    put(members, "caller", to_string(call.caller));
    tell("mcp_tool_call_begin", call.server, members);
    if (!look_.running()) wait_for_calls();
}

void EventLog::on_request_ended(const core::EndedRequest& request) {
    const auto begun = calls_.extract(request.asked.number);
    if (!begun) return;  // no call of a tool
    const bool answered = request.trouble.empty();
    json::object members{{"call", request.asked.number}};
    put(members, "name", request.asked.name);
    put(members, "tool", request.asked.tool);
    members["outcome"] = answered ? "result" : "error";
    if (answered) {
        members["is_error"] = request.outcome == "is_error";
        members["result"] = json::object{{"bytes", request.bytes_from_server}};
    } else {
        // A server may say in its error what it was asked: that is an answer.
        const bool of_server = request.outcome == "server_error";
        members["error"] = json::object{
            {"kind", of_server ? std::string_view("server") : request.outcome},
            {"message", of_server ? "the server answered an error" : words(request.trouble)}};
    }
    members["duration_ms"] = milliseconds(request.duration);
    // Whoever follows a server hears the end of all that began there.
    tell("mcp_tool_call_end",
         request.asked.server.empty() ? begun.mapped().server : request.asked.server, members);
}

// One timer for all of them: it is rare that a call lasts.
void EventLog::wait_for_calls() {
    if (calls_.empty()) return;
    const auto next =
        std::min_element(calls_.begin(), calls_.end(), [](const auto& a, const auto& b) {
            return a.second.next < b.second.next;
        })->second.next;
    look_.start(std::max<std::chrono::nanoseconds>(next - loop_.now(), kBetweenLooks),
                [this] { look_at_calls(); });
}

void EventLog::look_at_calls() {
    const auto now = loop_.now();
    for (auto& [number, call] : calls_) {
        if (call.next > now) continue;
        call.next = now + kLongCall;
        json::object members{{"call", number}};
        put(members, "name", call.name);
        members["elapsed_ms"] = milliseconds(now - call.begun);
        tell("mcp_tool_call_progress", call.server, members);
    }
    wait_for_calls();
}

void EventLog::on_server_state(const core::ServerState& state) {
    json::object members{{"state", state.state}, {"connection", state.connection}};
    put(members, "error", state.trouble);
    tell("server_state", state.server, members);
    tell_start(state);
}

// A start lasts from `connecting` to where its connection is ready, or has come to an end; what fails on the way
// and is tried again is no end.
void EventLog::tell_start(const core::ServerState& told) {
    const auto& state = told.state;
    if (state == "connecting") starts_[told.connection] = ++last_start_;
    const auto found = starts_.find(told.connection);
    if (found == starts_.end()) return;
    const bool goes_on = state == "connecting" || state == "reconnecting";
    const bool cancelled = state == "stopped" || state == "idle";
    json::object members{{"status", goes_on            ? "starting"
                                    : state == "ready" ? "ready"
                                    : cancelled        ? "cancelled"
                                                       : "failed"},
                         {"start_number", found->second}};
    put(members, "error", told.trouble);
    if (!goes_on) starts_.erase(found);
    tell("mcp_startup_update", told.server, members);
}

// At once, and not when its program has left: whoever restarts a server hears last of the start that is to be.
void EventLog::on_connection_closing(std::string_view server, std::uint64_t connection) {
    tell_start({server, connection, "stopped", {}});
}

void EventLog::on_server_restart(std::string_view server) {
    tell("server_restart", server, {});
}

void EventLog::on_approval(const core::ApprovalStep& step) {
    json::object members{{"call", step.number}, {"step", step.step}};
    put(members, "name", step.name);
    put(members, "method", step.method);
    tell("approval", step.server, members);
}

void EventLog::on_pins(const core::PinChange& change) {
    json::object members{{"list", change.list}};
    put_names(members, "blocked", change.blocked);
    put_names(members, "changed", change.told);
    tell("pins", change.server, members);
}

void EventLog::on_list_changed(const core::ListChange& change) {
    json::object members{{"list", change.list}};
    if (change.count) members["count"] = *change.count;
    put_names(members, "added", change.added);
    put_names(members, "removed", change.removed);
    put_names(members, "changed", change.changed);
    tell("catalogue", change.server, members);
}

void EventLog::on_configuration(const core::ConfigurationChange& change) {
    json::object members{{"configuration", change.number}, {"cause", change.cause}};
    if (!change.refused.empty()) {
        put(members, "error", change.refused);
        return tell("configuration_refused", {}, members);
    }
    put_names(members, "start", change.start);
    put_names(members, "stop", change.stop);
    put_names(members, "restart", change.restart);
    put_names(members, "adjust", change.adjust);
    if (change.widened > 0) members["widened"] = change.widened;
    if (change.narrowed > 0) members["narrowed"] = change.narrowed;
    tell("configuration", {}, members);
}

}  // namespace patchbay::events
