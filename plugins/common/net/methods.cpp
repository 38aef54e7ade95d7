#include "net/methods.hpp"

#include <algorithm>
#include <iterator>

namespace patchbay::net {

bool is_repeatable(std::string_view method) {
    static constexpr std::string_view kRepeatable[] = {"",
                                                       "initialize",
                                                       "server/discover",
                                                       "ping",
                                                       "tools/list",
                                                       "resources/list",
                                                       "resources/templates/list",
                                                       "resources/read",
                                                       "resources/subscribe",
                                                       "resources/unsubscribe",
                                                       "subscriptions/listen",
                                                       "prompts/list",
                                                       "prompts/get",
                                                       "completion/complete",
                                                       "logging/setLevel",
                                                       "tasks/get",
                                                       "tasks/list",
                                                       "tasks/result",
                                                       "notifications/initialized",
                                                       "notifications/cancelled",
                                                       "notifications/progress",
                                                       "notifications/roots/list_changed"};
    return std::find(std::begin(kRepeatable), std::end(kRepeatable), method) !=
           std::end(kRepeatable);
}

}  // namespace patchbay::net
