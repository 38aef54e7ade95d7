#include "gateway/client_tasks.hpp"

#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <optional>

namespace patchbay::gateway {

namespace {

// Beyond, the sum with the time of now could overflow; such a task is as good as kept for ever.
constexpr std::int64_t kLongestTtlMs = std::int64_t{1'000} * 3'600 * 24 * 365;

// A server may forget it too by now, so that nobody misses what is asked for under its name.
bool may_go(const ClientTasks::Task& task, core::Clock::time_point now) {
    return task.ended || now >= task.old_at;
}

void tell(ClientTasks::Task& task, std::string_view raw_task, core::Clock::time_point now) {
    protocol::each_member(raw_task, [&](std::string_view key, std::string_view value) {
        if (key == "status")
            task.ended =
                value == "\"completed\"" || value == "\"failed\"" || value == "\"cancelled\"";
        // A ttl that is no number, as null, is none: the task may be asked for without end.
        std::int64_t ms = 0;
        const auto* end = value.data() + value.size();
        const bool whole = std::from_chars(value.data(), end, ms).ptr == end;
        if (key == "ttl" && whole && ms >= 0 && ms <= kLongestTtlMs)
            task.old_at = now + std::chrono::milliseconds(ms);
        return true;
    });
}

// The object with another value of that member, where it has it; what is no object stays.
std::string with_changed(std::string_view raw, std::string_view key,
                         const std::function<std::string(std::string_view)>& change) {
    if (!raw.starts_with('{')) return std::string(raw);
    std::string members;
    protocol::each_member(raw, [&](std::string_view name, std::string_view value) {
        protocol::append_member(members, name, name == key ? change(value) : std::string(value));
        return true;
    });
    return "{" + members + "}";
}

}  // namespace

bool ClientTasks::room(core::Clock::time_point now) const {
    return tasks_.size() < kMost ||
           std::any_of(tasks_.begin(), tasks_.end(),
                       [&](const auto& each) { return may_go(each.second.task, now); });
}

// The oldest of those that may go: they are in the order in which they came.
void ClientTasks::forget_one(core::Clock::time_point now) {
    const auto old = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const auto& each) { return may_go(each.second.task, now); });
    if (old == tasks_.end()) return;
    numbers_.erase(old->second.name);
    tasks_.erase(old);
}

void ClientTasks::add(const std::string& server, std::string_view raw_task,
                      core::Clock::time_point now, TaskClaims::Held claim) {
    const auto id = task_id_of(raw_task);
    // A server that says an id twice means one task; a second place for it would outlive the first.
    if (const auto found = numbers_.find(name_of(server, id)); found != numbers_.end()) {
        tasks_.at(found->second).task.claim = std::move(claim);
        return update(server, raw_task, now);
    }
    if (tasks_.size() >= kMost) forget_one(now);
    Kept kept{name_of(server, id), {server, id}};
    kept.task.claim = std::move(claim);
    tell(kept.task, raw_task, now);
    numbers_[kept.name] = ++last_;
    tasks_.emplace(last_, std::move(kept));
}

void ClientTasks::update(const std::string& server, std::string_view raw_task,
                         core::Clock::time_point now) {
    const auto found = numbers_.find(name_of(server, task_id_of(raw_task)));
    if (found != numbers_.end()) tell(tasks_.at(found->second).task, raw_task, now);
}

const ClientTasks::Task* ClientTasks::find(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? nullptr : &tasks_.at(found->second).task;
}

// Numbers are never used again, so that a page goes on where the one before ended whatever has gone since.
std::pair<std::vector<ClientTasks::Task>, ClientTasks::Number> ClientTasks::page(
    Number after, std::size_t most) const {
    std::vector<Task> found;
    Number last = after;
    for (auto each = tasks_.upper_bound(after); each != tasks_.end(); ++each) {
        if (found.size() == most) return {std::move(found), last};
        last = each->first;
        found.push_back(each->second.task);
    }
    return {std::move(found), 0};
}

// Behind --only there is one server, and its ids are told from no other's.
std::string ClientTasks::task_for_client(const std::string& server, std::string_view raw) const {
    if (!view_.public_names()) return std::string(raw);
    return with_changed(raw, "taskId", [&](std::string_view value) {
        const auto id = protocol::text_of_raw(value);
        return id ? protocol::quoted(name_of(server, *id)) : std::string(value);
    });
}

std::string ClientTasks::related_for_client(const std::string& server, std::string_view raw) const {
    if (!view_.public_names()) return std::string(raw);
    const auto related = related_task(raw);
    if (related.empty()) return std::string(raw);
    return with_related_task(raw, task_for_client(server, related));
}

router::ServerRequest request_about(const ClientRequests& requests, RequestNumber number,
                                    const protocol::Params& params, const std::string& server,
                                    const std::string& id) {
    auto asked = requests.as_asked(number);
    asked.server = server;
    asked.method = requests.find(number)->method;
    asked.params.members = protocol::with_member(params.members, "taskId", protocol::quoted(id));
    asked.of_a_task = true;
    return asked;
}

std::string task_id_of(std::string_view raw_task) {
    std::string id;
    protocol::each_member(raw_task, [&](std::string_view key, std::string_view value) {
        if (key == "taskId") id = protocol::text_of_raw(value).value_or("");
        return true;
    });
    return id;
}

std::string with_task_id(std::string_view raw_task, const std::string& id) {
    return with_changed(raw_task, "taskId", [&](std::string_view) { return protocol::quoted(id); });
}

std::string_view related_task(std::string_view raw) {
    std::string_view found;
    // Nearly every message: all that is passed on comes by here.
    if (raw.find(kRelatedTask) == std::string_view::npos) return found;
    protocol::each_member(raw, [&](std::string_view key, std::string_view meta) {
        if (key != "_meta") return true;
        protocol::each_member(meta, [&](std::string_view name, std::string_view value) {
            if (name == kRelatedTask) found = value;
            return true;
        });
        return true;
    });
    return found;
}

std::string with_related_task(std::string_view raw, const std::string& related) {
    return with_changed(raw, "_meta", [&](std::string_view meta) {
        return with_changed(meta, kRelatedTask, [&](std::string_view) { return related; });
    });
}

}  // namespace patchbay::gateway
