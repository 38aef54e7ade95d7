// The opening handshake of a WebSocket on a connection that is up: subprotocol "mcp", no extension.
//
// Threads: a worker: it waits for the answer, and a Fuse that ends the connection ends it.
// Errors:  net::Trouble (E_PROTOCOL); net::Refusal for an answer that is an error of HTTP's.
// Limits:  kHeadLimit for the answer, and a second for every 16 KiB of it; HeadParser's.
// Follows: RFC 6455 sections 4.1 and 4.2.2.
#pragma once

#include "net/byte_stream.hpp"
#include "net/head_parser.hpp"
#include "net/url.hpp"

#include <chrono>
#include <string>

namespace patchbay::ws {

class Handshake {
public:
    static constexpr std::chrono::seconds kHeadLimit{30};

    // With a key of its own.
    explicit Handshake(const net::Url& url);

    // Asks on `stream`, with `fields` beside those of the handshake. What came behind the answer:
    // the first frames.
    std::string perform(net::ByteStream& stream, const net::HeaderList& fields,
                        std::chrono::milliseconds limit = kHeadLimit) const;

    std::string request(const net::HeaderList& fields) const;
    // Throws for an answer that does not open a WebSocket, or not as it was asked for.
    void judge(const net::Head& answer) const;

private:
    const net::Url& url_;
    const std::string key_;
};

}  // namespace patchbay::ws
