#include "router/router.hpp"

#include "core/text.hpp"
#include "protocol/envelope.hpp"
#include "protocol/qualified_name.hpp"
#include "protocol/raw_json.hpp"
#include "router/approvals.hpp"
#include "router/argument_checks.hpp"
#include "router/call_params.hpp"
#include "router/definitions.hpp"
#include "router/flights.hpp"
#include "router/lists.hpp"
#include "router/methods.hpp"
#include "router/odd_members.hpp"
#include "router/pin_guard.hpp"
#include "router/request_router.hpp"
#include "router/server_rules.hpp"
#include "router/tool_finder.hpp"

#include <algorithm>

namespace patchbay::router {
using connection::Approvable;
using connection::Caller;
using connection::Connection;
using connection::ReplyHandler;
using connection::State;

struct Router::Impl final : connection::CallersWatcher, connection::ResendJudge {
    using Entry = ToolIndex::Entry;

    Impl(connection::Callers& all, connection::ConnectionPool& leases, const policy::Policy& judge,
         const catalogue::Catalogue& listed, core::Observer* observer,
         connection::Decisions* decisions, pins::Pins* pins)
        : catalogue(listed),
          callers(all),
          pool(leases),
          policy(judge),
          rules(judge),
          finder(all, leases, judge, listed, pins),
          guard(pins, judge, finder, leases.loop()),
          definitions(leases, finder),
          flights(leases, observer),
          approvals(all, flights, definitions, decisions, alive),
          requests(all, leases, rules, definitions, flights, approvals, guard, alive) {
        callers.watch_first(*this);
        pool.judge_resends(this);
    }
    ~Impl() {
        pool.judge_resends(nullptr);
        callers.unwatch(*this);
    }
    Impl(const Impl&) = delete;

    void on_leaving(Caller& caller) override { flights.drop_all_of(caller.number()); }

    CallId begin(const Caller& caller, ServerRequest& request, ReplyHandler handler) {
        if (!request.begun) request.begun = pool.loop().now();
        const CallId id =
            flights.begin(caller, request.method, {}, request.server, std::move(handler));
        if (flights.are_recorded()) flights.note_subject(id, subject_of(request, depth()).name);
        return id;
    }

    // Null: it is just going, and all that it asked with it.
    Caller* caller_of(CallId id) const { return callers.find(flights.caller_of(id)); }

    // Where that caller can call the tool at once; null: nowhere.
    static Connection* ready_owner(const Entry* entry, const Caller& caller) {
        if (!entry) return nullptr;
        const auto owner = entry->connections->lease(caller);
        return owner && owner->get().state() == State::Ready ? &owner->get() : nullptr;
    }

    // The same where it takes no lease and starts nothing: it is judged in time as it is sent.
    static Connection* up(const Entry* entry, const Caller& caller) {
        auto* const held = entry ? entry->connections->held_by(caller.number()) : nullptr;
        return held && held->state() == State::Ready ? held : nullptr;
    }
    // `tool` empty: which it is that has this name is not known.
    std::optional<Error> certain_denial(const Caller& caller, const std::string& server,
                                        const std::string& name, const std::string& tool) const {
        auto reason = policy.certain_denial(caller.principal().trust, server, name, tool);
        if (!reason) return {};
        return Error{ErrorCode::Denied, std::move(*reason)};
    }

    // That of a name which nobody has listed yet is certain where one server alone may have it.
    void announce(CallId id, const Entry* known, const std::string& name) {
        if (known) return flights.announce(id, known->server, known->tool->name);
        if (flights.are_recorded()) flights.announce(id, only_owner(name), "");
    }
    // Empty: several may have it, or none.
    std::string only_owner(const std::string& name) const {
        const auto servers = protocol::servers_for(name, pool.ids());
        return servers.size() == 1 ? servers.front() : std::string();
    }

    // For who records it: the digest is worth making only then.
    void tell_judged(CallId id, const Entry& entry, const policy::Verdict& verdict,
                     std::string_view arguments) {
        if (flights.are_recorded())
            flights.judged(id, verdict, arguments, ToolIndex::digest_of(entry));
    }
    // Of a tool that is known, which rule it is that denies it for certain.
    void tell_denied(CallId id, const Entry* entry, const Caller& caller, const Call& call) {
        if (!entry || !flights.are_recorded()) return;
        const auto verdict = policy.judge(finder.question_about(*entry, caller.principal().trust));
        if (verdict.decision == policy::Decision::Deny)
            tell_judged(id, *entry, verdict, call.arguments);
    }

    std::optional<Error> wrong_arguments(const Entry& entry, const Connection& owner,
                                         const Call& call) {
        if (!owner.spec().config.check_arguments) return {};
        return checks.fault(entry, call.arguments);
    }

    // Time has passed: what its caller is shown may be less than it was.
    void send_call(CallId id, const Entry& entry, Call& call) {
        auto* const caller = caller_of(id);
        if (!caller) return;
        if (auto hidden = finder.not_shown(*caller, entry.public_name))
            return flights.end_soon(id, std::move(*hidden));
        const auto owner = entry.connections->lease(*caller);
        if (!owner) return flights.end_soon(id, owner.error());
        send_call(id, *caller, entry, *owner, call);
    }

    // Judged here, by the rules that hold when it is sent.
    void send_call(CallId id, Caller& caller, const Entry& entry, Connection& owner, Call& call) {
        flights.identify(id, entry.public_name, entry.server, entry.tool->name);
        policy::Question question;
        const auto verdict = guard.judge(entry, caller.principal().trust, question);
        tell_judged(id, entry, verdict, call.arguments);
        if (verdict.decision == policy::Decision::Deny)
            return flights.end_soon(id, {ErrorCode::Denied, policy.reason(question, verdict)});
        // Before anybody is asked: nobody need approve what cannot be sent.
        if (auto wrong = wrong_arguments(entry, owner, call))
            return flights.end_soon(id, std::move(*wrong));
        if (verdict.decision == policy::Decision::Allow) {
            if (auto due = guard.due(caller, entry, Consent::ByRule); !due.empty())
                return note_use(id, entry, std::move(due), Consent::ByRule, call);
            return flights.send(id, caller, owner, request_of(entry.quoted_name, call));
        }
        Error denied{ErrorCode::Denied, policy.reason(question, verdict)};
        Approvable wanted{entry.server,
                          entry.tool->name,
                          entry.public_name,
                          call.arguments,
                          "tools/call",
                          call.reference,
                          definitions.of(entry.server, *entry.tool)};
        describe(wanted, verdict);
        approvals.await(
            id, caller, wanted, std::move(denied), std::move(call),
            [this, id, server = wanted.server, tool = wanted.tool](Caller& asker, Call& approved) {
                send_approved(id, asker, server, tool, approved);
            });
    }

    // Time has passed: what nobody approved of is not let through by it.
    void send_approved(CallId id, Caller& caller, const std::string& server,
                       const std::string& tool, Call& call) {
        const auto* entry = finder.index().find_raw(server, tool);
        if (!entry) return flights.end_soon(id, why_missing(caller, server, tool));
        if (auto due = guard.due(caller, *entry, Consent::InPerson); !due.empty())
            return note_use(id, *entry, std::move(due), Consent::InPerson, call);
        send_judged(id, caller, server, tool, Consent::InPerson, call);
    }

    // It goes on when what it uses for the first time is noted: nobody could tell later what that was.
    void note_use(CallId id, const Entry& entry, std::vector<pins::Name> due, Consent consent,
                  Call& call) {
        const auto server = entry.server, tool = entry.tool->name;
        if (call.timeout.count() > 0)
            flights.bound(id, left_of(call),
                          {ErrorCode::Timeout, "server \"" + server +
                                                   "\": its first use could not be noted within " +
                                                   core::duration(call.timeout)});
        const auto bytes = size_of(call);
        const auto kept = flights.keep(id, server, bytes, std::move(call));
        if (kept.expired()) return;
        guard.note(server, std::move(due), consent,
                   [this, watch = alive, id, kept, server, tool,
                    consent](const std::optional<Error>& why) {
                       const auto asked = kept.lock();
                       if (!*watch || !asked) return;
                       if (why) return flights.end_soon(id, *why);
                       if (auto* const asker = caller_of(id))
                           send_judged(id, *asker, server, tool, consent, *asked);
                   });
    }

    std::chrono::milliseconds left_of(const Call& call) const {
        const auto left = *call.begun + call.timeout - pool.loop().now();
        return std::chrono::duration_cast<std::chrono::milliseconds>(
            std::max(left, core::Clock::duration::zero()));
    }

    void send_judged(CallId id, Caller& caller, const std::string& server, const std::string& tool,
                     Consent consent, Call& call) {
        const auto* entry = finder.index().find_raw(server, tool);
        if (!entry) return flights.end_soon(id, why_missing(caller, server, tool));
        if (auto hidden = finder.not_shown(caller, entry->public_name))
            return flights.end_soon(id, std::move(*hidden));
        policy::Question question;
        const auto verdict = guard.judge(*entry, caller.principal().trust, question);
        tell_judged(id, *entry, verdict, call.arguments);
        const bool unasked =
            verdict.decision == policy::Decision::Ask && consent == Consent::ByRule;
        if (verdict.decision == policy::Decision::Deny || unasked)
            return flights.end_soon(id, {ErrorCode::Denied, policy.reason(question, verdict)});
        const auto owner = pool.lease(server, caller);
        if (!owner) return flights.end_soon(id, owner.error());
        // The tool may take something else by now.
        if (auto wrong = wrong_arguments(*entry, *owner, call))
            return flights.end_soon(id, std::move(*wrong));
        if (auto* receipt = flights.receipt_of(id)) {
            if (auto spent = receipt->redeem(definitions.of(server, *entry->tool), call.arguments,
                                             pool.loop().now()))
                return flights.end_soon(id, std::move(*spent));
        }
        flights.send(id, caller, *owner, request_of(entry->quoted_name, call));
    }

    // Another session may list other tools than the one that it was let through in.
    std::optional<Error> refuses(connection::CallerNumber number, const std::string& server,
                                 const connection::Request& request) override {
        const auto* caller = callers.find(number);
        if (!caller || request.number == 0) return {};
        if (request.method != "tools/call") return requests.refuses(*caller, server, request);
        const auto tool =
            protocol::text_of_raw(protocol::raw_member(request.params.members, "name"));
        const auto* entry = tool ? finder.index().find_raw(server, *tool) : nullptr;
        if (!entry) return {};  // its server says so itself
        policy::Question question;
        const auto verdict = guard.judge(*entry, caller->principal().trust, question);
        if (verdict.is_pinned()) return Error{ErrorCode::Denied, policy.reason(question, verdict)};
        const auto* receipt = flights.receipt_of(request.number);
        if (!receipt) return {};
        return receipt->cover_again(definitions.of(server, *entry->tool), pool.loop().now());
    }

    Error why_missing(const Caller& caller, const std::string& server, const std::string& tool) {
        return finder.why_missing(caller.number(), caller.sight().get(),
                                  protocol::public_name(server, tool), {server});
    }

    // A tools/call in the server's own words is a call like any other: the tool is found in the
    // server's list, judged, and what is sent says only what was judged.
    void call_raw(CallId id, Caller& caller, ServerRequest request) {
        auto read = read_raw_call(request, depth());
        if (!read) return flights.end_soon(id, read.error());
        const auto tool = std::move(read->tool);
        auto& call = read->call;
        const auto* known = finder.index().find_raw(request.server, tool);
        const auto name = finder.index().public_name(request.server, tool);
        flights.announce(id, request.server, tool);
        if (auto hidden = finder.not_shown(caller, name))
            return flights.end_soon(id, std::move(*hidden));
        if (!up(known, caller)) {
            if (auto denied = certain_denial(caller, request.server, name, tool)) {
                tell_denied(id, known, caller, call);
                return flights.end_soon(id, std::move(*denied));
            }
        }
        const auto leased = pool.lease(request.server, caller);
        if (!leased) return flights.end_soon(id, leased.error());
        auto& target = leased->get();
        if (known && target.state() == State::Ready)
            return send_call(id, caller, *known, target, call);
        flights.bound(id, *call.begun, call.timeout, {request.server});
        const auto bytes = size_of(call);
        const auto kept = flights.keep(id, request.server, bytes, std::move(call));
        if (kept.expired()) return;
        target.refresh_tools([this, watch = alive, id, kept, tool,
                              server = request.server](const Result<void>&) {
            const auto asked = kept.lock();
            if (!*watch || !asked) return;
            const auto* asker = caller_of(id);
            const auto* entry = finder.index().find_raw(server, tool);
            if (entry && asker && !finder.is_down(*entry, asker->number()))
                return send_call(id, *entry, *asked);
            if (asker)
                flights.end_soon(
                    id, finder.why_missing_at(asker->number(), asker->sight().get(), server, tool));
        });
    }

    // Shows no more than tools() does.
    ReplyHandler without_hidden(std::string server, const Caller& caller, ReplyHandler handler) {
        return [this, watch = alive, server = std::move(server), trust = caller.principal().trust,
                sight = caller.sight(),
                handler = std::move(handler)](Result<connection::Reply> reply) {
            if (!reply || !*watch) return handler(std::move(reply));
            if (auto owner = pool.find(server); !owner) return handler(owner.error());
            const auto shown = [&](const auto& tool) {
                const auto name = finder.index().public_name(server, tool);
                if (sight && !sight->holds(server, name)) return false;
                policy::Question question{trust, server, tool, name};
                question.listed = &finder.index();
                return policy.judge(question).listed();
            };
            const auto stubs = guard.stubs_of(server, reply->result, pool.limits());
            handler(with_tools_shown(std::move(*reply), server, depth(), shown,
                                     [&](const auto& tool) -> std::optional<boost::json::object> {
                                         const auto stub = stubs.find(tool);
                                         if (stub == stubs.end()) return {};
                                         return stub->second;
                                     }));
        };
    }

    std::size_t depth() const { return pool.limits().json_depth; }

    const catalogue::Catalogue& catalogue;
    connection::Callers& callers;
    connection::ConnectionPool& pool;
    const policy::Policy& policy;
    const ServerRules rules;
    ToolFinder finder;
    const PinGuard guard;
    ArgumentChecks checks{finder.index()};
    const Definitions definitions;
    Flights flights;
    const std::shared_ptr<bool> alive = std::make_shared<bool>(true);
    const Approvals approvals;
    const RequestRouter requests;
};

Router::Router(connection::Callers& callers, connection::ConnectionPool& pool,
               const policy::Policy& policy, const catalogue::Catalogue& catalogue,
               core::Observer* observer, connection::Decisions* decisions, pins::Pins* pins)
    : impl_(std::make_unique<Impl>(callers, pool, policy, catalogue, observer, decisions, pins)) {}

Router::~Router() {
    *impl_->alive = false;
    impl_->flights.end_all({ErrorCode::Unavailable, "the host is closing"});
}

CallId Router::call(Caller& caller, Call call, ReplyHandler handler) {
    if (!call.begun) call.begun = impl_->pool.loop().now();
    const CallId id = impl_->flights.begin(caller, "tools/call", call.name, {}, std::move(handler));
    if (auto odd = odd_member(call)) {
        impl_->flights.end_soon(id, std::move(*odd));
        return id;
    }
    if (auto hidden = impl_->finder.not_shown(caller, call.name)) {
        impl_->flights.end_soon(id, std::move(*hidden));
        return id;
    }
    const auto* known = impl_->finder.index().find(call.name);
    if (known) impl_->flights.identify(id, known->public_name, known->server, known->tool->name);
    impl_->announce(id, known, call.name);
    if (auto* owner = Impl::up(known, caller)) {
        impl_->send_call(id, caller, *known, *owner, call);
        return id;
    }
    auto denied = known ? impl_->certain_denial(caller, known->server, call.name, known->tool->name)
                        : certain_denial(caller, call.name);
    if (denied) {
        if (const auto one = impl_->only_owner(call.name); !known && !one.empty())
            impl_->flights.identify(id, call.name, one, {});
        impl_->tell_denied(id, known, caller, call);
        impl_->flights.end_soon(id, std::move(*denied));
        return id;
    }
    if (auto* owner = Impl::ready_owner(known, caller)) {
        impl_->send_call(id, caller, *known, *owner, call);
        return id;
    }
    const std::string name = call.name;  // `call` moves on below
    const auto servers = protocol::servers_for(name, impl_->pool.ids());
    impl_->flights.bound(id, *call.begun, call.timeout, servers);
    const auto bytes = size_of(call);
    const auto kept =
        impl_->flights.keep(id, servers.empty() ? "" : servers.front(), bytes, std::move(call));
    if (kept.expired()) return id;
    impl_->finder.locate(caller, name, [this, watch = impl_->alive, id, kept](auto entry) {
        const auto asked = kept.lock();
        if (!*watch || !asked) return;
        if (!entry) return impl_->flights.end_soon(id, entry.error());
        impl_->send_call(id, **entry, *asked);
    });
    return id;
}

CallId Router::request(Caller& caller, ServerRequest request, ReplyHandler handler) {
    auto& flights = impl_->flights;
    if (request.method == "tools/list")
        handler = impl_->without_hidden(request.server, caller, std::move(handler));
    const CallId id = impl_->begin(caller, request, std::move(handler));
    auto wrong = wrong_method(request.method);
    if (!wrong) wrong = odd_member(request);
    if (wrong) {
        flights.end_soon(id, std::move(*wrong));
        return id;
    }
    if (auto hidden = not_shown(caller, request.server, request.method, request.of_a_task)) {
        flights.end_soon(id, std::move(*hidden));
        return id;
    }
    if (auto found = impl_->pool.find(request.server); !found) {
        flights.end_soon(id, found.error());
        return id;
    }
    if (request.method == "tools/call") {
        impl_->call_raw(id, caller, std::move(request));
        return id;
    }
    impl_->requests.send(id, caller, request);
    return id;
}

CallId Router::permit(Caller& caller, ServerRequest request, ReplyHandler handler) {
    auto& flights = impl_->flights;
    const CallId id = impl_->begin(caller, request, std::move(handler));
    auto wrong = wrong_method(request.method);
    if (!wrong) wrong = odd_member(request);
    if (wrong)
        flights.end_soon(id, std::move(*wrong));
    else if (auto hidden = not_shown(caller, request.server, request.method))
        flights.end_soon(id, std::move(*hidden));
    else if (auto found = impl_->pool.find(request.server); !found)
        flights.end_soon(id, found.error());
    else
        impl_->requests.permit(id, caller, request);
    return id;
}

void Router::cancel(CallId id, const std::string& reason) {
    impl_->flights.cancel(id, reason);
}

std::shared_ptr<void> Router::list_all(Caller& caller, ServerRequest asked,
                                       std::function<void(Result<ListedItems>)> listed) {
    return read_all_pages(*this, caller, impl_->pool.limits(), std::move(asked), std::move(listed));
}

const catalogue::Catalogue& Router::catalogue() const {
    return impl_->catalogue;
}

std::vector<ListedTool> Router::tools(const Caller& caller) {
    return impl_->finder.listed(caller.principal().trust, caller.sight().get());
}

const protocol::Tool* Router::known_tool(const Caller& caller, const std::string& public_name) {
    return impl_->finder.known(public_name, caller);
}

void Router::watch(pins::Watcher& watcher) {
    impl_->guard.watch(watcher);
}

void Router::unwatch(pins::Watcher& watcher) {
    impl_->guard.unwatch(watcher);
}

std::vector<Departed> Router::departed(const std::string& server) const {
    return impl_->guard.departed(server);
}

std::optional<Departed> Router::departed(const std::string& server, const pins::Name& name) const {
    return impl_->guard.departed(server, name);
}

std::optional<Departed> Router::departed(const std::string& server, const pins::Name& name,
                                         std::string_view text) const {
    return impl_->guard.departed(server, name, text);
}

std::string Router::public_name(const std::string& server, const std::string& tool) const {
    return impl_->finder.index().public_name(server, tool);
}

std::size_t Router::in_flight() const {
    return impl_->flights.size();
}

std::map<std::string, std::size_t> Router::in_flight_by_server() const {
    return impl_->flights.at_servers();
}

std::map<std::string, std::size_t> Router::tool_counts() {
    std::map<std::string, std::size_t> counts;
    for (const auto& tool : impl_->finder.listed(core::Trust::NeedsApproval, nullptr))
        ++counts[tool.server];
    return counts;
}

void Router::find_tool(const Caller& caller, const std::string& public_name,
                       std::chrono::milliseconds timeout,
                       std::function<void(Result<ListedTool>)> found) {
    impl_->finder.find(caller, public_name, timeout, std::move(found));
}

Ruling Router::ruling(core::Trust trust, const connection::Sight* sight, const std::string& name) {
    auto ruling = impl_->finder.ruling(trust, sight, name);
    if (const auto* entry = impl_->finder.index().find(ruling.public_name))
        ruling.definition = impl_->definitions.of(entry->server, *entry->tool);
    return ruling;
}

Ruling Router::ruling(core::Trust trust, const std::string& server,
                      const std::string& method) const {
    auto judged = impl_->rules.judge(trust, server, method);
    Ruling made{server, prefix_of(server)};
    made.decision = judged.decision();
    made.level = judged.verdict.level;
    if (judged.verdict.rule) made.rule = *judged.verdict.rule;
    made.reason = std::move(judged.denied.message);
    made.definition = impl_->definitions.of(server);
    return made;
}

std::optional<Error> Router::certain_denial(const Caller& caller,
                                            const std::string& public_name) const {
    std::optional<Error> denied = impl_->finder.not_shown(caller, public_name);
    if (denied) return denied;
    for (const auto& id : protocol::servers_for(public_name, impl_->pool.ids())) {
        denied = impl_->certain_denial(caller, id, public_name, {});
        if (!denied) return {};
    }
    return denied;
}

bool Router::denies_all_of(core::Trust trust, const std::string& server) const {
    return impl_->rules.deny_all_of(trust, server);
}

std::optional<Error> Router::certain_denial(const Caller& caller, const std::string& server,
                                            const std::string& method) const {
    if (auto hidden = not_shown(caller, server, method)) return hidden;
    auto judged = impl_->rules.judge(caller.principal().trust, server, method);
    if (judged.decision() != policy::Decision::Deny) return {};
    return std::move(judged.denied);
}

}  // namespace patchbay::router
