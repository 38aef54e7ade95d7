#include "app/descriptor_limit.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace patchbay::app {

namespace {

constexpr rlim_t kDescriptors = 16'384;  // a client may hold several connections

}  // namespace

void allow_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kDescriptors) return;
    limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace patchbay::app
