// The only door to spdlog.
#include "core/log.hpp"

#include "core/text.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace patchbay::core::log {

namespace {

constexpr std::size_t kLineBytes = 16u << 10;
constexpr std::size_t kShortestSecret = 4;

std::atomic<Level> threshold{Level::Warn};

// Built at the first line that is written: a start that logs nothing pays nothing.
spdlog::logger& logger() {
    static spdlog::logger instance = [] {
        spdlog::logger made("patchbay", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        made.set_pattern("%H:%M:%S.%e %l %v");
        made.set_level(spdlog::level::trace);
        made.flush_on(spdlog::level::trace);
        return made;
    }();
    return instance;
}

struct Secrets {
    std::mutex mutex;
    std::vector<std::string> values;  // longest first, so that one inside another is masked whole
};
Secrets& secrets() {
    static Secrets instance;
    return instance;
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
    if (secret.size() < kShortestSecret) return;
    auto& all = secrets();
    const std::lock_guard lock(all.mutex);
    if (std::find(all.values.begin(), all.values.end(), secret) != all.values.end()) return;
    all.values.emplace_back(secret);
    std::stable_sort(all.values.begin(), all.values.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string masked(std::string_view text) {
    std::string out(text);
    auto& all = secrets();
    const std::lock_guard lock(all.mutex);
    for (const auto& secret : all.values) {
        for (auto at = out.find(secret); at != std::string::npos; at = out.find(secret, at + 3)) {
            out.replace(at, secret.size(), "***");
        }
    }
    return out;
}

}  // namespace patchbay::core::log
