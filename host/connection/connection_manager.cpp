#include "connection/connection_manager.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace patchbay::connection {

struct ConnectionManager::Impl {
    explicit Impl(const Context& shared)
        : context(shared),
          local(shared.loop, shared.terms.limits.local_starts),
          remote(shared.loop, shared.terms.limits.remote_starts) {
        context.local_starts = &local;
        context.remote_starts = &remote;
    }

    Context context;
    StartQueue local, remote;  // apart: a remote server that hangs never holds a local one back
    std::vector<registry::ServerSpec> specs;
    std::map<std::string, std::unique_ptr<Connection>, std::less<>> connections;
    std::vector<std::unique_ptr<Connection>> leaving;  // closing, out of sight
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);

    // Out of sight at once, so that a new definition can have the name while old calls go on.
    void retire(const std::string& id) {
        const auto found = connections.find(id);
        if (found == connections.end()) return;
        leaving.push_back(std::move(found->second));
        connections.erase(found);
        auto* gone = leaving.back().get();
        gone->close_when_idle([this, watch = alive, gone] {
            if (!*watch) return;
            leaving.erase(std::remove_if(leaving.begin(), leaving.end(),
                                         [&](const auto& each) { return each.get() == gone; }),
                          leaving.end());
        });
    }
};

ConnectionManager::ConnectionManager(const Context& context)
    : impl_(std::make_unique<Impl>(context)) {}

ConnectionManager::~ConnectionManager() {
    *impl_->alive = false;
}

void ConnectionManager::apply(const std::vector<registry::ServerSpec>& wanted) {
    const auto change = registry::difference(impl_->specs, wanted);
    std::vector<std::string> reopen;
    for (const auto& id : change.changed) {
        const auto state = impl_->connections.at(id)->state();
        if (state != State::Idle && state != State::Stopped) reopen.push_back(id);
        impl_->retire(id);
    }
    for (const auto& id : change.gone) impl_->retire(id);
    // In this same turn: a call must not find a tool by a definition that does not hold any more.
    if (auto* catalogue = impl_->context.catalogue) {
        for (const auto& id : change.gone) catalogue->forget(id);
        for (const auto& spec : change.added) catalogue->redefine(spec.id(), spec.definition_key);
    }
    for (const auto& spec : wanted) {
        auto& connection = impl_->connections[spec.id()];
        if (connection)
            connection->amend(spec);
        else
            connection = std::make_unique<Connection>(impl_->context, spec);
    }
    impl_->specs = wanted;
    if (!reopen.empty()) connect(std::move(reopen), [] {});
}

void ConnectionManager::connect(std::vector<std::string> servers, std::function<void()> settled) {
    if (servers.empty()) servers = ids();
    if (servers.empty()) return impl_->context.loop.defer(std::move(settled));
    const auto one_less = [missing = std::make_shared<std::size_t>(servers.size()),
                           settled = std::move(settled)] {
        if (--*missing == 0) settled();
    };
    for (const auto& id : servers) {
        const auto found = impl_->connections.find(id);
        if (found == impl_->connections.end())
            impl_->context.loop.defer(one_less);
        else
            found->second->connect(one_less);
    }
}

Result<std::reference_wrapper<Connection>> ConnectionManager::find(std::string_view server) {
    const auto found = impl_->connections.find(server);
    if (found != impl_->connections.end()) return std::ref(*found->second);
    std::string message = "no enabled server \"" + core::printable(server, 64) + "\"" +
                          core::did_you_mean(server, ids());
    if (impl_->connections.empty()) message += "; no MCP server is configured and enabled";
    return Error{ErrorCode::NotFound, std::move(message)};
}

core::Loop& ConnectionManager::loop() const {
    return impl_->context.loop;
}
const core::Limits& ConnectionManager::limits() const {
    return impl_->context.terms.limits;
}

std::vector<std::string> ConnectionManager::ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, connection] : impl_->connections) ids.push_back(id);
    return ids;
}

std::vector<Status> ConnectionManager::statuses() const {
    std::vector<Status> statuses;
    for (const auto& [id, connection] : impl_->connections)
        statuses.push_back(connection->status());
    return statuses;
}

void ConnectionManager::close_late() {
    for (auto& [id, connection] : impl_->connections)
        if (connection->late()) connection->close([] {});
}

void ConnectionManager::close(std::function<void()> closed) {
    // One for ourselves: also with nothing to close, `closed` comes, and not from inside this call.
    auto missing = std::make_shared<std::size_t>(1);
    const auto one_less = [missing, closed = std::move(closed)] {
        if (--*missing == 0) closed();
    };
    for (auto& [id, connection] : impl_->connections) {
        ++*missing;
        connection->close(one_less);
    }
    for (auto& connection : impl_->leaving) {
        ++*missing;
        connection->close(one_less);
    }
    impl_->context.loop.defer(one_less);
}

}  // namespace patchbay::connection
