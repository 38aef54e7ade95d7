#include "connection/bill.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::connection {

namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto [read, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc() || read != end) return {};
    return number;
}

// Of what is a process's: no larger number is one.
std::optional<int> small_number_in(std::string_view text) {
    const auto number = number_in(text);
    if (!number || *number > 255) return {};
    return static_cast<int>(*number);
}

}  // namespace

bool Bill::take(std::string_view fact, std::string_view value,
                std::chrono::system_clock::time_point now) {
    constexpr std::string_view kCode = "code ", kSignal = "signal ";
    if (fact == "cpu_ms") {
        cost.cpu += std::chrono::milliseconds(
            std::min<std::uint64_t>(number_in(value).value_or(0), kMostCpuMs));
    } else if (fact == "peak_memory_bytes") {
        cost.peak_memory_bytes = std::max(cost.peak_memory_bytes, number_in(value).value_or(0));
    } else if (fact == "limit") {
        limit_ = core::printable(value, 32);
    } else if (fact == "exit") {
        Exit exit;
        exit.at = now;
        exit.limit = std::exchange(limit_, {});
        if (value.starts_with(kCode)) exit.code = small_number_in(value.substr(kCode.size()));
        if (value.starts_with(kSignal)) exit.signal = small_number_in(value.substr(kSignal.size()));
        last_exit = std::move(exit);
        ended_ = true;
    } else {
        return false;
    }
    return true;
}

}  // namespace patchbay::connection
