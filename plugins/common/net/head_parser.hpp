// The head of an HTTP/1 answer out of the bytes of its connection, cut anywhere: status line and
// header fields. Interim answers (100, 103) are passed over. No I/O.
//
// Threads: [value]. Errors: Trouble(E_CLOSED) for what is not HTTP, or too much of it; the parser
// is of no use afterwards.
// Limits:  kMostFields fields of kNameBytes and kValueBytes, a line kLineBytes, kMostInterim.
// Follows: RFC 9112 sections 3 to 5.
#pragma once

#include "net/header_list.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::net {

struct Head {  // of a response
    int status = 0;
    std::string reason;
    std::vector<HeaderList::Field> fields;  // as they came, repeated ones included
    bool persistent = true;                 // the version keeps connections unless it says so

    std::string_view value(std::string_view name) const;  // of the first; empty: none
    std::string media_type() const;                       // lower case, without parameters
    // The server keeps the connection, for all that its head says.
    bool keeps() const;
    // For how long it says that it keeps it without a request; none: it does not say.
    std::optional<std::chrono::seconds> keep_alive() const;
};

class HeadParser {
public:
    static constexpr std::size_t kMostFields = 100, kMostInterim = 10;
    static constexpr std::size_t kNameBytes = 256, kValueBytes = 8192;
    static constexpr std::size_t kLineBytes = kNameBytes + kValueBytes;

    // Takes off the front of `bytes` what belongs to the head. True: it is complete, take() it.
    bool feed(std::string_view& bytes);
    // The connection ended. Refuses an answer that had begun.
    void finish() const;
    // Some of it has come.
    bool begun() const { return begun_; }
    Head take();

private:
    bool take_line(std::string_view line);  // true: the last one
    void take_status(std::string_view line);
    void take_field(std::string_view line);
    void unfold(std::string_view line);

    std::string line_;  // its beginning
    Head head_;
    std::size_t interim_ = 0;
    bool begun_ = false;
};

}  // namespace patchbay::net
