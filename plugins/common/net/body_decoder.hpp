// The body of an HTTP/1.1 answer out of the bytes of its connection, cut anywhere: by length,
// chunked, or to the end of the connection; gzip undone on the way. No I/O.
//
// Poco's own streams wait for the next chunk when they are asked whether there is one, and cannot
// tell the last chunk from a connection that broke.
//
// Threads: [value]. Errors: Trouble(E_PROTOCOL) for nonsense, E_LIMIT for what expands beyond the
// limit, E_CLOSED for an end too early.
// Limits:  a line of a chunk or trailer kLineBytes, trailers kTrailerLines.
// Follows: RFC 9112 sections 6 and 7.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::net {

struct Head;
struct Trouble;

class BodyDecoder {
public:
    static constexpr std::size_t kLineBytes = 4096, kTrailerLines = 100;

    // From the header of the answer. Two lengths, and what is neither chunked nor a number, make
    // a body that cannot be read.
    explicit BodyDecoder(const Head& head);
    ~BodyDecoder();

    // Throws when the header makes the body one that cannot be read.
    void check() const;

    // Appends what `bytes` hold of the body to `into`, which may grow to `most`; stops when it has
    // `enough`, plus what one step unpacks (a quarter of a megabyte at most). How many bytes were taken. What
    // follows the end of the body is counted by surplus().
    std::size_t feed(std::string_view bytes, std::string& into, std::size_t most,
                     std::size_t enough = SIZE_MAX);
    // The connection ended.
    void finish();
    // Of a body that is over: it was packed, and what it was packed into has no end. Nothing can be
    // fed behind it.
    bool torn();

    bool over() const { return state_ == State::Over; }
    // The connection may carry another answer: the body had an end of its own.
    bool delimited() const { return kind_ != Kind::UntilClose; }
    std::size_t surplus() const { return surplus_; }

private:
    enum class Kind { Length, Chunked, UntilClose };
    enum class State { Data, SizeLine, DataEnd, Trailer, Over };

    void read(const Head& head);
    void take(std::string_view& bytes, std::string& into, std::size_t most);
    void take_line(char byte);
    void append(std::string_view data, std::string& into, std::size_t most);

    struct Gunzip;
    Kind kind_ = Kind::UntilClose;
    State state_ = State::Data;
    std::uint64_t left_ = 0;  // of the body, or of the chunk
    std::string line_;
    std::size_t trailers_ = 0, surplus_ = 0;
    std::unique_ptr<Gunzip> gunzip_;
    std::unique_ptr<Trouble> unreadable_;
};

}  // namespace patchbay::net
