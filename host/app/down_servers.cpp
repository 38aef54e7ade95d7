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
    if (state == State::Ready && found != known_.end()) {
        const bool was_told = !std::exchange(found->second.told, {}).empty();
        found->second.down = false;
        if (was_told)
            ways_.tell(core::log::Level::Info, "server \"" + server + "\" is ready again");
    }
    // Whoever has turned it off knows; if it is turned on again that is another beginning.
    if (state == State::Stopped || state == State::Disabled) return forget(server);
    if (!is_down(state)) return;
    auto& known = known_[server];
    const bool begins = !std::exchange(known.down, true);
    if (begins) ++known.untold;
    // Between two attempts it is as it was.
    const bool was_told = !known.told.empty();
    if (known.told.contains(state) || (was_told && state == State::Reconnecting)) return;
    const auto pause = known.last_told + kPause - time_.now();
    if (!was_told && found != known_.end() && pause.count() > 0) {
        if (begins) ways_.look_again(server, pause);
        return;
    }
    known.told.insert(state);
    known.last_told = time_.now();
    const auto name = "server \"" + server + "\"";
    auto text = why();
    if (!text.starts_with(name)) text = name + ": " + text;
    text += std::string("; it cannot be asked for now (") + connection::name_of(state) + ")";
    if (const auto times = std::exchange(known.untold, 0); times > 1)
        text += ", the last of " + std::to_string(times) + " times since this was told before";
    ways_.tell(core::log::Level::Warn, text + "; patchbay mcp status " + core::shell_word(server));
}

}  // namespace patchbay::app
