#include "app/required_servers.hpp"

#include <memory>
#include <string>
#include <vector>

namespace patchbay::app {

bool connect_required(Session& session, const connection::Caller& caller) {
    auto& host = session.host();
    host.end_without_required();
    std::vector<std::string> required;
    for (const auto& server : host.config().servers)
        if (server.required && session.servers().has(server.id)) required.push_back(server.id);
    if (required.empty()) return true;
    const auto settled = std::make_shared<bool>(false);
    host.connections().connect(caller, required, [settled] { *settled = true; });
    session.wait([&] { return *settled || host.why_ended(); });
    return !host.why_ended() && !session.was_interrupted();
}

}  // namespace patchbay::app
