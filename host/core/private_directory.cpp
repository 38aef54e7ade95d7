#include "core/private_directory.hpp"

#include <cerrno>
#include <sys/stat.h>

namespace patchbay::core {

bool make_private_directory(const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const bool last = end == std::string::npos;
        const auto part = path.substr(0, end);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && last) return false;
        if (last) return true;
    }
}

}  // namespace patchbay::core
