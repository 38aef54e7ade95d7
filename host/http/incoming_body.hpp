// The body of the request that a connection is at: whether anybody has wanted it yet, who waits for it,
// and its share of what all connections of a server may hold of bodies at once. Decides without I/O.
//
// Owns:    its share, which is given back as it shrinks or goes. Borrows the reader and the sum.
// Threads: [loop].
// Limits:  all_body_bytes together; own_bytes each has in any case, so that who sends little gets through.
#pragma once

#include "http/request_reader.hpp"
#include "http/server.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace patchbay::http {

class IncomingBody {
public:
    using Taker = std::function<void(std::string)>;

    IncomingBody(RequestReader& reader, const Limits& limits, std::size_t& of_all)
        : reader_(reader), limits_(limits), of_all_(of_all) {}
    ~IncomingBody() { of_all_ -= counted_; }
    IncomingBody(const IncomingBody&) = delete;

    void expect() { due_ = true; }  // a head is read
    bool is_due() const { return due_; }
    bool is_wanted() const { return bool(taker_); }
    void want(Taker taker) { taker_ = std::move(taker); }
    // What has been read by now. False: with this one all have become too many bytes.
    bool count();
    void hand_over();  // it is whole, and wanted
    // Before an answer begins: what has not come by now is not waited for. False: what still comes of it
    // would be taken for the next request.
    bool forgo();
    void drop();  // nobody gets it

private:
    RequestReader& reader_;
    const Limits& limits_;
    std::size_t& of_all_;
    std::size_t counted_ = 0;
    bool due_ = false;  // nobody has taken it yet
    Taker taker_;
};

}  // namespace patchbay::http
