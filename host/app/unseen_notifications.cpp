#include "app/unseen_notifications.hpp"

namespace patchbay::app {

void UnseenNotifications::keep(const std::string& server, const std::string& method) {
    if (method.size() > kMethodBytes) return;
    auto& kinds = kept_[server];
    if (kinds.size() < kKinds || kinds.contains(method)) ++kinds[method];
}

bool UnseenNotifications::take(const std::string& server, const std::string& method) {
    for (auto& [name, kinds] : kept_) {
        const auto found = server.empty() || server == name ? kinds.find(method) : kinds.end();
        if (found == kinds.end()) continue;
        if (--found->second == 0) kinds.erase(found);
        return true;
    }
    return false;
}

}  // namespace patchbay::app
