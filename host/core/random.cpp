#include "core/random.hpp"

#include "core/text.hpp"

#include <cerrno>
#include <sys/random.h>
#include <system_error>
#include <vector>

namespace patchbay::core {

std::string random_hex(std::size_t bytes) {
    std::vector<unsigned char> made(bytes);
    std::size_t filled = 0;
    while (filled < bytes) {
        const auto got = ::getrandom(made.data() + filled, bytes - filled, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw std::system_error(errno, std::generic_category(), "getrandom");
        filled += static_cast<std::size_t>(got);
    }
    return hex(made);
}

}  // namespace patchbay::core
