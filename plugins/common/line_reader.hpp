// Cuts a byte stream into lines without copying: bytes are read into a counted chunk, each line is
// handed on as a slice of it. No I/O here.
//
// Owns:    the chunk, together with the slices that look into it; the last one frees it.
// Threads: [value]; a slice may be released on any thread.
// Limits:  `most` bytes a line, as given. One chunk of 64 KiB, of 256 while the last line was about as long
// as that or longer, larger only while a larger line is in it.
#pragma once

#include <patchbay/plugin.h>

#include <cstddef>
#include <string_view>

namespace patchbay::transport {

class LineReader {
public:
    explicit LineReader(std::size_t most) : most_(most) {}
    ~LineReader();
    LineReader(const LineReader&) = delete;

    struct Room {
        char* data;
        std::size_t size;
    };
    // Where the next bytes belong; never empty. Invalidates lines, not slices. May throw bad_alloc.
    Room room();
    void filled(std::size_t size) { end_ += size; }

    // The next whole line without its end and without white space around it, into `line`; it may be
    // empty. False: none is complete. Searches every byte once.
    bool next(std::string_view& line);
    // A line may not become this long.
    bool too_long() const { return end_ - begin_ > most_; }
    bool has_line();
    // What has been read of a line that is not complete.
    std::string_view rest() const;

    // `line`, which next() has just given, as a body of its own.
    patchbay_buf slice(std::string_view line);

private:
    struct Chunk;

    const std::size_t most_;
    Chunk* chunk_ = nullptr;
    std::size_t begin_ = 0;    // of the line in progress
    std::size_t scanned_ = 0;  // no newline from begin_ up to here
    std::size_t end_ = 0;      // of what was read
    std::size_t last_ = 0;     // bytes of the last whole line
};

}  // namespace patchbay::transport
