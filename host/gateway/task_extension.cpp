#include "gateway/task_extension.hpp"

#include "core/text.hpp"
#include "gateway/client_tasks.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/task_extension.hpp"
#include "service/call.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace patchbay::gateway {

bool TaskExtension::any() const {
    auto& pool = servers_.connections();
    const auto shown = view_.servers(pool);
    return std::any_of(shown.begin(), shown.end(), [&](const auto& server) {
        const auto* held = pool.held(server, caller_.number());
        const auto* session = held ? held->session() : nullptr;
        return !session || (session->era == protocol::Era::Modern &&
                            protocol::names_tasks(session->capabilities));
    });
}

bool TaskExtension::takes_them(RequestNumber number) {
    auto& request = *requests_.find(number);
    if (protocol::names_tasks(request.meta.capabilities)) return true;
    request.lacking = std::string("{\"extensions\":{\"") + protocol::kTasksExtension + "\":{}}}";
    replies_.refuse(
        number, {ErrorCode::Denied, "tasks are for clients whose capabilities name the extension " +
                                        std::string(protocol::kTasksExtension)});
    return false;
}

bool TaskExtension::start(RequestNumber number, const protocol::Params& params) {
    auto& request = *requests_.find(number);
    if (!protocol::names_a_task(request.method)) return false;
    if (!takes_them(number)) return true;
    const auto name =
        protocol::text_of_raw(protocol::raw_member(params.members, "taskId")).value_or("");
    const auto task = names_.open(name);
    if (!task) {
        replies_.refuse(
            number, {ErrorCode::Invalid, name.empty() ? request.method + " needs a \"taskId\""
                                                      : "no task \"" + core::printable(name, 80) +
                                                            "\" was begun for this client"});
        return true;
    }
    request.server = task->server;
    request.call = servers_.router().request(
        caller_, request_about(requests_, number, params, task->server, task->id),
        [this, number, task = *task](auto reply) { on_answer(number, task, std::move(reply)); });
    return true;
}

void TaskExtension::on_answer(RequestNumber number, const TaskNames::Task& task,
                              Result<connection::Reply> reply) {
    const bool tells = reply && reply->error.empty() && task_id_of(reply->result) == task.id;
    if (!tells) return replies_.pass_on(number, std::move(reply));
    replies_.reply(number, with_task_id(reply->result, names_.make(task)));
}

void TaskExtension::on_begun(RequestNumber number, connection::Reply reply) {
    const auto* request = requests_.find(number);
    if (!request) return;
    if (!view_.public_names()) return name(number, view_.only, reply);
    const auto kept = std::make_shared<const connection::Reply>(std::move(reply));
    service::find_tool(servers_, caller_, request->tool, std::chrono::milliseconds(0),
                       lifetime_.guard([this, number, kept](Result<router::ListedTool> found) {
                           if (!found)
                               return replies_.refuse(
                                   number, {found.error().code,
                                            found.error().message +
                                                "; the call was carried out as far as a task that "
                                                "its server has begun"});
                           name(number, found->server, *kept);
                       }));
}

void TaskExtension::name(RequestNumber number, const std::string& server,
                         const connection::Reply& reply) {
    if (!requests_.find(number)) return;
    const auto id = task_id_of(reply.result);
    if (id.empty() || id.size() > kMostIdBytes)
        return replies_.refuse(
            number, {ErrorCode::Protocol, "server \"" + server + "\" began a task whose id has " +
                                              std::to_string(id.size()) + " bytes, of 1 to " +
                                              std::to_string(kMostIdBytes)});
    replies_.reply(number, with_task_id(reply.result, names_.make({server, id})));
}

}  // namespace patchbay::gateway
