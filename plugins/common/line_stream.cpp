#include "line_stream.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace patchbay::transport {

namespace {

constexpr std::size_t kChunkBytes = 64u << 10;
constexpr std::size_t kPadding = 64;              // readable behind every slice
constexpr std::size_t kLinesPerRound = 64;        // then other channels get their turn
constexpr std::size_t kBytesPerRound = 256u << 10;
constexpr std::size_t kStrayLineBytes = 8u << 10;
constexpr int kVectors = 64;

}  // namespace

// Bytes with a count of the slices that look into them; freed with the last one, on any thread.
struct LineStream::Chunk {
    std::atomic<std::size_t> references{1};
    std::size_t capacity;

    char* data() { return reinterpret_cast<char*>(this + 1); }
    static Chunk* make(std::size_t capacity) {
        void* memory = std::malloc(sizeof(Chunk) + capacity + kPadding);
        if (!memory) throw std::bad_alloc();
        auto* chunk = new (memory) Chunk;
        chunk->capacity = capacity;
        std::memset(chunk->data() + capacity, 0, kPadding);
        return chunk;
    }
    static void release(void* owner) noexcept {
        auto* chunk = static_cast<Chunk*>(owner);
        if (chunk->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            chunk->~Chunk();
            std::free(chunk);
        }
    }
};

struct LineStream::Alive {
    LineStream* stream;
};

LineStream::LineStream(const patchbay_host* host, sdk::Sink sink, Listener& listener)
    : host_(host),
      reactor_(sdk::extension<patchbay_host_reactor>(host, PATCHBAY_HOST_REACTOR)),
      sink_(sink),
      listener_(listener),
      alive_(new Alive{this}) {}

LineStream::~LineStream() {
    stop();
    if (chunk_) Chunk::release(chunk_);
    alive_->stream = nullptr;
    if (!posted_) delete alive_;  // else the posted callback does
}

void LineStream::start(int reading, int writing) {
    reading_ = reading;
    writing_ = writing;
    const auto status = reactor_->watch(host_, reading_, 1, this, on_readable, &read_watch_);
    if (status != PATCHBAY_OK) return fail(status, "the host cannot watch the connection");
    if (!queue_.empty()) post();
}

void LineStream::on_readable(void* self, std::uint32_t) noexcept {
    auto& stream = *static_cast<LineStream*>(self);
    try {
        if (stream.read_once()) stream.deliver();
    } catch (const std::exception& error) {
        stream.fail(PATCHBAY_E_INTERNAL, error.what());
    }
}

void LineStream::on_writable(void* self, std::uint32_t) noexcept { static_cast<LineStream*>(self)->flush(); }

void LineStream::on_posted(void* self) noexcept {
    auto* alive = static_cast<Alive*>(self);
    if (!alive->stream) {
        delete alive;
        return;
    }
    auto& stream = *alive->stream;
    stream.posted_ = false;
    if (!stream.blocked_) stream.flush();
    // Lines that the last round left in the chunk; a chunk without a whole one costs a look.
    if (!stream.paused_ && !stream.failed_) stream.deliver();
}

void LineStream::post() {
    if (posted_) return;
    posted_ = reactor_->post(host_, alive_, on_posted) == PATCHBAY_OK;
}

void LineStream::make_room() {
    const std::size_t kept = end_ - begin_;
    if (chunk_ && kept == 0 && chunk_->references.load(std::memory_order_acquire) == 1 &&
        chunk_->capacity == kChunkBytes) {
        begin_ = scanned_ = end_ = 0;  // nobody looks into it any more: use it again
        return;
    }
    if (chunk_ && chunk_->capacity - end_ >= kChunkBytes / 4) return;
    // A message that outgrew its chunk gets one twice as large; else a fresh one for what is left.
    const std::size_t capacity = std::max(kChunkBytes, kept >= kChunkBytes / 2 ? kept * 2 : kChunkBytes);
    Chunk* fresh = Chunk::make(capacity);
    if (chunk_) {
        std::memcpy(fresh->data(), chunk_->data() + begin_, kept);
        Chunk::release(chunk_);
    }
    chunk_ = fresh;
    scanned_ -= begin_;
    begin_ = 0;
    end_ = kept;
}

bool LineStream::read_once() {
    if (reading_ < 0) return false;
    make_room();
    const ssize_t got = ::read(reading_, chunk_->data() + end_, chunk_->capacity - end_);
    if (got > 0) {
        end_ += static_cast<std::size_t>(got);
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
    if (got < 0 && errno != ECONNRESET) {
        fail(PATCHBAY_E_IO, std::string("reading failed: ") + std::strerror(errno));
        return false;
    }
    ended_ = true;
    reactor_->cancel(host_, std::exchange(read_watch_, 0));
    deliver();
    return false;
}

void LineStream::deliver() {
    std::size_t lines = 0, bytes = 0;
    while (!paused_ && !failed_ && chunk_) {
        const char* const from = chunk_->data() + begin_;
        const void* newline = std::memchr(chunk_->data() + scanned_, '\n', end_ - scanned_);
        if (!newline) {
            scanned_ = end_;
            if (end_ - begin_ > kMessageBytes) {
                return fail(PATCHBAY_E_LIMIT, "sent more than " + std::to_string(kMessageBytes) +
                                                  " bytes without a newline (limit message_bytes)");
            }
            break;
        }
        if (lines >= kLinesPerRound || bytes >= kBytesPerRound) {
            // The descriptor may be silent from now on: come back without it.
            return post();
        }
        const auto size = static_cast<std::size_t>(static_cast<const char*>(newline) - from);
        begin_ = scanned_ = begin_ + size + 1;
        ++lines;
        bytes += size;
        if (!hand_on(from, size)) return;
    }
    if (ended_ && !paused_ && !failed_) {
        if (const auto rest = end_ - begin_; rest > 0) {
            // Cut off in the middle: of no use as a message, but worth a look in the log.
            sink_.output(PATCHBAY_OUTPUT_STRAY, {chunk_->data() + begin_, std::min(rest, kStrayLineBytes)});
            begin_ = scanned_ = end_;
        }
        ended_ = false;
        listener_.ended();
    }
}

// False when this stream is no longer to be touched.
bool LineStream::hand_on(const char* line, std::size_t size) {
    while (size > 0 && (line[size - 1] == '\r' || line[size - 1] == ' ' || line[size - 1] == '\t')) --size;
    while (size > 0 && (*line == ' ' || *line == '\t' || *line == '\r')) ++line, --size;
    if (size == 0) return true;
    if (size > kMessageBytes) {
        fail(PATCHBAY_E_LIMIT, "sent a message of " + std::to_string(size) + " bytes (limit message_bytes is " +
                                   std::to_string(kMessageBytes) + ")");
        return false;
    }
    if (*line != '{' && *line != '[') {
        sink_.output(PATCHBAY_OUTPUT_STRAY, {line, std::min(size, kStrayLineBytes)});
        return true;
    }
    chunk_->references.fetch_add(1, std::memory_order_relaxed);
    const auto* data = reinterpret_cast<const std::uint8_t*>(line);
    const std::size_t readable = static_cast<std::size_t>(chunk_->data() + chunk_->capacity + kPadding - line);
    const patchbay_buf body{data, size, readable, Chunk::release, chunk_};
    if (sink_.message(0, body) == PATCHBAY_PAUSE) {
        paused_ = true;
        if (read_watch_) reactor_->modify(host_, read_watch_, 0);
    }
    return true;
}

void LineStream::resume() {
    if (!std::exchange(paused_, false) || failed_) return;
    if (read_watch_) reactor_->modify(host_, read_watch_, 1);
    post();
}

patchbay_status LineStream::send(std::uint64_t exchange, sdk::Body body) {
    if (failed_) return PATCHBAY_E_CLOSED;
    queued_bytes_ += body.size() + 1;
    queue_.push_back({exchange, std::move(body)});
    if (!blocked_ && writing_ >= 0) post();
    if (queued_bytes_ < kHighMark) return PATCHBAY_OK;
    told_pause_ = true;
    return PATCHBAY_PAUSE;
}

void LineStream::cancel(std::uint64_t exchange) {
    const std::size_t first = written_ > 0 ? 1 : 0;  // one that has begun to leave must leave whole
    for (std::size_t i = first; i < queue_.size(); ++i) {
        if (queue_[i].exchange != exchange) continue;
        queued_bytes_ -= queue_[i].body.size() + 1;
        queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
        return sink_.done(exchange, PATCHBAY_E_CANCELLED, "cancelled before it was sent", PATCHBAY_ERR_NOT_SENT);
    }
}

void LineStream::flush() {
    while (!queue_.empty() && writing_ >= 0) {
        iovec vectors[2 * kVectors];
        int count = 0;
        std::size_t skip = written_;
        for (const auto& queued : queue_) {
            if (count == 2 * kVectors) break;
            const auto text = queued.body.view();
            const std::size_t of_text = std::min(skip, text.size());
            vectors[count++] = {const_cast<char*>(text.data()) + of_text, text.size() - of_text};
            vectors[count++] = {const_cast<char*>("\n"), std::size_t{1}};
            skip = 0;
        }
        const ssize_t put = ::writev(writing_, vectors, count);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (write_watch_) reactor_->modify(host_, write_watch_, 2);
            else if (reactor_->watch(host_, writing_, 2, this, on_writable, &write_watch_) != PATCHBAY_OK)
                return fail(PATCHBAY_E_INTERNAL, "the host cannot watch the connection");
            blocked_ = true;
            return;
        }
        if (put < 0) {
            // The reading side tells why: an exit code says more than a broken pipe. If it has nothing
            // to say, the end of input ends the channel all the same.
            return stop_writing();
        }
        written_ += static_cast<std::size_t>(put);
        while (!queue_.empty() && written_ >= queue_.front().body.size() + 1) {
            const auto size = queue_.front().body.size() + 1;
            const auto exchange = queue_.front().exchange;
            written_ -= size;
            queued_bytes_ -= size;
            queue_.pop_front();
            sink_.done(exchange);
        }
    }
    if (std::exchange(blocked_, false) && write_watch_) reactor_->modify(host_, write_watch_, 0);
    if (told_pause_ && queued_bytes_ < kLowMark) {
        told_pause_ = false;
        sink_.writable();
    }
}

void LineStream::stop_writing() {
    if (write_watch_) reactor_->cancel(host_, std::exchange(write_watch_, 0));
    const bool shared = writing_ == reading_;
    if (writing_ >= 0 && !shared) ::close(writing_);
    if (writing_ >= 0 && shared) ::shutdown(writing_, SHUT_WR);
    writing_ = -1;
    blocked_ = false;
    for (auto& queued : std::exchange(queue_, {})) {
        const bool begun = std::exchange(written_, 0) > 0;
        sink_.done(queued.exchange, PATCHBAY_E_CLOSED, "the connection closed before the message was sent",
                   begun ? 0 : PATCHBAY_ERR_NOT_SENT);
    }
    queued_bytes_ = 0;
}

void LineStream::drain() {
    if (reading_ < 0 || !read_watch_) return;
    while (!paused_ && !failed_ && read_once()) deliver();
}

void LineStream::stop() {
    if (read_watch_) reactor_->cancel(host_, std::exchange(read_watch_, 0));
    stop_writing();
    if (reading_ >= 0) ::close(std::exchange(reading_, -1));
    failed_ = true;
}

void LineStream::fail(patchbay_status code, const std::string& text) {
    if (failed_) return;
    failed_ = true;
    if (read_watch_) reactor_->cancel(host_, std::exchange(read_watch_, 0));
    listener_.broken(code, text);
}

}  // namespace patchbay::transport
