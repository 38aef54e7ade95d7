#include "plugin/mapped_code.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <mutex>
#include <unistd.h>

namespace patchbay::plugin {
namespace {

struct Range {
    std::uintptr_t begin = 0, end = 0;
    char path[kMappedPathBytes] = {};

    bool has(std::uintptr_t address) const { return begin <= address && address < end; }
};

std::array<Range, kMostMappedLibraries> ranges;
std::atomic<std::size_t> known{0};  // of them; what is below it is not written any more

// The segments of the object that holds range->begin, as one range.
int find_object(dl_phdr_info* object, std::size_t, void* found) {
    auto& range = *static_cast<Range*>(found);
    Range whole{UINTPTR_MAX, 0, {}};
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
        whole.begin = std::min(whole.begin, begin);
        whole.end = std::max(whole.end, begin + segment.p_memsz);
    }
    if (!whole.has(range.begin)) return 0;
    range = whole;
    return 1;
}

}  // namespace

void note_code(const void* inside, const std::string& path) {
    static std::mutex writing;
    const std::scoped_lock lock(writing);
    const auto count = known.load(std::memory_order_relaxed);
    if (count == ranges.size()) return;
    auto& range = ranges[count];
    range.begin = reinterpret_cast<std::uintptr_t>(inside);
    if (!::dl_iterate_phdr(find_object, &range)) return;
    path.copy(range.path, sizeof range.path - 1);
    known.store(count + 1, std::memory_order_release);
}

bool write_library(int fd, const void* address) noexcept {
    const auto count = known.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
        if (!ranges[i].has(reinterpret_cast<std::uintptr_t>(address))) continue;
        static constexpr char begin[] = "the library ";
        static_cast<void>(!::write(fd, begin, sizeof begin - 1));
        static_cast<void>(!::write(fd, ranges[i].path, std::strlen(ranges[i].path)));
        return true;
    }
    return false;
}

}  // namespace patchbay::plugin
