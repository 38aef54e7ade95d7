#include "support/counted_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> pieces{0}, bytes{0};

void* counted_or_null(std::size_t size) noexcept {
    pieces.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(size, std::memory_order_relaxed);
    return std::malloc(size == 0 ? 1 : size);
}

void* counted(std::size_t size) {
    if (void* memory = counted_or_null(size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
    return counted(size);
}
void* operator new[](std::size_t size) {
    return counted(size);
}
// Sorting asks for room that it can do without.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return counted_or_null(size);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace patchbay::test {

Memory memory_asked_for() {
    return {pieces.load(std::memory_order_relaxed), bytes.load(std::memory_order_relaxed)};
}

}  // namespace patchbay::test
