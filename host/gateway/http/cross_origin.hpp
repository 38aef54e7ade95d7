// What pages of the web need to read an answer: a browser asks beforehand what it may send, and keeps from the
// page what the answer does not name. Which pages may come says the door.
//
// Owns:    nothing. Borrows the handler of all requests, which must outlive it.
// Threads: [loop].
// Errors:  none of its own: whom the door refuses the handler refuses.
// Source:  WHATWG Fetch "CORS protocol"; MCP basic/transports for the names of the headers.
#pragma once

#include "gateway/http/door.hpp"

#include <memory>

namespace patchbay::gateway {

class CrossOrigin final : public http::Handler {
public:
    CrossOrigin(Door door, http::Handler& others) : door_(std::move(door)), others_(others) {}

    // A preflight is answered here, before anybody asks for a token: browsers send none with it.
    void on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) override;

private:
    const Door door_;
    http::Handler& others_;
};

}  // namespace patchbay::gateway
