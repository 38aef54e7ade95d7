#include "core/escapes.hpp"

#include "core/log.hpp"

#include <atomic>
#include <exception>
#include <string>

namespace patchbay::core {
namespace {

std::atomic<std::uint64_t> escapes{0};

}  // namespace

void count_escape() noexcept {
    ++escapes;
}

void note_escape(std::string_view where) noexcept {
    count_escape();
    try {
        const auto begin = "internal error: " + std::string(where) + " threw";
        try {
            throw;
        } catch (const std::exception& error) {
            log::error(begin + ": " + error.what());
        } catch (...) {
            log::error(begin + " no std::exception");
        }
    } catch (...) {  // no memory left to say it in
    }
}

std::uint64_t take_escapes() noexcept {
    return escapes.exchange(0);
}

}  // namespace patchbay::core
