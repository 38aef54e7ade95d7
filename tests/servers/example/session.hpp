// One client: its bytes, and what it has told us of itself.
//
// Owns:    its descriptors' buffers (and the socket of a tcp client), its running tasks.
// Threads: one. Errors: what a client does wrong is answered as JSON-RPC errors; a broken pipe
//          finishes the session.
#pragma once

#include "example/options.hpp"

#include <boost/json.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace example {

class Server;

enum class Era { Legacy, Modern };

struct Request {
    std::string id;  // as written on the wire
    std::string_view method;
    const boost::json::object& params;
    const boost::json::object& meta;          // params._meta
    const boost::json::object& capabilities;  // the client's
    Era era;
};

// What is left of a request that is answered later.
struct Ticket {
    std::string id;
    Era era;
};

class Session {
public:
    using Answer = std::function<void(const boost::json::object& message)>;

    Session(Server& server, int in_fd, int out_fd);
    ~Session();
    Session(const Session&) = delete;

    int in_fd() const { return in_fd_; }
    int out_fd() const { return out_fd_; }
    bool wants_input() const;
    bool has_output() const { return sent_ < output_.size(); }
    bool finished() const { return finished_; }
    void read();  // what there is, handles every whole line, and writes the answers at once
    void flush();

    // `members` are those of the result object: "\"content\":[]".
    void answer(const Ticket& ticket, std::string_view members);
    void fail(std::string_view id, int code, std::string_view message, std::string_view data = {});
    void notify(std::string_view method, std::string_view members);
    // A request to the client (legacy). The message that `done` gets has a result or an error.
    void ask(std::string_view method, std::string_view members, Answer done);

    // Work that goes on after its request was read; notifications/cancelled stops it.
    void start_task(const Ticket& ticket, double wait_ms, std::function<void()> step);
    void finish_task(const Ticket& ticket) { tasks_.erase(ticket.id); }

    void tell_tools_changed();
    void tell_updated(std::string_view uri);
    bool wants_log(const Request& request, std::string_view level) const;
    Server& server() { return server_; }

private:
    struct Listener {
        bool tools = false;
        std::set<std::string, std::less<>> uris;
    };
    void make_room();
    void on_line(std::string_view line);
    void on_request(const boost::json::object& message, std::string_view method);
    void on_notification(std::string_view method, const boost::json::object& params);
    void on_response(const boost::json::object& message);
    void dispatch(const Request& request);
    bool judge_modern(const Request& request);
    void initialize(const Request& request);
    void discover(const Request& request);
    void listen(const Request& request);
    bool subscribe(const Request& request);
    void write_all(std::string_view bytes);
    void misbehave(const Request& request);
    void stop_task(const std::string& id);
    void append_message(std::string_view text);

    Server& server_;
    int in_fd_, out_fd_;
    bool is_socket_;
    bool finished_ = false;
    bool deaf_ = false;
    int messages_ = 0;
    std::vector<char> input_;  // [begin_, end_) is unread; zeroed only when it grows
    std::size_t begin_ = 0, scanned_ = 0, end_ = 0;
    std::string output_;
    std::size_t sent_ = 0;
    std::string scratch_;

    bool initialized_ = false;
    boost::json::object client_;  // capabilities told by initialize
    int log_level_ = 0;
    std::set<std::string, std::less<>> subscribed_;
    std::map<std::string, Listener> listeners_;  // by raw id
    std::map<std::string, std::pair<std::chrono::steady_clock::time_point, std::uint64_t>> tasks_;
    std::map<std::int64_t, Answer> asked_;
    std::int64_t next_ask_ = 1;
};

}  // namespace example
