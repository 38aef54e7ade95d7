// `patchbay batch`: JSON Lines in, JSON Lines out, many requests in flight over one set of
// connections. The format is told in BATCH.md.
//
// Borrows the session and the descriptor.
// Threads: [loop].
// Errors:  a line that makes no sense is answered with an error that names the line; the rest
//          goes on.
// Limits:  kInFlight requests at once, then reading pauses.
#pragma once

#include "app/batch_input.hpp"
#include "app/batch_output.hpp"
#include "app/session.hpp"
#include "app/unseen_notifications.hpp"

#include <boost/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

class Batch {
public:
    static constexpr std::size_t kInFlight = 256;

    Batch(Session& session, int input);
    ~Batch();
    int run();

private:
    struct Running {
        router::CallId call = 0;
        bool endless = false;    // subscriptions/listen: ended by us when the input is over
        bool over = false;       // that has been done
        std::uint64_t list = 0;  // of a list: tells it from an earlier one of this id
    };
    struct Waiting {  // `wait` for a notification
        std::string id, server, method;
        core::Loop::TimerId timer = 0;
    };

    void interrupt();
    void take_lines();
    void take_line(std::string_view line);
    // `line` is the request as it was written.
    void start(const std::string& id, const boost::json::object& request, std::string_view line);
    void call_tool(const std::string& id, const boost::json::object& request,
                   std::string_view line);
    void ask_server(const std::string& id, const std::string& method,
                    const boost::json::object& request, std::string_view line);
    void list(const std::string& id, const std::string& op, const boost::json::object& request);
    enum class Wanted { Tools, Rest };
    boost::json::array unready(Wanted wanted);
    void list_tools(const std::string& id, const boost::json::object& request);
    void cancel(const std::string& id, const boost::json::object& request, std::string_view line);
    bool lists(const std::string& id, std::uint64_t serial) const;  // that one, still
    void wait_for(const std::string& id, const boost::json::object& request);
    void show_status(const std::string& id);
    void on_notification(const std::string& server, const std::string& method,
                         std::string_view params);

    connection::ReplyHandler relay(const std::string& id);
    connection::ProgressHandler tell_progress(const std::string& id);
    void succeed(const std::string& id, std::string_view raw_result, bool tool_error = false);
    void fail(const std::string& id, const Error& error);
    // Of the line that is being taken: it cannot be carried out as it stands.
    void refuse(const std::string& id, const std::string& why);
    Error wrong_line(const std::string& why) const;
    void refuse_line(const std::string& id, const Error& error);
    void fail_rpc(const std::string& id, std::string_view raw_error);
    void finished(const std::string& id);
    void advance();  // what became possible: more lines, the barrier, the end

    Session& session_;
    BatchInput input_;
    BatchOutput output_;
    bool done_ = false, tool_failed_ = false;
    std::map<std::string, Running> running_;  // by raw id
    std::uint64_t last_list_ = 0;
    std::string barrier_;  // raw id of a barrier that waits; empty: none
    std::vector<Waiting> waiting_;
    UnseenNotifications unseen_;
};

}  // namespace patchbay::app
