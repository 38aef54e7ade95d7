#include "app/gateway_key.hpp"

#include "core/kept_key.hpp"
#include "core/log.hpp"
#include "core/random.hpp"

#include <chrono>
#include <utility>

namespace patchbay::app {

namespace {

constexpr const char* kName = "gateway.key";
constexpr std::chrono::seconds kKeyTurn{5};

}  // namespace

Result<GatewayKey> gateway_key(const std::string& state_directory) {
    if (state_directory.empty()) return GatewayKey{core::random_hex(core::kKeyBytes)};
    auto key = core::kept_key(state_directory, kName, kKeyTurn);
    if (key) return GatewayKey{std::move(*key), true};
    const auto code = key.error().code;
    if (code != ErrorCode::Io && code != ErrorCode::Timeout) return key.error();
    core::log::warn("nothing of HTTP sessions outlives this process: " + key.error().message);
    return GatewayKey{core::random_hex(core::kKeyBytes)};
}

}  // namespace patchbay::app
