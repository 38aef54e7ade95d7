// Everything that asks: who it is, and how it is reached back. A Caller travels with what it asks,
// Router -> Connection -> pending request, so that what a server says meanwhile comes to the caller
// that it belongs to and to no other.
//
// Owns:    Caller: who it is. Callers: nothing; it knows who is there.
// Threads: [loop].
// Lifetime: a caller may go at any time. What it has asked is then cancelled, and the handlers are
//          dropped uncalled: they are its own, and mostly refer to what goes with it. Its
//          subscriptions and its log level are given back.
// Source:  decisions/0020-whose-a-servers-message-is.md.
#pragma once

#include "connection/approval.hpp"
#include "connection/question.hpp"
#include "core/principal.hpp"
#include "core/result.hpp"
#include "protocol/versions.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::connection {

class Callers;

using CallerNumber = std::uint64_t;  // of one Callers; never 0, never reused

// What of all that is configured is there for a caller; the rest is as if nobody had configured it.
//
// Threads: [value].
class Sight {
public:
    virtual ~Sight() = default;
    virtual bool holds(std::string_view server) const = 0;  // anything of it
    // That tool. By the bare name mcp__ID__: what that server has besides tools.
    virtual bool holds(std::string_view server, std::string_view public_name) const = 0;
    // Also of a request that is not of a tool.
    bool holds_others_of(const std::string& server) const {
        return holds(server, "mcp__" + server + "__");
    }
};

// What a client answers a server: a JSON object, as text, so that what another program wrote reaches the
// server as it is.
struct Given {
    Given(const boost::json::object& object) : text(boost::json::serialize(object)) {}
    explicit Given(std::string raw) : text(std::move(raw)) {}

    std::string text;
};

class Caller {
public:
    // Each is called once, from inside the call that was given it or later; not at all when the
    // caller has gone.
    using Answer = std::function<void(Result<Given>)>;
    using Decide = std::function<void(Approval)>;

    // `sight` null: all there is.
    Caller(Callers& among, core::Principal principal, std::shared_ptr<const Sight> sight = nullptr);
    virtual ~Caller();  // leaves; none of its functions is called any more
    Caller(const Caller&) = delete;

    const core::Principal& principal() const { return principal_; }
    CallerNumber number() const { return number_; }
    const std::shared_ptr<const Sight>& sight() const { return sight_; }
    // In which it would rather have servers spoken to that speak both: decision 29.
    protocol::Era era() const { return era_; }
    // What was approved of what it asks for as long as it is there.
    SessionApprovals& session_approvals() { return session_approvals_; }
    const SessionApprovals& session_approvals() const { return session_approvals_; }
    // The capabilities that servers of its own are told of as they are greeted; null: those that [client] stands for.
    virtual const boost::json::object* declares() const { return nullptr; }

    // A log message that its own level admits, a change that it subscribed to, a list that changed,
    // or whatever else came for an exchange of its own. `params` is raw, empty when absent, and good
    // within the call. Progress goes to Request::on_progress. `about`: the request of its own that
    // the server says it is about.
    virtual void notify(const std::string& server, const std::string& method,
                        std::string_view params, Reference about) = 0;
    // What a server asks in the middle of a request: roots, sampling, elicitation. An Error becomes
    // a JSON-RPC error (legacy) or ends the request (modern). `params` are to be looked at, and are
    // passed on as `about` has them.
    virtual Question answer(const std::string& server, const std::string& method,
                            const boost::json::object& params, Answer answer,
                            const About& about) = 0;
    // Its own request needs approval. Nobody is there to give it, unless a caller knows better.
    virtual Question approve(const Approvable& wanted, Decide decide);

protected:
    // Counts for what it leases from then on.
    void prefer(protocol::Era era) { era_ = era; }
    // Of what it asks from then on.
    void see(std::shared_ptr<const Sight> sight) { sight_ = std::move(sight); }

private:
    friend class Callers;
    Callers* among_;  // null: those have gone before
    core::Principal principal_;
    std::shared_ptr<const Sight> sight_;
    CallerNumber number_;
    protocol::Era era_ = protocol::Era::Modern;
    SessionApprovals session_approvals_;
};

// Hears of callers that go, before they are gone.
class CallersWatcher {
public:
    virtual void on_leaving(Caller& caller) = 0;

protected:
    ~CallersWatcher() = default;
};

// The callers that are there: those of one host.
class Callers {
public:
    Callers() = default;
    ~Callers();
    Callers(const Callers&) = delete;

    Caller* find(CallerNumber number) const;  // null: it has gone
    // The only one; null: there is none, or there are several.
    Caller* only() const { return there_.size() == 1 ? there_.begin()->second : nullptr; }
    std::vector<CallerNumber> numbers() const;  // ascending

    void watch(CallersWatcher& watcher) { watchers_.push_back(&watcher); }
    // For who asks of the other watchers: what it waits for there is dropped before they end it.
    void watch_first(CallersWatcher& watcher) { watchers_.insert(watchers_.begin(), &watcher); }
    void unwatch(CallersWatcher& watcher);

private:
    friend class Caller;
    CallerNumber join(Caller& caller);
    void leave(Caller& caller);

    std::map<CallerNumber, Caller*> there_;
    std::vector<CallersWatcher*> watchers_;
    CallerNumber last_ = 0;
};

}  // namespace patchbay::connection
