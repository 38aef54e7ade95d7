#include "app/descriptor_limit.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

constexpr rlim_t kDescriptors = 16'384;  // a client may hold several connections
constexpr rlim_t kRoom = 4'096;          // of 8 bytes each; a server takes some eight

}  // namespace

// Failed: it grows when it has to.
void make_room_for_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == 0) return;
    const auto last = static_cast<int>(std::min(limit.rlim_cur, kRoom) - 1);
    if (const int held = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, last); held >= 0) ::close(held);
}

void allow_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kDescriptors) return;
    limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace patchbay::app
