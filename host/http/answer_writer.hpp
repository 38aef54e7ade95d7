// The answers of one connection as the bytes that go out: heads, chunks, and what of them the client has
// not taken. Internal to this room.
//
// Threads: [value].
// Limits:  none of its own: who answers looks at size().
// Source:  RFC 9112.
#pragma once

#include "http/exchange.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::http {

class AnswerWriter {
public:
    static constexpr std::size_t kPiecesAtOnce = 16;

    // How the next answer is written: in chunks where its length is not known, without its body to HEAD.
    void shape(bool chunked, bool head_only) {
        chunked_ = chunked;
        head_only_ = head_only;
    }
    void head_only(bool is) { head_only_ = is; }
    bool chunked() const { return chunked_; }

    void answer(unsigned status, const Headers& headers, bool keep, std::string body);
    void begin(const Headers& headers, bool keep);
    void write(std::string_view bytes);
    void end();
    void go_on() { put("HTTP/1.1 100 Continue\r\n\r\n"); }

    bool empty() const { return out_.empty(); }
    std::size_t size() const { return bytes_ - begin_; }
    // The next pieces to go, good until the next call of another function.
    using Pieces = std::array<std::string_view, kPiecesAtOnce>;
    std::span<const std::string_view> pieces(Pieces& room) const;
    void taken(std::size_t count);
    void clear();

private:
    void put(std::string bytes);

    std::vector<std::string> out_;       // none is small but the last
    std::size_t bytes_ = 0, begin_ = 0;  // begin: in the first of them
    bool chunked_ = true, head_only_ = false;
};

}  // namespace patchbay::http
