#include "app/down_servers.hpp"

#include "core/shell_word.hpp"

#include <string>
#include <utility>

namespace patchbay::app {

using connection::State;

bool DownServers::is_down(State state) {
    return state == State::Failed || state == State::Error || state == State::AuthRequired ||
           state == State::Reconnecting;
}

void DownServers::note(const std::string& server, State state, const Why& why) {
    const auto found = known_.find(server);
    if (state == State::Ready) {
        if (found == known_.end() || !is_down(found->second.state)) return;
        found->second.state = state;
        if (found->second.untold == 0)
            tell_(core::log::Level::Info, "server \"" + server + "\" is ready again");
        return;
    }
    // Whoever has turned it off knows; if it is turned on again that is another beginning.
    if (state == State::Stopped || state == State::Disabled) return forget(server);
    if (!is_down(state)) return;
    auto& known = known_[server];
    // Between two attempts it is as it was.
    if (known.state == state || (is_down(known.state) && state == State::Reconnecting)) return;
    known.state = state;
    const auto now = time_.now();
    const auto [told, is_first] = known.told.try_emplace(state, now);
    if (!is_first && now - told->second < kPause) {
        ++known.untold;
        return;
    }
    told->second = now;
    const auto name = "server \"" + server + "\"";
    auto text = why();
    if (!text.starts_with(name)) text = name + ": " + text;
    text += std::string("; it has no tools for now (") + connection::name_of(state) + ")";
    if (const auto times = std::exchange(known.untold, 0); times > 0)
        text += ", as " + std::to_string(times) + (times == 1 ? " time" : " times") +
                " before, when it came back";
    tell_(core::log::Level::Warn, text + "; patchbay mcp status " + core::shell_word(server));
}

}  // namespace patchbay::app
