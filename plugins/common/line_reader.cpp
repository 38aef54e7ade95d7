#include "line_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace patchbay::transport {
namespace {

constexpr std::size_t kChunkBytes = 64u << 10;
constexpr std::size_t kLeastRoom = 16u << 10;
constexpr std::size_t kMostRoom = 256u << 10;  // one read takes no more, others want their turn
constexpr std::size_t kLongChunkBytes = kMostRoom;  // while lines are longer than a chunk holds
constexpr std::size_t kPadding = 64;                // readable behind every slice, for parsers

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view line) {
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    return line;
}

}  // namespace

struct LineReader::Chunk {
    explicit Chunk(std::size_t size) : capacity(size) {}

    std::atomic<std::size_t> references{1};
    const std::size_t capacity;

    char* data() { return reinterpret_cast<char*>(this + 1); }

    static Chunk* make(std::size_t capacity) {
        void* memory = std::malloc(sizeof(Chunk) + capacity + kPadding);
        if (!memory) throw std::bad_alloc();
        auto* chunk = new (memory) Chunk(capacity);
        std::memset(chunk->data() + capacity, 0, kPadding);
        return chunk;
    }
    static void release(void* owner) noexcept {
        auto* const chunk = static_cast<Chunk*>(owner);
        if (chunk->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        chunk->~Chunk();
        std::free(chunk);
    }
    bool ours_alone() const { return references.load(std::memory_order_acquire) == 1; }
};

LineReader::~LineReader() {
    if (chunk_) Chunk::release(chunk_);
}

LineReader::Room LineReader::room() {
    const std::size_t kept = end_ - begin_;
    // A long line is most often one of many: the next does not have to be moved as it grows.
    const auto usual = last_ > kChunkBytes - kLeastRoom ? kLongChunkBytes : kChunkBytes;
    const auto left = [this] {
        return Room{chunk_->data() + end_, std::min(chunk_->capacity - end_, kMostRoom)};
    };
    if (chunk_ && kept == 0 && chunk_->capacity == usual && chunk_->ours_alone()) {
        begin_ = scanned_ = end_ = 0;  // nobody looks into it any more; the same pages again
        return left();
    }
    const bool outgrown = chunk_ && kept < usual && chunk_->capacity > usual;
    if (chunk_ && !outgrown && chunk_->capacity - end_ >= kLeastRoom) return left();

    // A line that does not fit gets a chunk twice as large; else a fresh one for what is left over.
    const std::size_t wanted = kept > usual / 2 ? kept * 2 : usual;
    Chunk* const fresh = Chunk::make(std::min(wanted, most_ + kChunkBytes));
    if (chunk_) {
        std::memcpy(fresh->data(), chunk_->data() + begin_, kept);
        Chunk::release(chunk_);
    }
    chunk_ = fresh;
    scanned_ -= begin_;
    begin_ = 0;
    end_ = kept;
    return left();
}

bool LineReader::has_line() {
    if (scanned_ == end_) return false;
    const auto* const newline =
        static_cast<const char*>(std::memchr(chunk_->data() + scanned_, '\n', end_ - scanned_));
    scanned_ = newline ? static_cast<std::size_t>(newline - chunk_->data()) : end_;
    return newline != nullptr;
}

bool LineReader::next(std::string_view& line) {
    if (!has_line()) return false;
    last_ = scanned_ - begin_;
    line = trimmed({chunk_->data() + begin_, last_});
    begin_ = ++scanned_;
    return true;
}

std::string_view LineReader::rest() const {
    return chunk_ ? trimmed({chunk_->data() + begin_, end_ - begin_}) : std::string_view();
}

patchbay_buf LineReader::slice(std::string_view line) {
    chunk_->references.fetch_add(1, std::memory_order_relaxed);
    const auto readable =
        static_cast<std::size_t>(chunk_->data() + chunk_->capacity + kPadding - line.data());
    return {reinterpret_cast<const std::uint8_t*>(line.data()), line.size(), readable,
            Chunk::release, chunk_};
}

}  // namespace patchbay::transport
