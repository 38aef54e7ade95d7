#include "app/server_switch.hpp"

#include <utility>

namespace patchbay::app {

ServerSwitch::ServerSwitch(Host& host) : host_(host), said_(host.snapshot()) {}

Result<void> ServerSwitch::stop(const std::string& server) {
    if (stopped_.contains(server)) return {};
    if (server.empty() || !host_.servers().has(server))
        return host_.servers().no_such_server(server);
    stopped_.insert(server);
    const auto applied = apply("turn");
    if (!applied) stopped_.erase(server);
    return applied ? Result<void>() : Result<void>(applied.error());
}

Result<void> ServerSwitch::start(const std::string& server) {
    if (stopped_.erase(server) > 0)
        if (const auto applied = apply("turn"); !applied) return applied.error();
    if (server.empty() || !host_.servers().has(server))
        return host_.servers().no_such_server(server);
    return {};
}

Result<registry::Plan> ServerSwitch::move_to(std::shared_ptr<const registry::Snapshot> said,
                                             std::string_view cause) {
    const auto before = std::exchange(said_, std::move(said));
    auto applied = apply(cause);
    if (!applied) said_ = before;
    return applied;
}

Result<registry::Plan> ServerSwitch::apply(std::string_view cause) {
    auto config = said_->config;
    for (auto& server : config.servers) {
        if (!stopped_.contains(server.id)) continue;
        server.enabled = false;
        server.rules["enabled"] = {config::Scope::Session, "`patchbay mcp stop`"};
        server.turn_on = "`patchbay mcp start " + server.id + "` starts it";
    }
    return host_.apply(registry::snapshot_of(std::move(config)), cause);
}

}  // namespace patchbay::app
