#include "core/process_usage.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace patchbay::core {

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// User and system time of it and of the children that it has waited for, in ticks of the clock: the
// fields 14 to 17 of `PID (any text) STATE ...`.
std::uint64_t ticks_of(const std::string& stat) {
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    std::uint64_t ticks = 0;
    for (std::int64_t each = 0, field = 14; field < 18 && fields >> each; ++field)
        ticks += static_cast<std::uint64_t>(std::max<std::int64_t>(each, 0));
    return ticks;
}

// `VmHWM:     1234 kB`
std::uint64_t peak_of(const std::string& status) {
    const auto at = status.find("\nVmHWM:");
    if (at == std::string::npos) return 0;
    std::istringstream number(status.substr(at + 7, 40));
    std::uint64_t kilobytes = 0;
    number >> kilobytes;
    return kilobytes * 1024;
}

}  // namespace

ProcessUsage usage_of_tree(std::int64_t pid) {
    const auto ticks_a_second = std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
    ProcessUsage usage;
    std::uint64_t ticks = 0;
    std::vector<std::int64_t> found{pid};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto folder = "/proc/" + std::to_string(found[i]);
        const auto stat = text_of(folder + "/stat");
        if (stat.empty()) continue;
        ++usage.processes;
        ticks += ticks_of(stat);
        usage.peak_memory_bytes =
            std::max(usage.peak_memory_bytes, peak_of(text_of(folder + "/status")));
        std::istringstream children(
            text_of(folder + "/task/" + std::to_string(found[i]) + "/children"));
        for (std::int64_t child = 0; found.size() < kMostProcesses && children >> child;)
            found.push_back(child);
    }
    usage.cpu =
        std::chrono::milliseconds(ticks * 1000 / static_cast<std::uint64_t>(ticks_a_second));
    return usage;
}

}  // namespace patchbay::core
