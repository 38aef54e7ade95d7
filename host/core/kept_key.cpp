#include "core/kept_key.hpp"

#include "core/private_file.hpp"
#include "core/random.hpp"
#include "core/replace_file.hpp"

#include <optional>
#include <utility>

namespace patchbay::core {

namespace {

constexpr auto kOthers = Others::MayNothing;

Result<std::optional<std::string>> kept_in(const std::string& directory, const std::string& name) {
    auto kept = read_private(directory, name, kOthers, 2 * kKeyBytes + 1);
    if (kept && *kept && (*kept)->size() != 2 * kKeyBytes) kept->reset();  // it was cut off
    return kept;
}

// One that another process has made meanwhile counts.
Result<std::string> made_in(const std::string& path, const std::string& name,
                            std::chrono::milliseconds wait) {
    const auto directory = open_private_directory(path, kOthers, Make::Yes);
    if (!directory) return directory.error();
    const auto turn = take_turn(*directory, path, "gateway.lock", wait);
    if (!turn) return turn.error();
    auto kept = kept_in(path, name);
    if (!kept) return kept.error();
    if (*kept) return std::move(**kept);
    auto key = random_hex(kKeyBytes);
    const auto written = replace_file(path + "/" + name, key, Durable::Yes);
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

}  // namespace patchbay::core
