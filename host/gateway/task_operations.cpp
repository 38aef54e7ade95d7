#include "gateway/task_operations.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"
#include "service/call.hpp"

#include <charconv>
#include <memory>
#include <optional>
#include <vector>

namespace patchbay::gateway {

namespace {

bool runs_tools_as_tasks(const protocol::Session& session) {
    const auto* requests =
        core::object_in(core::object_in(&session.capabilities, "tasks"), "requests");
    return session.era == protocol::Era::Legacy &&
           core::object_in(core::object_in(requests, "tools"), "call") != nullptr;
}

std::string text_member(const protocol::Params& params, std::string_view key) {
    return protocol::text_of_raw(protocol::raw_member(params.members, key)).value_or("");
}

// Absent or empty: from the first. None: it is no cursor of ours.
std::optional<ClientTasks::Number> number_in(std::string_view raw_cursor) {
    ClientTasks::Number number = 0;
    if (raw_cursor.empty() || raw_cursor == "null") return number;
    const auto cursor = protocol::text_of_raw(raw_cursor);
    if (!cursor) return {};
    if (cursor->empty()) return number;
    const auto* end = cursor->data() + cursor->size();
    const auto read = std::from_chars(cursor->data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return {};
    return number;
}

// A page of tasks while their servers tell how they are; those of servers that do not are left out.
struct Page {
    std::vector<std::string> tasks;
    std::size_t missing = 0;
    std::string next;  // raw; empty: none

    std::string result() const {
        std::string all;
        for (const auto& task : tasks)
            if (!task.empty()) all.append(all.empty() ? "" : ",").append(task);
        return "{\"tasks\":[" + all + "]" + (next.empty() ? "" : ",\"nextCursor\":" + next) + "}";
    }
};

}  // namespace

void TaskOperations::begin(RequestNumber number, const std::string& tool,
                           std::function<void(connection::ReplyHandler)> call) {
    if (!tasks_.room(now()))
        return replies_.refuse(
            number, {ErrorCode::Limit, "this session has " + std::to_string(ClientTasks::kMost) +
                                           " tasks that have not ended; cancel some of them"});
    if (!view_.public_names()) return call_at(number, view_.only, call);
    // What is denied for certain starts no server.
    if (const auto denied = servers_.router().certain_denial(caller_, tool))
        return replies_.refuse(number, *denied);
    service::find_tool(
        servers_, caller_, tool, std::chrono::milliseconds(0),
        lifetime_.guard([this, number, call = std::move(call)](Result<router::ListedTool> found) {
            if (!found) return replies_.refuse(number, found.error());
            call_at(number, found->server, call);
        }));
}

void TaskOperations::call_at(RequestNumber number, const std::string& server,
                             const std::function<void(connection::ReplyHandler)>& call) {
    auto& pool = servers_.connections();
    pool.connect(caller_, {server}, lifetime_.guard([this, number, server, call, &pool] {
        if (!requests_.find(number)) return;
        const auto* held = pool.held(server, caller_.number());
        const auto* session = held ? held->session() : nullptr;
        if (session && !runs_tools_as_tasks(*session))
            return replies_.refuse(number,
                                   {ErrorCode::Unsupported,
                                    "server \"" + server +
                                        "\" carries out no tools as tasks (it lacks the capability "
                                        "tasks.requests.tools.call); call it without \"task\""});
        call([this, number, server](auto reply) { on_begun(number, server, std::move(reply)); });
    }));
}

// A server that carries the tool out at once after all has answered the call itself.
void TaskOperations::on_begun(RequestNumber number, const std::string& server,
                              Result<connection::Reply> reply) {
    if (!reply || !reply->error.empty()) return replies_.pass_on(number, std::move(reply));
    std::string_view task;
    protocol::each_member(reply->result, [&](std::string_view key, std::string_view value) {
        if (key == "task") task = value;
        return true;
    });
    const auto id = task_id_of(task);
    if (id.empty()) return replies_.pass_on(number, std::move(reply));
    if (id.size() > ClientTasks::kMostIdBytes)
        return replies_.refuse(
            number, {ErrorCode::Protocol, "server \"" + server + "\" began a task whose id has " +
                                              std::to_string(id.size()) + " bytes, of at most " +
                                              std::to_string(ClientTasks::kMostIdBytes)});
    tasks_.add(server, task, now(),
               claims_ ? claims_->take(connection_to(server), id) : TaskClaims::Held());
    if (!view_.public_names()) return replies_.pass_on(number, std::move(reply));
    std::string members;
    const auto named = tasks_.related_for_client(server, reply->result);
    protocol::each_member(named, [&](std::string_view key, std::string_view value) {
        protocol::append_member(
            members, key,
            key == "task" ? tasks_.task_for_client(server, value) : std::string(value));
        return true;
    });
    replies_.reply(number, "{" + members + "}");
}

const connection::Connection* TaskOperations::connection_to(const std::string& server) const {
    return servers_.connections().held(server, caller_.number());
}

bool TaskOperations::is_ours(const ClientTasks::Task& task) const {
    return !claims_ || claims_->holds(task.claim, connection_to(task.server), task.id);
}

bool TaskOperations::start(RequestNumber number, const protocol::Params& params) {
    const auto& method = requests_.find(number)->method;
    if (method == "tasks/list") return list(number, params), true;
    if (method != "tasks/get" && method != "tasks/result" && method != "tasks/cancel") return false;
    return ask(number, params), true;
}

void TaskOperations::ask(RequestNumber number, const protocol::Params& params) {
    auto& request = *requests_.find(number);
    const auto name = text_member(params, "taskId");
    if (name.empty())
        return replies_.refuse(number,
                               {ErrorCode::Invalid, request.method + " needs a \"taskId\""});
    const auto* task = tasks_.find(name);
    if (!task || !is_ours(*task))
        return replies_.refuse(
            number, {ErrorCode::Invalid, "no task \"" + core::printable(name, 80) +
                                             "\" was begun in this session, or it ended long ago"});
    request.server = task->server;
    auto asked = request_about(requests_, number, params, task->server, task->id);
    if (!request.meta.progress_token.empty())
        asked.on_progress = [this, number](const auto& told) {
            replies_.tell_progress(number, told);
        };
    request.call = servers_.router().request(caller_, std::move(asked),
                                             [this, number, server = task->server](auto reply) {
                                                 on_answer(number, server, std::move(reply));
                                             });
}

void TaskOperations::on_answer(RequestNumber number, const std::string& server,
                               Result<connection::Reply> reply) {
    const auto* request = requests_.find(number);
    if (!request || !reply || !reply->error.empty())
        return replies_.pass_on(number, std::move(reply));
    const bool result = request->method == "tasks/result";
    if (!result) tasks_.update(server, reply->result, now());
    if (!view_.public_names()) return replies_.pass_on(number, std::move(reply));
    replies_.reply(number, result ? tasks_.related_for_client(server, reply->result)
                                  : tasks_.task_for_client(server, reply->result));
}

// Each is asked for by itself: a server's own list is of all who share its connection, and a server
// need not have one.
void TaskOperations::list(RequestNumber number, const protocol::Params& params) {
    const auto after = number_in(protocol::raw_member(params.members, "cursor"));
    if (!after) return replies_.refuse(number, {ErrorCode::Invalid, "no such cursor"});
    auto [tasks, last] = tasks_.page(*after, kPage);
    std::erase_if(tasks, [&](const auto& each) { return !is_ours(each); });
    const auto page = std::make_shared<Page>();
    page->tasks.resize(tasks.size());
    page->missing = tasks.size();
    if (last != 0) page->next = protocol::quoted(std::to_string(last));
    if (tasks.empty()) return replies_.reply(number, page->result());
    std::vector<router::CallId> calls;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        router::ServerRequest asked{
            tasks[i].server, "tasks/get", {"\"taskId\":" + protocol::quoted(tasks[i].id), {}}};
        asked.of_a_task = true;
        calls.push_back(servers_.router().request(
            caller_, std::move(asked),
            [this, number, page, i, server = tasks[i].server, id = tasks[i].id](auto reply) {
                // One answer that makes no sense, or no end, shall not spoil the list of all.
                if (reply && reply->error.empty() && reply->result.size() <= kListedBytes &&
                    task_id_of(reply->result) == id) {
                    tasks_.update(server, reply->result, now());
                    page->tasks[i] = tasks_.task_for_client(server, reply->result);
                }
                if (--page->missing == 0) replies_.reply(number, page->result());
            }));
    }
    // What its client does not wait for any more is asked of nobody.
    requests_.find(number)->operation =
        service::Operation(this, lifetime_.guard([this, calls = std::move(calls)](TaskOperations*) {
            for (const auto call : calls) servers_.router().cancel(call);
        }));
}

std::string TaskOperations::status_for_client(const std::string& server, std::string_view params) {
    const auto* task = tasks_.find(server, task_id_of(params));
    if (!task || !is_ours(*task)) return {};
    tasks_.update(server, params, now());
    return tasks_.task_for_client(server, params);
}

std::string TaskOperations::for_client(const std::string& server, std::string_view params) const {
    return tasks_.related_for_client(server, params);
}

connection::Caller::Answer TaskOperations::answer_for(std::string_view params,
                                                      connection::Caller::Answer answer) const {
    const auto related = related_task(params);
    if (related.empty() || !view_.public_names()) return answer;
    return [related = std::string(related),
            answer = std::move(answer)](Result<connection::Given> given) {
        if (given) given->text = with_related_task(given->text, related);
        answer(std::move(given));
    };
}

}  // namespace patchbay::gateway
