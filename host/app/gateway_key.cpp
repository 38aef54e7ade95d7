#include "app/gateway_key.hpp"

#include "core/log.hpp"
#include "core/private_file.hpp"
#include "core/random.hpp"
#include "core/replace_file.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace patchbay::app {

namespace {

constexpr const char* kName = "gateway.key";
constexpr std::size_t kKeyBytes = 32;
constexpr auto kOthers = core::Others::MayNothing;
constexpr std::chrono::seconds kTurn{5};

Result<std::optional<std::string>> kept_in(const std::string& directory, const std::string& name) {
    auto kept = core::read_private(directory, name, kOthers, 2 * kKeyBytes + 1);
    if (kept && *kept && (*kept)->size() != 2 * kKeyBytes) kept->reset();  // it was cut off
    return kept;
}

// One that another process has made meanwhile counts.
Result<std::string> made_in(const std::string& path, const std::string& name,
                            std::chrono::milliseconds wait) {
    const auto directory = core::open_private_directory(path, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    const auto turn = core::take_turn(*directory, path, "gateway.lock", wait);
    if (!turn) return turn.error();
    auto kept = kept_in(path, name);
    if (!kept) return kept.error();
    if (*kept) return std::move(**kept);
    auto key = core::random_hex(kKeyBytes);
    const auto written = core::replace_file(path + "/" + name, key, core::Durable::Yes);
    if (!written) return written.error();
    return key;
}

}  // namespace

// First without a turn, which cannot be taken where nothing can be written.
Result<std::string> kept_key(const std::string& state_directory, const std::string& name,
                             std::chrono::milliseconds wait) {
    auto kept = kept_in(state_directory, name);
    if (!kept) return kept.error();
    if (*kept) return std::move(**kept);
    return made_in(state_directory, name, wait);
}

Result<GatewayKey> gateway_key(const std::string& state_directory) {
    if (state_directory.empty()) return GatewayKey{core::random_hex(kKeyBytes)};
    auto key = kept_key(state_directory, kName, kTurn);
    if (key) return GatewayKey{std::move(*key), true};
    const auto code = key.error().code;
    if (code != ErrorCode::Io && code != ErrorCode::Timeout) return key.error();
    core::log::warn("nothing of HTTP sessions outlives this process: " + key.error().message);
    return GatewayKey{core::random_hex(kKeyBytes)};
}

}  // namespace patchbay::app
