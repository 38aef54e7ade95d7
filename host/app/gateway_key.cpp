#include "app/gateway_key.hpp"

#include "core/private_file.hpp"
#include "core/random.hpp"
#include "core/replace_file.hpp"

#include <chrono>

namespace patchbay::app {

namespace {

constexpr const char* kName = "gateway.key";
constexpr std::size_t kKeyBytes = 32;
constexpr auto kOthers = core::Others::MayNothing;
constexpr std::chrono::seconds kTurn{5};

}  // namespace

Result<std::string> gateway_key(const std::string& state_directory) {
    if (state_directory.empty()) return core::random_hex(kKeyBytes);
    const auto directory = core::open_private_directory(state_directory, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    const auto turn = core::take_turn(*directory, state_directory, "gateway.lock", kTurn);
    if (!turn) return turn.error();
    const auto kept = core::read_private(state_directory, kName, kOthers, 2 * kKeyBytes + 1);
    if (!kept) return kept.error();
    if (*kept && (*kept)->size() == 2 * kKeyBytes) return **kept;
    auto key = core::random_hex(kKeyBytes);
    const auto written = core::replace_file(state_directory + "/" + kName, key, core::Durable::Yes);
    if (!written) return written.error();
    return key;
}

}  // namespace patchbay::app
