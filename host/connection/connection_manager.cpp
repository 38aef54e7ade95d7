#include "connection/connection_manager.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <deque>

namespace patchbay::connection {

struct ConnectionManager::Impl {
    explicit Impl(const Context& shared) : context(shared) {}

    // Start-ups are rationed per kind, so that fifty servers do not all fork at once and a remote
    // one that hangs never holds a local one back.
    struct Lane {
        std::size_t running = 0;
        std::size_t most;
        std::deque<std::string> waiting;
    };

    void start_more(Lane& lane) {
        while (lane.running < lane.most && !lane.waiting.empty()) {
            const std::string id = std::move(lane.waiting.front());
            lane.waiting.pop_front();
            const auto found = connections.find(id);
            if (found == connections.end()) {
                settled(id);
                continue;
            }
            ++lane.running;
            found->second->connect([this, watch = alive, &lane, id] {
                if (!*watch) return;
                --lane.running;
                settled(id);
                start_more(lane);
            });
        }
    }

    void settled(const std::string& id) {
        for (auto& [server, handlers] : std::exchange(waiters, {})) {
            if (server == id) {
                for (auto& handler : handlers) context.loop.defer(std::move(handler));
            } else {
                waiters[server] = std::move(handlers);
            }
        }
    }

    Context context;
    std::vector<registry::ServerSpec> specs;
    std::map<std::string, std::unique_ptr<Connection>, std::less<>> connections;
    std::vector<std::unique_ptr<Connection>> leaving;  // closing, out of sight
    std::map<std::string, std::vector<std::function<void()>>> waiters;
    Lane local{0, core::kLocalConnectsAtOnce, {}}, remote{0, core::kRemoteConnectsAtOnce, {}};
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);

    void retire(const std::string& id) {
        const auto found = connections.find(id);
        if (found == connections.end()) return;
        leaving.push_back(std::move(found->second));
        connections.erase(found);
        auto* gone = leaving.back().get();
        gone->close([this, watch = alive, gone] {
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
    for (const auto& spec : change.added) {
        impl_->connections.emplace(spec.id(), std::make_unique<Connection>(impl_->context, spec));
    }
    impl_->specs = wanted;
    if (!reopen.empty()) connect(std::move(reopen), [] {});
}

void ConnectionManager::connect(std::vector<std::string> servers, std::function<void()> settled) {
    if (servers.empty()) servers = ids();
    auto missing = std::make_shared<std::size_t>(servers.size());
    if (servers.empty()) return impl_->context.loop.defer(std::move(settled));
    for (const auto& id : servers) {
        impl_->waiters[id].push_back([missing, settled] {
            if (--*missing == 0) settled();
        });
        const auto found = impl_->connections.find(id);
        const bool local = found == impl_->connections.end() || found->second->spec().local();
        (local ? impl_->local : impl_->remote).waiting.push_back(id);
    }
    impl_->start_more(impl_->local);
    impl_->start_more(impl_->remote);
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

void ConnectionManager::close(std::function<void()> closed) {
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
