#include "app/server_switch.hpp"

#include <utility>

namespace patchbay::app {

ServerSwitch::ServerSwitch(Host& host) : host_(host), said_(host.snapshot()) {}

Result<void> ServerSwitch::stop(const std::string& server) {
    if (disabled_.contains(server)) return {};
    return turn_off(stopped_, server);
}

Result<void> ServerSwitch::disable(const std::string& server) {
    if (stopped_.erase(server) == 0) return turn_off(disabled_, server);
    disabled_.insert(server);  // it is off already, and says another word about it
    const auto applied = apply("turn");
    return applied ? Result<void>() : Result<void>(applied.error());
}

Result<void> ServerSwitch::turn_off(std::set<std::string>& off, const std::string& server) {
    if (off.contains(server)) return {};
    if (server.empty() || !host_.servers().has(server))
        return host_.servers().no_such_server(server);
    off.insert(server);
    const auto applied = apply("turn");
    if (!applied) off.erase(server);
    return applied ? Result<void>() : Result<void>(applied.error());
}

// Of a disabled one servers.no_such_server() says how it is enabled.
Result<void> ServerSwitch::start(const std::string& server) {
    if (stopped_.erase(server) > 0)
        if (const auto applied = apply("turn"); !applied) return applied.error();
    if (server.empty() || !host_.servers().has(server))
        return host_.servers().no_such_server(server);
    return {};
}

Result<void> ServerSwitch::enable(const std::string& server) {
    if (disabled_.erase(server) > 0)
        if (const auto applied = apply("turn"); !applied) return applied.error();
    return start(server);
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
        const bool disabled = disabled_.contains(server.id);
        if (!disabled && !stopped_.contains(server.id)) continue;
        server.enabled = false;
        server.rules["enabled"] = {config::Scope::Session,
                                   disabled ? "`patchbay mcp disable`" : "`patchbay mcp stop`"};
        server.turn_on = disabled ? "`patchbay mcp enable " + server.id + "` enables it"
                                  : "`patchbay mcp start " + server.id + "` starts it";
    }
    return host_.apply(registry::snapshot_of(std::move(config)), cause);
}

}  // namespace patchbay::app
