#include "core/private_directory.hpp"

#include <cerrno>
#include <sys/stat.h>

namespace patchbay::core {

bool make_private_directory(const std::string& path) {
    int above = 0;  // why a folder above could not be made
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const bool last = end == std::string::npos;
        const auto part = path.substr(0, end);
        const bool made = ::mkdir(part.c_str(), 0700) == 0 || errno == EEXIST;
        if (last) {
            if (!made && above != 0) errno = above;
            return made;
        }
        if (!made && above == 0) above = errno;
    }
}

}  // namespace patchbay::core
