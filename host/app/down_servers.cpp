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
    if (!is_down(state)) return;
    auto& known = known_[server];
    // Between two attempts it is as it was.
    if (known.state == state || (is_down(known.state) && state == State::Reconnecting)) return;
    known.state = state;
    const auto now = time_.now();
    if (found != known_.end() && state == State::Reconnecting && now - known.told < kPause) {
        ++known.untold;
        return;
    }
    auto text = "server \"" + server + "\" has no tools for now (" + connection::name_of(state) +
                "): " + why();
    if (const auto times = std::exchange(known.untold, 0); times > 0)
        text += "; so it was " + std::to_string(times) + (times == 1 ? " time" : " times") +
                " before, and came back";
    known.told = now;
    tell_(core::log::Level::Warn, text + "; patchbay mcp status " + core::shell_word(server));
}

}  // namespace patchbay::app
