#include "edge.hpp"

#include <new>

namespace patchbay::transport {
namespace {

constexpr std::int32_t kError = 4, kFatal = 5;

}  // namespace

std::string note_escape(const patchbay_host* host, const char* what) noexcept {
    std::string told;
    try {
        auto level = kFatal;
        try {
            throw;
        } catch (const std::bad_alloc&) {
            level = kError;
            told = std::string(what) + ": out of memory";
        } catch (const std::exception& error) {
            told = std::string("internal error: ") + what + " threw: " + error.what();
        } catch (...) {
            told = std::string("internal error: ") + what + " threw no std::exception";
        }
        if (host) host->log(host, level, sdk::str(told), nullptr, 0);
    } catch (...) {  // no memory left to say it in
        told.clear();
    }
    return told;
}

}  // namespace patchbay::transport
