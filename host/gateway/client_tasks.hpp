// The tasks that the calls of one session have begun at servers, and what its client knows them by:
// SERVER:ID, or ID where it is shown one server alone.
//
// A connection may be shared, and its server takes all who share it for one client: a task that is not
// in here is, for this session, none.
//
// Threads: [loop].
// Limits:  kMost. Beyond, those that have ended or are older than their ttl are forgotten, from the
//          oldest; where there are none, no other task is to be begun.
// Source:  MCP 2025-11-25 basic/utilities/tasks.
#pragma once

#include "core/time_source.hpp"
#include "gateway/client_requests.hpp"
#include "gateway/task_claims.hpp"
#include "gateway/view.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::gateway {

inline constexpr const char* kRelatedTask = "io.modelcontextprotocol/related-task";

class ClientTasks {
public:
    static constexpr std::size_t kMost = 1'024;
    static constexpr std::size_t kMostIdBytes = 512;

    struct Task {
        std::string server, id;  // as that server has it
        bool ended = false;
        core::Clock::time_point old_at = core::Clock::time_point::max();  // its ttl is over
        TaskClaims::Held claim = {};  // null: no other session can have begun it
    };
    using Number = std::uint64_t;  // ascending as they were begun; never 0

    explicit ClientTasks(const View& view) : view_(view) {}

    bool room(core::Clock::time_point now) const;
    // A call has begun it. `raw_task`: as that server tells it.
    void add(const std::string& server, std::string_view raw_task, core::Clock::time_point now,
             TaskClaims::Held claim = {});
    // What its server tells of it from then on; of an unknown one nothing is kept.
    void update(const std::string& server, std::string_view raw_task, core::Clock::time_point now);
    const Task* find(const std::string& name) const;
    const Task* find(const std::string& server, const std::string& id) const {
        return find(name_of(server, id));
    }
    // Those after `after`, `most` at most, and the number of the last where there are more; else 0.
    std::pair<std::vector<Task>, Number> page(Number after, std::size_t most) const;

    std::string name_of(const std::string& server, const std::string& id) const {
        return view_.public_names() ? server + ":" + id : id;
    }
    // That object of the server's, raw, with the names that the client knows: of its own "taskId", and
    // of the task that its `_meta` names. All else is not touched.
    std::string task_for_client(const std::string& server, std::string_view raw) const;
    std::string related_for_client(const std::string& server, std::string_view raw) const;

private:
    struct Kept {
        std::string name;
        Task task;
    };

    void forget_one(core::Clock::time_point now);

    const View& view_;
    std::map<Number, Kept> tasks_;
    std::map<std::string, Number> numbers_;  // by name
    Number last_ = 0;
};

// What the client asks about a task, as the server that has it is asked: there it is `id`.
router::ServerRequest request_about(const ClientRequests& requests, RequestNumber number,
                                    const protocol::Params& params, const std::string& server,
                                    const std::string& id);
// What a server calls the task that it tells of; empty: it tells of none.
std::string task_id_of(std::string_view raw_task);
// The object with that value of its "taskId", where it has one.
std::string with_task_id(std::string_view raw_task, const std::string& id);
// What the `_meta` of that object says of the task that it belongs to, raw; empty: of none.
std::string_view related_task(std::string_view raw);
// The object with `related` there, where it says something.
std::string with_related_task(std::string_view raw, const std::string& related);

}  // namespace patchbay::gateway
