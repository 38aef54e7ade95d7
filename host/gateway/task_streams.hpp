// What servers tell of tasks to the streams that name them: each server that has a task of a stream is listened to for that
// stream, as long as it lasts.
//
// Borrows: all it is given. Threads: [loop].
// Limits:  kMost tasks of one stream; kPatience for a server to say of which it will tell, and kMostHeld bytes of what it tells
//          before the stream is acknowledged. Of the others the acknowledgment says why not, and their client asks for them.
// Source:  SEP-2663 "Task Status Notifications".
#pragma once

#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "gateway/client_requests.hpp"
#include "gateway/listeners.hpp"
#include "gateway/outward.hpp"
#include "gateway/task_names.hpp"
#include "service/servers.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class TaskStreams {
public:
    static constexpr std::size_t kMost = Listeners::kMostTasks;
    static constexpr std::chrono::seconds kPatience{10};
    static constexpr std::size_t kMostHeld = 1u << 20;  // of one stream and server

    // A stream that does not hear any more what it was acknowledged for is to end: its client listens anew.
    using Ended = std::function<void(RequestNumber stream, const std::string& why)>;

    TaskStreams(const service::Servers& servers, connection::Caller& caller,
                ClientRequests& requests, Listeners& listeners, Outward& out,
                const TaskNames& names, Ended ended)
        : servers_(servers),
          caller_(caller),
          requests_(requests),
          listeners_(listeners),
          out_(out),
          names_(names),
          ended_(std::move(ended)) {}

    // `agreed`: once the listener has those tasks alone that will be told of. At once where it has none.
    void listen(RequestNumber stream, std::function<void()> agreed);
    // It is acknowledged: what came before follows.
    void begin(RequestNumber stream);
    // Its server has said of which it will tell.
    void acknowledged(const std::string& server, std::string_view params, RequestNumber stream);
    // `stream`: the one it is said to; 0: it does not say so.
    void tell(const std::string& server, std::string_view params, RequestNumber stream);
    void end(RequestNumber stream);

private:
    struct Asked {
        std::map<std::string, std::string>
            tasks{};              // the server's id of each, and its client's name of it
        router::CallId call = 0;  // that listens
        std::map<std::string, std::string> held{};  // the last of each, by the server's id
        std::size_t held_bytes = 0;
        bool answered = false;
    };
    struct Stream {
        std::map<std::string, Asked> servers{};
        std::function<void()> agreed{};
        std::unique_ptr<core::Timer> patience{};
    };

    void ask(RequestNumber stream, const std::string& server, Asked& asked);
    void leave_out(RequestNumber stream, const std::map<std::string, std::string>& tasks,
                   const std::string& why);
    void on_ended(RequestNumber stream, const std::string& server,
                  const Result<connection::Reply>& reply);
    void on_late(RequestNumber stream);
    void agree_if_all_have(RequestNumber stream);
    void tell(RequestNumber stream, const std::string& server, const Asked& asked,
              const std::string& id, std::string_view params);
    void hold(RequestNumber stream, Asked& asked, const std::string& id, std::string_view params);

    const service::Servers& servers_;
    connection::Caller& caller_;
    ClientRequests& requests_;
    Listeners& listeners_;
    Outward& out_;
    const TaskNames& names_;
    const Ended ended_;
    std::map<RequestNumber, Stream> streams_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
