#include "router/flights.hpp"

#include "core/text.hpp"

namespace patchbay::router {
using connection::Reply;
using connection::ReplyHandler;
using connection::State;

Error too_late(const connection::ConnectionPool& pool, connection::CallerNumber caller,
               const std::vector<std::string>& servers, std::chrono::milliseconds timeout) {
    const std::string limit = core::duration(timeout);
    for (const auto& id : servers) {
        const auto* held = pool.held(id, caller);
        if (!held || held->state() == State::Ready) continue;
        const auto starting = held->status().starting;
        return {ErrorCode::Timeout,
                "server \"" + id + "\" is still " + name_of(held->state()) + " after " + limit +
                    (starting ? ": " + connection::to_string(*starting) : std::string())};
    }
    return {ErrorCode::Timeout, "no answer within " + limit};
}

CallId Flights::begin(const connection::Caller& caller, std::string_view method,
                      std::string_view name, std::string_view server, ReplyHandler handler) {
    const CallId id = ++last_id_;
    auto& flight = flights_[id];
    flight.caller = caller.number();
    flight.handler = std::move(handler);
    flight.record = recorder_.begin(id, caller, method, name, server);
    return id;
}

void Flights::identify(CallId id, const std::string& public_name, const std::string& server,
                       const std::string& tool) {
    if (!recorder_.wanted()) return;
    const auto found = flights_.find(id);
    if (found == flights_.end() || !found->second.record) return;
    auto& record = *found->second.record;
    record.name = public_name;
    record.server = server;
    record.tool = tool;
}

// Behind begin(), which a call pays for and which has nothing to read.
void Flights::note_subject(CallId id, std::string about) {
    const auto found = flights_.find(id);
    if (found != flights_.end() && found->second.record)
        found->second.record->about = std::move(about);
}

void Flights::announce(CallId id, std::string_view server, std::string_view tool) {
    const auto found = flights_.find(id);
    if (found != flights_.end() && found->second.record)
        recorder_.announce(*found->second.record, server, tool);
}

void Flights::judged(CallId id, const policy::Verdict& verdict, std::string_view arguments,
                     std::string_view digest) {
    if (!recorder_.wanted()) return;
    const auto found = flights_.find(id);
    if (found == flights_.end() || !found->second.record) return;
    auto& record = *found->second.record;
    recorder_.judged(record, verdict, arguments);
    record.digest = digest;
}

// Where a record is required nothing goes out that cannot be recorded; what nobody records may go.
bool Flights::tell_sent(CallId id) {
    const auto found = flights_.find(id);
    if (found == flights_.end() || !found->second.record) return true;
    const auto may = recorder_.sent(*found->second.record);
    if (!may) end_soon(id, may.error());
    return may.has_value();
}

void Flights::tell_approval(CallId id, std::string_view server, std::string_view name,
                            std::string_view step) {
    const auto found = flights_.find(id);
    if (found != flights_.end() && found->second.record)
        recorder_.approval(*found->second.record, server, name, step);
}

connection::CallerNumber Flights::caller_of(CallId id) const {
    const auto found = flights_.find(id);
    return found == flights_.end() ? 0 : found->second.caller;
}

// What waits for a server to start is not at it yet.
std::map<std::string, std::size_t> Flights::at_servers() const {
    std::map<std::string, std::size_t> counts;
    for (const auto& [id, flight] : flights_)
        if (flight.connection) ++counts[flight.connection->spec().id()];
    return counts;
}

void Flights::bound(CallId id, std::chrono::milliseconds most, Error error) {
    auto& flight = flights_.at(id);
    if (flight.timer) return;
    flight.timer = pool_.loop().after(most, [this, watch = alive_, id, error = std::move(error)] {
        if (!*watch) return;
        flights_.at(id).timer = 0;
        end(id, error);
    });
}

// A person is asked meanwhile, who takes the time that they need.
void Flights::unbound(CallId id) {
    const auto found = flights_.find(id);
    if (found != flights_.end()) stop_timer(found->second);
}

void Flights::approve(CallId id, const connection::Approvable& wanted, std::string arguments) {
    const auto found = flights_.find(id);
    if (found != flights_.end())
        found->second.receipt.emplace(wanted.public_name, wanted.definition, std::move(arguments),
                                      pool_.loop().now());
}

Receipt* Flights::receipt_of(CallId id) {
    const auto found = flights_.find(id);
    return found == flights_.end() || !found->second.receipt ? nullptr : &*found->second.receipt;
}

void Flights::bound(CallId id, core::Clock::time_point begun, std::chrono::milliseconds timeout,
                    std::vector<std::string> servers) {
    auto& flight = flights_.at(id);
    if (timeout.count() == 0 || flight.timer) return;
    flight.timer =
        pool_.loop().after(begun + timeout - pool_.loop().now(),
                           [this, watch = alive_, id, timeout, servers = std::move(servers)] {
                               if (!*watch) return;
                               auto& late = flights_.at(id);
                               late.timer = 0;
                               end(id, too_late(pool_, late.caller, servers, timeout));
                           });
}

// Counted a caller: one that floods a slow server must not take the room of the others.
bool Flights::has_room(CallId id, const std::string& server, std::size_t bytes) {
    const auto before = waiting_.find({caller_of(id), server});
    const auto load = before == waiting_.end() ? Load() : before->second;
    const auto& limits = pool_.limits();
    if (load.messages < limits.queue_messages && load.bytes + bytes <= limits.queue_bytes)
        return true;
    end_soon(id, {ErrorCode::Limit,
                  "server \"" + server + "\": " + std::to_string(load.messages) +
                      " requests with " + std::to_string(load.bytes) +
                      " bytes wait for it to start (limits queue_messages, queue_bytes); "
                      "try later"});
    return false;
}

void Flights::hold(CallId id, const std::string& server, std::size_t bytes,
                   std::shared_ptr<void> kept) {
    auto& flight = flights_.at(id);
    release(flight);  // what it waited for before
    auto& load = waiting_[{flight.caller, server}];
    ++load.messages;
    load.bytes += bytes;
    flight.kept = std::move(kept);
    flight.waits_for = server;
    flight.bytes = bytes;
}

void Flights::release(Flight& flight) {
    if (!flight.kept) return;
    flight.kept.reset();
    const auto waiting = waiting_.find({flight.caller, flight.waits_for});
    auto& load = waiting->second;
    load.bytes -= flight.bytes;
    if (--load.messages == 0) waiting_.erase(waiting);
}

void Flights::stop_timer(Flight& flight) {
    if (flight.timer) pool_.loop().cancel(std::exchange(flight.timer, 0));
}

void Flights::send(CallId id, connection::Caller& caller, connection::Connection& target,
                   connection::Request request) {
    const auto found = flights_.find(id);
    if (found == flights_.end()) return;
    auto& flight = found->second;
    if (!tell_sent(id)) return;
    flight.connection = &target;
    release(flight);  // it counts at the connection now
    // The connection goes on counting, and tells the server when it gives up.
    stop_timer(flight);
    if (flight.record)
        flight.record->bytes_to_server = request.params.members.size() + request.params.meta.size();
    request.number = id;
    flight.request = target.request(caller, std::move(request), end_with_reply(id));
}

ReplyHandler Flights::end_with_reply(CallId id) {
    return [this, watch = alive_, id](Result<Reply> reply) {
        if (*watch) end(id, std::move(reply));
    };
}

void Flights::end(CallId id, Result<Reply> outcome) {
    const auto found = flights_.find(id);
    if (found == flights_.end()) return;  // cancelled before it got a server
    stop_timer(found->second);
    release(found->second);
    // Off the books first: the handler may come back with another call.
    auto handler = std::move(found->second.handler);
    const auto record = std::move(found->second.record);
    flights_.erase(found);
    if (record) recorder_.end(*record, outcome);
    handler(std::move(outcome));
}

// Handlers are never called from inside the call that registered them.
void Flights::end_soon(CallId id, Error error) {
    pool_.loop().defer([this, watch = alive_, id, error = std::move(error)] {
        if (*watch) end(id, error);
    });
}

void Flights::cancel(CallId id, const std::string& reason) {
    const auto found = flights_.find(id);
    if (found == flights_.end()) return;
    if (found->second.connection)
        return found->second.connection->cancel(found->second.request, reason);
    end(id, Error{ErrorCode::Cancelled, "cancelled before it was sent"});
}

// What a handler holds may come back here as it goes.
void Flights::drop_all_of(connection::CallerNumber caller) {
    std::vector<CallId> ids;
    for (const auto& [id, flight] : flights_)
        if (flight.caller == caller) ids.push_back(id);
    for (const auto id : ids) {
        auto dropped = flights_.extract(id);
        if (dropped.empty()) continue;
        stop_timer(dropped.mapped());
        release(dropped.mapped());
        if (const auto& record = dropped.mapped().record) recorder_.drop(*record);
    }
}

void Flights::end_all(const Error& error) {
    *alive_ = false;
    // Those that are there now: a handler may come back with another call, or end its caller.
    std::vector<CallId> ids;
    for (const auto& [id, flight] : flights_) ids.push_back(id);
    for (const auto id : ids)
        if (auto ended = flights_.extract(id)) {
            if (const auto& record = ended.mapped().record) recorder_.end(*record, error);
            ended.mapped().handler(error);
        }
}

}  // namespace patchbay::router
