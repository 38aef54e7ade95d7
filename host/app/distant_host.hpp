// The host that runs, asked over its socket (guest_operations.hpp).
//
// Owns:    the connection. Borrows the servers of this process, whose configuration is the same.
// Threads: [loop]; statuses(), unknown(), tools() and rule_warnings() wait for the answer, kAnswer at most.
// Errors:  as AnyHost has them; what does not come in time is Unavailable, or nothing.
// Limits:  a host that says nothing for two kLook has gone; what has a time-out is waited for kGrace longer
//          than that, and what is cancelled for kGrace.
#pragma once

#include "app/any_host.hpp"
#include "app/host_approvals.hpp"
#include "app/host_line.hpp"
#include "app/policy_targets.hpp"
#include "app/status_text.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "service/servers.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace patchbay::app {

class DistantHost final : public AnyHost {
public:
    static constexpr std::chrono::seconds kAnswer{10}, kLook{5}, kGrace{2};

    // `approve`: asks the person who is here; empty: nobody is.
    DistantHost(const service::Servers& servers, std::unique_ptr<HostLine> line,
                HostApprovals::Ask approve = {});

    const Welcome& welcome() const { return line_->welcome(); }

    // `op`: host/stop, host/start, host/restart, host/disable or host/enable; waits as statuses() does.
    Result<void> turn(const std::string& op, const std::string& server);
    // `op`: host/apply or host/rollback; what it came to.
    Result<boost::json::value> move(const std::string& op) { return ask(op, ""); }

    // As JSON text. `state` empty: the one that is set; else who is told, as host/sandbox-state has it.
    Result<std::string> sandbox_state(const std::string& state = {});

    // Answers that count there as long as a session; how many of those about these are forgotten. Protocol: it has said
    // something else.
    Result<std::vector<service::Decision>> session_answers();
    Result<std::size_t> forget_session_answers(const std::vector<PolicyTarget>& targets);

    void connect(const std::vector<std::string>& servers, std::function<void()> settled) override;
    std::vector<connection::Status> statuses() override;
    std::vector<std::string> unknown(const std::vector<std::string>& servers) override;
    void ask_for_tools(const std::vector<std::string>& servers, service::Ask ask,
                       std::function<void()> settled) override;
    service::ToolList tools(const std::vector<std::string>& servers, service::Wait wait,
                            service::Ask ask) override;
    void find_tool(const std::string& name, std::chrono::milliseconds timeout,
                   std::function<void(Result<router::ListedTool>)> found) override;
    router::CallId call(router::Call call, connection::ReplyHandler handler) override;
    std::shared_ptr<AnyListing> list_things(service::Kind kind, const std::string& server,
                                            service::ThingListing::Servers which,
                                            service::ThingListing::Done done) override;
    router::CallId request(router::ServerRequest request,
                           connection::ReplyHandler handler) override;
    void cancel(router::CallId id, const std::string& why) override;
    std::vector<std::string> rule_warnings() override;

private:
    struct Pending {
        connection::ReplyHandler answered;
        connection::ProgressHandler on_progress;
        std::unique_ptr<core::Timer> limit = {};  // of this side
        bool may_be_done = false;                 // a server has it, or had
    };

    // `members`: raw, what the op takes.
    std::uint64_t send(const std::string& op, const std::string& members,
                       connection::ReplyHandler answered,
                       connection::ProgressHandler on_progress = {});
    Result<std::string> ask_for_text(const std::string& op, const std::string& members);
    Result<boost::json::value> ask(const std::string& op, const std::string& members);
    void take(std::string_view line);
    void tell_progress(std::string_view line, std::uint64_t id) const;
    // It is answered with `error` where the host has not by then.
    void limit(std::uint64_t id, std::chrono::milliseconds most, Error error);
    // As long as something is waited for: whether the host still says anything.
    void look_later();
    void end_all();
    Error gone(ErrorCode code = ErrorCode::Unavailable) const;
    Error gone_with_it() const;

    const service::Servers& servers_;
    core::Loop& loop_;
    std::unique_ptr<HostLine> line_;
    HostApprovals approvals_;
    std::map<std::uint64_t, Pending> pending_;
    std::uint64_t last_ = 0;
    std::set<std::string> asked_for_;  // servers
    ToolDefinitions found_, listed_;
    core::Timer look_;
    bool heard_ = false;  // since the last look
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
