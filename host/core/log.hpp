// The host's log: stderr by default, spdlog behind it. Foreign text is made printable, secrets
// (secrets.hpp) are masked in every line.
//
// Threads: [any].
#pragma once

#include <string>
#include <string_view>

namespace patchbay::core::log {

enum class Level { Trace, Debug, Info, Warn, Error, Fatal, Off };

// From "trace".."error", "off"; anything else is Info with `known` set to false.
Level level_from(std::string_view name, bool* known = nullptr);

void set_level(Level level);
// Plain: `warning: ...`, for a person who waits for a command to end. Timed, as at the start: with the
// time of day before it, for a log that goes on.
enum class Style { Timed, Plain };
void set_style(Style style);
bool enabled(Level level);
// One line to the log. Newlines in `text` become spaces.
void write(Level level, std::string_view text);

inline void debug(std::string_view text) {
    write(Level::Debug, text);
}
inline void info(std::string_view text) {
    write(Level::Info, text);
}
inline void warn(std::string_view text) {
    write(Level::Warn, text);
}
inline void error(std::string_view text) {
    write(Level::Error, text);
}

// Masks a secret that has no owner here: until Secrets::kMost newer ones have come this way.
void mask(std::string_view secret);
// core::masked, for messages that do not pass through the log.
std::string masked(std::string_view text);

}  // namespace patchbay::core::log
