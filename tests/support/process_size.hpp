// What a process takes of its machine, as /proc tells it.
//
// Errors: reported by gtest; sizes are then 0.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/types.h>

namespace patchbay::test {

struct ProcessSize {
    std::size_t resident_kib = 0, most_resident_kib = 0;
    std::size_t threads = 0, descriptors = 0;
    std::size_t room = 0;  // for descriptors, in the kernel's table
};

inline ProcessSize size_of_process(pid_t pid) {
    const std::filesystem::path folder = "/proc/" + std::to_string(pid);
    ProcessSize size;
    std::ifstream status(folder / "status");
    for (std::string line; std::getline(status, line);) {
        const auto take = [&line](const char* key, std::size_t& value) {
            if (line.starts_with(key)) value = std::stoul(line.substr(line.find(':') + 1));
        };
        take("VmRSS:", size.resident_kib);
        take("VmHWM:", size.most_resident_kib);
        take("Threads:", size.threads);
        take("FDSize:", size.room);
    }
    std::error_code failed;
    for ([[maybe_unused]] const auto& each :
         std::filesystem::directory_iterator(folder / "fd", failed))
        ++size.descriptors;
    EXPECT_TRUE(size.resident_kib > 0 && !failed) << "process " << pid << " has no size";
    return size;
}

}  // namespace patchbay::test
