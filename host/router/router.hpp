// The one way in: every call, list, read and complete, from wherever it comes, goes through here,
// is judged by one policy and ends in one connection.
//
// Owns:    the index of public names. Borrows callers, pool, policy, catalogue, observer, decisions and pins, which must
//          outlive it. The rules are read when a call is sent, so other ones count from the next call on.
// Threads: [loop]. Handlers are called exactly once, never from inside the call itself; those of a
//          caller that goes are dropped uncalled, and what it has asked is cancelled.
//          What a caller is not shown (connection::Sight) is not there for it: neither listed nor named
//          in an error.
// Errors:  NotFound with the nearest names, Denied with the rule, Unavailable with the server's own
//          trouble; what a server answers, errors included, is a Reply.
#pragma once

#include "catalogue/catalogue.hpp"
#include "connection/caller.hpp"
#include "connection/connection_pool.hpp"
#include "core/observer.hpp"
#include "pins/pins.hpp"
#include "policy/policy.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::router {

struct Call {
    std::string name;       // mcp__server__tool
    std::string arguments;  // raw JSON object; empty: {}
    std::string meta;       // raw members of `_meta` from the caller; may be empty
    // For all of it, also what it waits for a connection; 0: the server's tool_timeout_sec, once
    // sent.
    std::chrono::milliseconds timeout{0};
    connection::ProgressHandler on_progress;
    std::optional<core::Clock::time_point> begun = {};  // of the time-out; unset: now
    std::string members;  // raw members of the params besides name, arguments and `_meta`
    connection::Reference reference = 0;
    std::string capabilities = {};  // as those of a connection::Request
    connection::ClientHeaders client_headers = {};
    std::string log_level = {};  // likewise
};

// Anything that can be asked of one server. tools/call with the server's own name of a tool is
// judged as that tool, and tools/list leaves out what is hidden. What becomes of a task is denied
// only where a rule denies the whole server.
struct ServerRequest {
    std::string server;  // id
    std::string method;  // resources/read, prompts/get, completion/complete, ...
    protocol::Params params;
    std::chrono::milliseconds timeout{0};  // as that of a Call
    connection::ProgressHandler on_progress = {};
    std::optional<core::Clock::time_point> begun = {};  // of the time-out; unset: now
    connection::Reference reference = 0;
    std::string capabilities = {};  // as those of a connection::Request
    connection::ClientHeaders client_headers = {};
    std::string log_level = {};  // likewise
    // It is about a task that a call of this caller's has begun: what was called was judged then.
    bool of_a_task = false;
};

struct ListedTool {
    std::string public_name;  // mcp__server__tool
    std::string server;
    const protocol::Tool*
        tool;  // good until the server lists its tools again; a stub where it is blocked
    config::Level level;
    // With what somebody approved; none: it is that, or nobody wants to know.
    std::optional<policy::PinMismatch::Kind> mismatch = {};
    bool blocked = false;  // for that
};

// Something that a server lists otherwise than somebody approved it.
struct Departed {
    pins::Name name;
    policy::PinMismatch mismatch;
    bool blocked = false;
};

// What the rules say of a call of some name, whether its server has such a tool or not.
struct Ruling {
    std::string server;       // whose it is or would be; empty: nobody's
    std::string public_name;  // also where it was asked for as its server calls it
    bool listed = false;      // its server has told of it, this host or an earlier one
    bool shown = true;        // to who asks
    policy::Decision decision = policy::Decision::Allow;
    config::Level level = config::Level::RequireApproval;
    std::optional<policy::Rule> rule = {};  // that decides; none: nobody wrote one
    std::string reason = {};                // of Deny and Ask, with what would allow it
    std::string definition = {};  // as that of a connection::Approvable; empty: it is not listed
};

using CallId = std::uint64_t;  // never 0

// The items of a list: as values to be looked at, and as the text that each came as, to be passed on.
struct ListedItems {
    boost::json::array values;
    std::vector<std::string> texts;  // as many
    protocol::Caching caching = {};  // of all its pages, from now on
};

class Router {
public:
    Router(connection::Callers& callers, connection::ConnectionPool& pool,
           const policy::Policy& policy, const catalogue::Catalogue& catalogue,
           core::Observer* observer = nullptr, connection::Decisions* decisions = nullptr,
           pins::Pins* pins = nullptr);
    ~Router();

    // Connects what it needs to first, and asks the caller where a rule wants its approval. What is
    // denied for certain connects nothing. The handler may still come after cancel(), with Cancelled.
    CallId call(connection::Caller& caller, Call call, connection::ReplyHandler handler);
    CallId request(connection::Caller& caller, ServerRequest request,
                   connection::ReplyHandler handler);
    // Whether something may be done with a server that is no request to it: judged, and put to the
    // caller, as one of that method. The reply is empty.
    CallId permit(connection::Caller& caller, ServerRequest request,
                  connection::ReplyHandler handler);
    void cancel(CallId id, const std::string& reason = "");
    // How much was asked and has not ended.
    std::size_t in_flight() const;
    std::map<std::string, std::size_t> in_flight_by_server() const;  // of those that have any

    // All pages of a list method ("resources/list", "prompts/list", ...) as one list, connected
    // first; each page is asked for as `asked` says, but for the cursor. Stops at a repeated cursor with a Protocol error, over core::Limits pages_per_list,
    // items_per_list or list_bytes with a Limit error. Whoever lets go of what is returned hears
    // nothing more, and the page on its way is cancelled.
    [[nodiscard]] std::shared_ptr<void> list_all(connection::Caller& caller, ServerRequest asked,
                                                 std::function<void(Result<ListedItems>)> listed);

    // What it knows tools by.
    const catalogue::Catalogue& catalogue() const;
    // What servers have listed, in stable order; what is hidden from that caller left out.
    std::vector<ListedTool> tools(const connection::Caller& caller);
    // One of these, by its public name; null: nobody has told of it by now.
    const protocol::Tool* known_tool(const connection::Caller& caller,
                                     const std::string& public_name);
    // How many those are of each server that has any; of nobody in particular.
    std::map<std::string, std::size_t> tool_counts();
    // By public name; connects the servers that may own it first, for as long as `timeout` (0: as
    // long as they take). NotFound offers the nearest.
    void find_tool(const connection::Caller& caller, const std::string& public_name,
                   std::chrono::milliseconds timeout,
                   std::function<void(Result<ListedTool>)> found);

    // What of that server is not as somebody approved it, as far as it is known, where anybody wants to know.
    std::vector<Departed> departed(const std::string& server) const;
    // The same of one thing, as its server listed it last; and of a text that it lists now.
    std::optional<Departed> departed(const std::string& server, const pins::Name& name) const;
    std::optional<Departed> departed(const std::string& server, const pins::Name& name,
                                     std::string_view text) const;
    // Told when what is asked of a server may stand otherwise to what somebody approved; nothing where nothing is pinned.
    void watch(pins::Watcher& watcher);
    void unwatch(pins::Watcher& watcher);
    // By that name a tool of its server's goes here.
    std::string public_name(const std::string& server, const std::string& tool) const;

    // As a call of that name would be judged now; nothing is brought up for it. `sight` null: all is shown.
    Ruling ruling(core::Trust trust, const connection::Sight* sight, const std::string& name);
    // The same of a request that calls no tool; its public name is the prefix of its server's tools.
    Ruling ruling(core::Trust trust, const std::string& server, const std::string& method) const;

    // Whether a rule forbids the server as a whole by now: then nothing of a task of it may be heard either.
    bool denies_all_of(core::Trust trust, const std::string& server) const;
    // Why a call of that name is forbidden whoever owns such a tool, where that is certain before
    // any server starts.
    std::optional<Error> certain_denial(const connection::Caller& caller,
                                        const std::string& public_name) const;
    // The same of a request of that method.
    std::optional<Error> certain_denial(const connection::Caller& caller, const std::string& server,
                                        const std::string& method) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::router
