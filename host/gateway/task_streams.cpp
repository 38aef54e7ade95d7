#include "gateway/task_streams.hpp"

#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "gateway/client_tasks.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostReasonBytes = 500;

// As its client is told of it; the `_meta` names a stream of ours.
std::string as_told(std::string_view raw_task, const std::string& name) {
    std::string members;
    protocol::each_member(raw_task, [&](std::string_view key, std::string_view value) {
        if (key != "_meta")
            protocol::append_member(members, key,
                                    key == "taskId" ? protocol::quoted(name) : std::string(value));
        return true;
    });
    return members;
}

}  // namespace

void TaskStreams::listen(RequestNumber number, std::function<void()> agreed) {
    auto& listener = *listeners_.find(number);
    Stream stream;
    // A client may name what it likes; what was not begun for it is not asked for, and no server hears the name.
    for (const auto& name : std::exchange(listener.tasks, {})) {
        if (const auto task = names_.open(name))
            stream.servers[task->server].tasks[task->id] = name;
        else
            listener.left_out[name] = "no such task was begun for this client";
    }
    if (stream.servers.empty()) return agreed();
    stream.agreed = std::move(agreed);
    stream.patience = std::make_unique<core::Timer>(servers_.connections().loop());
    stream.patience->start(kPatience, [this, number] { on_late(number); });
    auto& kept = streams_[number] = std::move(stream);
    for (auto& [server, asked] : kept.servers) ask(number, server, asked);
}

void TaskStreams::ask(RequestNumber number, const std::string& server, Asked& asked) {
    json::array ids;
    for (const auto& [id, name] : asked.tasks) ids.emplace_back(id);
    auto request = requests_.as_asked(number);
    request.server = server;
    request.method = "subscriptions/listen";
    request.params.members = "\"notifications\":{\"taskIds\":" + json::serialize(ids) + "}";
    request.of_a_task = true;
    asked.call = servers_.router().request(
        caller_, std::move(request),
        lifetime_.guard([this, number, server](const Result<connection::Reply>& reply) {
            on_ended(number, server, reply);
        }));
}

void TaskStreams::leave_out(RequestNumber number, const std::map<std::string, std::string>& tasks,
                            const std::string& why) {
    auto* listener = listeners_.find(number);
    if (!listener) return;
    for (const auto& [id, name] : tasks)
        listener->left_out[name] = core::log::masked(core::printable(why, kMostReasonBytes));
}

void TaskStreams::acknowledged(const std::string& server, std::string_view params,
                               RequestNumber number) {
    const auto stream = streams_.find(number);
    if (stream == streams_.end()) return;
    const auto asked = stream->second.servers.find(server);
    auto* listener = listeners_.find(number);
    if (asked == stream->second.servers.end() || asked->second.answered || !listener) return;
    asked->second.answered = true;
    std::set<std::string_view> agreed;  // what it names besides was not asked for
    const auto object = core::read_json_object(params);
    const auto* filter = object ? core::object_in(&*object, "notifications") : nullptr;
    if (const auto* ids = core::array_in(filter, "taskIds"))
        for (const auto& id : *ids)
            if (const auto text = core::text_of(id)) agreed.insert(*text);
    std::map<std::string, std::string> others;
    for (const auto& [id, name] : asked->second.tasks)
        if (agreed.contains(id))
            listener->tasks.insert(name);
        else
            others[id] = name;
    leave_out(number, others, "server \"" + server + "\" does not tell of it");
    agree_if_all_have(number);
}

// A server that ends the stream, or goes, tells no more of its tasks.
void TaskStreams::on_ended(RequestNumber number, const std::string& server,
                           const Result<connection::Reply>& reply) {
    const auto stream = streams_.find(number);
    if (stream == streams_.end()) return;
    const auto asked = stream->second.servers.extract(server);
    auto* listener = listeners_.find(number);
    if (!asked || !listener) return;
    const auto why = "server \"" + server + "\" " +
                     (asked.mapped().answered ? "tells no more of it" : "does not tell of it") +
                     (reply ? "" : ": " + reply.error().message);
    bool was_told = false;
    for (const auto& [id, name] : asked.mapped().tasks)
        was_told = listener->tasks.erase(name) > 0 || was_told;
    leave_out(number, asked.mapped().tasks, why);
    if (stream->second.agreed) return agree_if_all_have(number);
    if (was_told) ended_(number, why);
}

void TaskStreams::on_late(RequestNumber number) {
    auto& servers = streams_.at(number).servers;
    std::vector<router::CallId> late;
    for (auto each = servers.begin(); each != servers.end();) {
        if (each->second.answered) {
            ++each;
            continue;
        }
        late.push_back(each->second.call);
        leave_out(number, each->second.tasks,
                  "server \"" + each->first + "\" has not said within " +
                      core::duration(kPatience) + " that it tells of it");
        each = servers.erase(each);
    }
    // Each ends at once, and is known no more.
    for (const auto call : late) servers_.router().cancel(call, "it does not say what it tells of");
    agree_if_all_have(number);
}

void TaskStreams::agree_if_all_have(RequestNumber number) {
    auto& stream = streams_.at(number);
    const bool all = std::all_of(stream.servers.begin(), stream.servers.end(),
                                 [](const auto& each) { return each.second.answered; });
    if (!all || !stream.agreed) return;
    stream.patience->stop();
    std::exchange(stream.agreed, nullptr)();
}

void TaskStreams::begin(RequestNumber number) {
    const auto stream = streams_.find(number);
    if (stream == streams_.end()) return;
    for (auto& [server, asked] : stream->second.servers)
        for (const auto& [id, params] : std::exchange(asked.held, {}))
            tell(number, server, asked, id, params);
}

void TaskStreams::tell(const std::string& server, std::string_view params, RequestNumber said_to) {
    const auto id = task_id_of(params);
    std::vector<router::CallId> denied;
    for (auto& [number, stream] : streams_) {
        // A server tells each of our streams; without this one client's two would each hear it twice.
        if (said_to != 0 && number != said_to) continue;
        const auto asked = stream.servers.find(server);
        auto* listener = listeners_.find(number);
        if (asked == stream.servers.end() || !listener) continue;
        const auto task = asked->second.tasks.find(id);
        if (task == asked->second.tasks.end() || !listener->tasks.contains(task->second)) continue;
        if (servers_.router().denies_all_of(caller_.principal().trust, server))
            denied.push_back(asked->second.call);
        else if (listener->acknowledged)
            tell(number, server, asked->second, id, params);
        else
            hold(number, asked->second, id, params);
    }
    // Each ends its stream, which is told so.
    for (const auto call : denied) servers_.router().cancel(call, "it is denied by now");
}

void TaskStreams::tell(RequestNumber number, const std::string& server, const Asked& asked,
                       const std::string& id, std::string_view params) {
    const auto& name = asked.tasks.at(id);
    out_.send_event(server,
                    listeners_.find(number)->message("notifications/tasks", as_told(params, name)),
                    requests_.find(number)->route);
}

// Each says all of its task, so that the last one will do.
void TaskStreams::hold(RequestNumber number, Asked& asked, const std::string& id,
                       std::string_view params) {
    auto& held = asked.held[id];
    asked.held_bytes += params.size() - held.size();
    held = params;
    if (asked.held_bytes <= kMostHeld) return;
    asked.held_bytes -= held.size();
    asked.held.erase(id);
    const auto& name = asked.tasks.at(id);
    listeners_.find(number)->tasks.erase(name);
    leave_out(number, {{id, name}},
              "more than " + std::to_string(kMostHeld) +
                  " bytes were told of it before this stream was acknowledged");
}

void TaskStreams::end(RequestNumber number) {
    // First: each call that is cancelled ends at once, and is not to end this stream again.
    const auto gone = streams_.extract(number);
    if (!gone) return;
    for (const auto& [server, asked] : gone.mapped().servers)
        servers_.router().cancel(asked.call, "its client listens no more");
}

}  // namespace patchbay::gateway
