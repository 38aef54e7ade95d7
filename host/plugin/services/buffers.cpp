#include "plugin/services/buffers.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kSmallestBits = 12;  // 4 KiB
constexpr std::size_t kClasses = 9;        // .. 1 MiB; larger ones go back to the allocator
constexpr std::size_t kKeptBytesPerClass = 1u << 20;

struct Pool;

// Sits in front of the bytes; 64 bytes, so that they are aligned for any parser.
struct alignas(64) Block {
    Pool* pool;  // null: not kept
    std::size_t size_class;
    Block* next;

    std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

struct Pool {
    std::mutex mutex;
    std::array<Block*, kClasses> free{};
    std::array<std::size_t, kClasses> kept{};
};

Pool& pool() {
    static auto& shared = *new Pool;  // a plugin's thread may give back a buffer at exit
    return shared;
}

constexpr std::size_t class_bytes(std::size_t size_class) {
    return std::size_t{1} << (kSmallestBits + size_class);
}

void give_back(void* owner) noexcept {
    auto* block = static_cast<Block*>(owner);
    if (block->pool) {
        const std::scoped_lock lock(block->pool->mutex);
        auto& kept = block->pool->kept[block->size_class];
        if ((kept + 1) * class_bytes(block->size_class) <= kKeptBytesPerClass) {
            ++kept;
            block->next = block->pool->free[block->size_class];
            block->pool->free[block->size_class] = block;
            return;
        }
    }
    std::free(block);
}

patchbay_status take(const patchbay_host*, std::size_t min_capacity, patchbay_buf* out) noexcept {
    if (!out) return PATCHBAY_E_INVALID;
    *out = {};
    if (min_capacity > kLargestBuffer) return PATCHBAY_E_LIMIT;
    const auto bits =
        static_cast<std::size_t>(std::bit_width(min_capacity > 1 ? min_capacity - 1 : 1));
    const auto size_class = bits < kSmallestBits ? 0 : bits - kSmallestBits;
    const bool pooled = size_class < kClasses;
    const auto usable = pooled ? class_bytes(size_class) : min_capacity;
    Block* block = nullptr;
    if (pooled) {
        const std::scoped_lock lock(pool().mutex);
        if ((block = pool().free[size_class])) {
            pool().free[size_class] = block->next;
            --pool().kept[size_class];
        }
    }
    if (!block) {
        const auto whole = (sizeof(Block) + usable + kBufferPadding + 63) / 64 * 64;
        void* memory = std::aligned_alloc(64, whole);
        if (!memory) return PATCHBAY_E_LIMIT;
        block = new (memory) Block{pooled ? &pool() : nullptr, size_class, nullptr};
        std::memset(block->bytes() + usable, 0, kBufferPadding);
    }
    *out = {block->bytes(), 0, usable + kBufferPadding, give_back, block};
    return PATCHBAY_OK;
}

constexpr patchbay_host_buffers kBuffers = {sizeof(patchbay_host_buffers), 0, take};

}  // namespace

const patchbay_host_buffers* buffers_table() {
    return &kBuffers;
}

}  // namespace patchbay::plugin
