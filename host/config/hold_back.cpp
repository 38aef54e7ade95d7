#include "config/hold_back.hpp"

#include "config/keys.hpp"
#include "config/levels.hpp"

#include <algorithm>

namespace patchbay::config {

int freedom_of_pins(std::string_view pins) {
    return pins == "block" ? 0 : pins.empty() ? 1 : pins == "warn" ? 2 : 3;
}

std::vector<std::string> hold_back(const Server& before, Server& after, bool naming_allows,
                                   std::set<std::string>& held) {
    std::vector<std::string> why;
    const auto refuse = [&](const char* what) {
        if (std::find(why.begin(), why.end(), what) == why.end()) why.emplace_back(what);
    };
    if (after.enabled && !before.enabled) {
        refuse("turn on a server");
        after.enabled = false;
        held.insert("enabled");
    }
    if (after.trust == "trusted" && before.trust != "trusted") {
        refuse("raise the trust in a server");
        after.trust = before.trust;
        held.insert("trust");
    }
    if (freedom_of_pins(after.pins) > freedom_of_pins(before.pins)) {
        refuse("loosen the pins of a server");
        after.pins = before.pins;
        held.insert("pins");
    }
    // Who shares a server with whom is the user's to say; to keep them apart is no harm.
    const auto mode_of = [](const Server& server) {
        return server.mode.empty() ? std::string("auto") : server.mode;
    };
    if (mode_of(after) != mode_of(before) && after.mode != "per_session") {
        refuse("have callers share a server");
        after.mode = before.mode;
        held.insert("mode");
    }
    // A tool without a level is asked about: to allow it is to raise it.
    const auto named = [&](const auto& tool) { return before.tools.count(tool) != 0; };
    const auto unsaid = naming_allows ? Level::Deny : Level::RequireApproval;
    for (auto it = after.tools.begin(); it != after.tools.end();) {
        auto& [tool, level] = *it;
        const bool raised = level > level_for(before, tool, unsaid);
        if (raised) {
            refuse("raise the level of a tool");
            if (named(tool)) level = before.tools.at(tool);
            held.insert("tools." + tool);
        }
        it = raised && !named(tool) ? after.tools.erase(it) : std::next(it);
    }
    // One of a millisecond ends each call, whatever the server has done by then.
    for (const auto& limit : kTimeLimits) {
        if (after.*limit.time >= before.*limit.time) continue;
        refuse("shorten a time-out of a server");
        after.*limit.time = before.*limit.time;
        after.*limit.from = before.*limit.from;
        held.insert({limit.seconds, limit.milliseconds});
    }
    const auto has = [](const auto& list, const auto& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    for (const auto& tool : before.disabled_tools) {
        if (has(after.disabled_tools, tool)) continue;
        refuse("bring back a disabled tool");
        after.disabled_tools.push_back(tool);
    }
    // Beside the user's own there may be none of the checkout's.
    const bool more =
        std::any_of(after.disabled_tools.begin(), after.disabled_tools.end(),
                    [&](const auto& tool) { return !has(before.disabled_tools, tool); });
    if (!why.empty() && !more) held.insert("disabled_tools");
    const auto added = [&](const auto& tool) {
        return before.enabled_tools ? !has(*before.enabled_tools, tool)
                                    : naming_allows && !named(tool);
    };
    if (after.enabled_tools && std::erase_if(*after.enabled_tools, added) > 0)
        refuse("add to enabled_tools");
    if (!why.empty() && after.enabled_tools == before.enabled_tools) held.insert("enabled_tools");
    return why;
}

}  // namespace patchbay::config
