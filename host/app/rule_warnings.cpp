#include "app/rule_warnings.hpp"

#include <algorithm>

namespace patchbay::app {

std::vector<config::Diagnostic> rule_warnings(const service::Servers& servers,
                                              const connection::Caller& caller) {
    std::vector<std::string> come_to;
    for (const auto& id : servers.connections().ids())
        if (servers.connections().held(id, caller.number())) come_to.push_back(id);
    return rule_warnings(servers, come_to);
}

std::vector<config::Diagnostic> rule_warnings(const service::Servers& servers,
                                              const std::vector<std::string>& ids) {
    auto known = service::known_tools(servers.connections(), servers.router().catalogue());
    std::erase_if(known, [&](const auto& each) {
        return std::find(ids.begin(), ids.end(), each.first) == ids.end();
    });
    return policy::unmatched_rules(servers.config(), known, policy::OfAgents::No);
}

}  // namespace patchbay::app
