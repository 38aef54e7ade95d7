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

Result<std::optional<std::string>> kept_in(const std::string& directory) {
    auto kept = core::read_private(directory, kName, kOthers, 2 * kKeyBytes + 1);
    if (kept && *kept && (*kept)->size() != 2 * kKeyBytes) kept->reset();  // it was cut off
    return kept;
}

// One that another gateway has made meanwhile counts.
Result<std::string> made_in(const std::string& path) {
    const auto directory = core::open_private_directory(path, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    const auto turn = core::take_turn(*directory, path, "gateway.lock", kTurn);
    if (!turn) return turn.error();
    auto kept = kept_in(path);
    if (!kept) return kept.error();
    if (*kept) return std::move(**kept);
    auto key = core::random_hex(kKeyBytes);
    const auto written = core::replace_file(path + "/" + kName, key, core::Durable::Yes);
    if (!written) return written.error();
    return key;
}

}  // namespace

Result<GatewayKey> gateway_key(const std::string& state_directory) {
    if (state_directory.empty()) return GatewayKey{core::random_hex(kKeyBytes)};
    // First without a turn, which cannot be taken where nothing can be written.
    auto kept = kept_in(state_directory);
    if (!kept) return kept.error();
    if (*kept) return GatewayKey{std::move(**kept), true};
    auto made = made_in(state_directory);
    if (made) return GatewayKey{std::move(*made), true};
    const auto code = made.error().code;
    if (code != ErrorCode::Io && code != ErrorCode::Timeout) return made.error();
    core::log::warn("nothing of HTTP sessions outlives this process: " + made.error().message);
    return GatewayKey{core::random_hex(kKeyBytes)};
}

}  // namespace patchbay::app
