#include "connection/connection_pool.hpp"

#include "connection/sandbox_updates.hpp"
#include "core/text.hpp"
#include "protocol/handshake.hpp"

#include <set>

namespace patchbay::connection {

ConnectionPool::ConnectionPool(const Context& context)
    : context_(context),
      local_(context.loop, context.terms.limits.local_starts),
      remote_(context.loop, context.terms.limits.remote_starts),
      departures_(context.loop) {
    context_.local_starts = &local_;
    context_.remote_starts = &remote_;
    context_.last_connection = &last_connection_;
    context_.callers.watch(*this);
}

ConnectionPool::~ConnectionPool() {
    context_.callers.unwatch(*this);
}

void ConnectionPool::apply(std::vector<registry::ServerSpec> wanted) {
    next_ = std::move(wanted);
    if (std::exchange(applying_, true)) return;
    while (next_) move_to(*std::exchange(next_, {}));
    applying_ = false;
}

void ConnectionPool::move_to(const std::vector<registry::ServerSpec>& wanted) {
    const auto change = registry::difference(specs_, wanted);
    specs_ = wanted;
    std::set<std::string> forwarded;
    for (const auto& spec : specs_)
        forwarded.insert(spec.config.forward_headers.begin(), spec.config.forward_headers.end());
    forwarded_headers_.assign(forwarded.begin(), forwarded.end());
    // In this same turn: a call must not find a tool by a definition that does not hold any more.
    if (auto* catalogue = context_.catalogue) {
        for (const auto& id : change.gone) catalogue->forget(id);
        for (const auto& spec : change.added) catalogue->redefine(spec.id(), spec.definition_key);
    }
    for (const auto& id : change.gone) {
        const auto gone = servers_.extract(id);
        gone.mapped()->retire_all();
    }
    const std::set<std::string_view> changed(change.changed.begin(), change.changed.end());
    for (const auto& spec : wanted) {
        auto& server = servers_[spec.id()];
        if (!server) {
            server = std::make_unique<ServerConnections>(context_, spec, departures_);
            if (closing_) server->refuse_more();
            server->begin();
        } else if (changed.contains(spec.id())) {
            server->redefine(spec);
        } else {
            server->amend(spec);
        }
    }
}

void ConnectionPool::connect(const Caller& caller, std::vector<std::string> servers,
                             std::function<void()> settled) {
    if (servers.empty()) servers = ids();
    if (servers.empty()) return context_.loop.defer(std::move(settled));
    const auto one_less = [missing = std::make_shared<std::size_t>(servers.size()),
                           settled = std::move(settled)] {
        if (--*missing == 0) settled();
    };
    // One that there is no lease for has settled: who asks it for something hears why.
    for (const auto& id : servers) {
        if (auto connection = lease(id, caller))
            connection->get().connect(one_less);
        else
            context_.loop.defer(one_less);
    }
}

Result<std::reference_wrapper<ServerConnections>> ConnectionPool::find(std::string_view server) {
    const auto found = servers_.find(server);
    if (found != servers_.end()) return std::ref(*found->second);
    std::string message = "no enabled server \"" + core::printable(server, 64) + "\"" +
                          core::did_you_mean(server, ids());
    if (servers_.empty()) message += "; no MCP server is configured and enabled";
    return Error{ErrorCode::NotFound, std::move(message)};
}

Result<std::reference_wrapper<Connection>> ConnectionPool::lease(std::string_view server,
                                                                 const Caller& caller) {
    auto found = find(server);
    if (!found) return found.error();
    return found->get().lease(caller);
}

const Connection* ConnectionPool::held(std::string_view server, CallerNumber caller) const {
    const auto found = servers_.find(server);
    return found == servers_.end() ? nullptr : found->second->held_by(caller);
}

// Whoever hears of what that ends may take servers away.
void ConnectionPool::on_leaving(Caller& caller) {
    const auto number = caller.number();
    std::vector<std::string> leased;
    for (const auto& [id, server] : servers_)
        if (server->held_by(number)) leased.push_back(id);
    for (const auto& id : leased)
        if (const auto found = servers_.find(id); found != servers_.end())
            found->second->release(number);
    for (auto* leaving : departures_.all()) leaving->release(number);
}

void ConnectionPool::offer(boost::json::object capabilities) {
    context_.terms.identity.capabilities = std::move(capabilities);
}

std::string ConnectionPool::declared() const {
    return protocol::declared_by(context_.terms.identity);
}

Result<std::vector<std::string>> ConnectionPool::set_sandbox_state(std::string_view state) {
    auto read = sandbox_state_in(state);
    if (!read) return read.error();
    context_.sandbox_state = std::move(*read);
    std::set<std::string> told;
    for (auto* connection : all())
        if (connection->tell_sandbox_state()) told.insert(connection->spec().id());
    if (!context_.sandbox_state) told.clear();
    return std::vector<std::string>(told.begin(), told.end());
}

std::string ConnectionPool::sandbox_state() const {
    return context_.sandbox_state ? context_.sandbox_state->text : "null";
}

core::Loop& ConnectionPool::loop() const {
    return context_.loop;
}
const core::Limits& ConnectionPool::limits() const {
    return context_.terms.limits;
}

std::vector<std::string> ConnectionPool::ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, server] : servers_) ids.push_back(id);
    return ids;
}

std::vector<Status> ConnectionPool::statuses() const {
    std::vector<Status> statuses;
    for (const auto& [id, server] : servers_) statuses.push_back(server->status());
    return statuses;
}

// Taken before they are walked: whoever hears of an end may take servers away.
std::vector<Connection*> ConnectionPool::all() const {
    auto connections = departures_.all();
    for (const auto& [id, server] : servers_) {
        const auto its = server->all();
        connections.insert(connections.end(), its.begin(), its.end());
    }
    return connections;
}

void ConnectionPool::close_late() {
    for (auto* connection : all())
        if (connection->late()) connection->close([] {});
}

void ConnectionPool::close(std::function<void()> closed) {
    // One for ourselves: also with nothing to close, `closed` comes, and not from inside this call.
    auto missing = std::make_shared<std::size_t>(1);
    const auto one_less = [missing, closed = std::move(closed)] {
        if (--*missing == 0) closed();
    };
    closing_ = true;
    for (const auto& [id, server] : servers_) server->refuse_more();
    for (auto* connection : all()) {
        ++*missing;
        connection->close(one_less);
    }
    context_.loop.defer(one_less);
}

}  // namespace patchbay::connection
