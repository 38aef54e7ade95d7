// What the commands of a running host's own version ask of it, as the person, besides what BATCH.md has for everybody:
// lines whose `op` begins with `host/`. They say in whole what a verb would find in a host of its own, so that it can
// show the same; another version has others.
//
//   host/connect    servers                              {} when each is ready or has failed
//   host/unknown    servers                              ids of those whose tools are not known
//   host/ask        servers, anew                        {} when each has listed its tools or has failed
//   host/statuses                                        status_text of each
//   host/tools      servers, cut_short                   tools_text, as far as they are known by now
//   host/find       name, timeout_ms                     tool_text of one
//   host/things     kind, server, which                  things_text, when all have answered
//   host/call       name, arguments, timeout_ms, spent_ms, progress     the server's answer
//   host/ping                                       {}, at once
//   host/rules      servers                              rules that match no tool of theirs
//   host/stop, host/start, host/restart, host/disable, host/enable    server        {}; none waits for the server itself
//   host/answers                                    decision_text of each answer that counts as long as a session
//   host/forget-answers  targets: [["server","key"]]        {"forgotten":2} of these
//   host/apply, host/rollback                       {"configuration":3,"plan":{...},"lines":[...]}
//   host/sandbox-state  state                            the one that is set; with `state`: {"servers":["who is told"]}
//   host/interrupt  guest, why                           {}; what that connection has in flight is cancelled
//
//   host/approve  guest, approval, level             {}; what that connection was asked is answered so, without `level` by no
//
// An interrupt and an approval come by another connection, as nothing is read behind a barrier.
//
// Borrows what it is given. Threads: [loop]. Errors: told as answers.
#pragma once

#include "app/batch_in_flight.hpp"
#include "app/batch_operations.hpp"
#include "app/reload.hpp"
#include "app/server_switch.hpp"
#include "core/lifetime.hpp"
#include "service/servers.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace patchbay::app {

class GuestOperations final : public MoreOperations {
public:
    // What is turned for all who come.
    class Control {
    public:
        virtual ServerSwitch& server_switch() = 0;
        virtual Reload& reload() = 0;
        virtual std::uint64_t configuration_number() const = 0;
        virtual connection::Callers& callers() = 0;  // all who ask
        // What the connection of that number has asked is cancelled; there need be none.
        virtual void interrupt(std::size_t guest, const std::string& why) = 0;
        // What it has been asked is answered so.
        virtual void decide(std::size_t guest, std::int64_t number, connection::Approval) = 0;

    protected:
        ~Control() = default;
    };

    // `reference`: by which the caller knows what this guest asks.
    GuestOperations(const service::Servers& servers, connection::Caller& caller, Control& control,
                    connection::Reference reference)
        : servers_(servers), caller_(caller), control_(control), reference_(reference) {}

    bool start(const BatchLine& line, BatchInFlight& in_flight) override;

private:
    void connect(const BatchLine& line, BatchInFlight& in_flight);
    void check(std::vector<std::string> servers, std::function<void()> checked);
    void ask(const BatchLine& line, BatchInFlight& in_flight);
    void find(const BatchLine& line, BatchInFlight& in_flight);
    void call(const BatchLine& line, BatchInFlight& in_flight);
    void list_things(const BatchLine& line, BatchInFlight& in_flight);
    void turn(const BatchLine& line, BatchInFlight& in_flight);
    void move(const BatchLine& line, BatchInFlight& in_flight);
    void tell_move(const Result<registry::Plan>& plan, const std::string& id,
                   BatchInFlight& in_flight) const;
    void set_sandbox_state(const BatchLine& line, BatchInFlight& in_flight);
    void decide(const BatchLine& line);
    Result<void> start_server(const std::string& server);
    Result<void> restart(const std::string& server);
    std::string statuses() const;
    std::string unknown(const BatchLine& line) const;
    std::string tools(const BatchLine& line) const;
    std::string rules(const BatchLine& line) const;
    std::string answers() const;
    std::string forget_answers(const BatchLine& line) const;

    const service::Servers& servers_;
    connection::Caller& caller_;
    Control& control_;
    const connection::Reference reference_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
