// The only door to spdlog.
#include "core/log.hpp"

#include "core/secrets.hpp"
#include "core/standard_error.hpp"
#include "core/text.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

namespace patchbay::core::log {

namespace {

constexpr std::size_t kLineBytes = 16u << 10;

std::atomic<Level> threshold{Level::Warn};
std::atomic<Style> style_of_lines{Style::Timed};

class ErrorSink final : public spdlog::sinks::base_sink<std::mutex> {
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        standard_error::write({line.data(), line.size()});
    }
    void flush_() override {}
};

spdlog::logger logger_with(const char* pattern) {
    spdlog::logger made("patchbay", std::make_shared<ErrorSink>());
    made.set_pattern(pattern);
    made.set_level(spdlog::level::trace);
    made.flush_on(spdlog::level::trace);
    return made;
}

// Built at the first line that is written: a start that logs nothing pays nothing.
spdlog::logger& logger() {
    static auto timed = logger_with("%H:%M:%S.%e %l %v");
    static auto plain = logger_with("%l: %v");
    return style_of_lines == Style::Plain ? plain : timed;
}

}  // namespace

Level level_from(std::string_view name, bool* known) {
    constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn",
                                           "error", "fatal", "off"};
    const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
    if (known) *known = found != std::end(kNames);
    return found == std::end(kNames) ? Level::Info : static_cast<Level>(found - kNames);
}

void set_level(Level level) {
    threshold = level;
}
void set_style(Style style) {
    style_of_lines = style;
}
bool enabled(Level level) {
    return level >= threshold && level != Level::Off;
}

void write(Level level, std::string_view text) {
    if (!enabled(level)) return;
    std::string line = printable(masked(text), kLineBytes, true);
    std::replace(line.begin(), line.end(), '\n', ' ');
    logger().log(static_cast<spdlog::level::level_enum>(level), spdlog::string_view_t(line));
}

void mask(std::string_view secret) {
    static auto& without_owner = *new Secrets;
    without_owner.add(secret);
}

std::string masked(std::string_view text) {
    return core::masked(text);
}

}  // namespace patchbay::core::log
