// What a client is told of the servers as a whole: what each says of itself, below its name.
//
// A model reads all of it as one text, in which a server could write the name of another one above words
// of its own. So each line of a server is quoted, and no other line begins as one does that a server said.
//
// Threads: [loop].
// Limits:  kServerBytes of each server, and of what the agent is told.
#pragma once

#include "connection/connection_pool.hpp"
#include "gateway/view.hpp"
#include "router/router.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class Instructions {
public:
    static constexpr std::size_t kServerBytes = 2'048;

    // Borrows all of it. `client`: whose connections are asked.
    Instructions(const connection::ConnectionPool& pool, const router::Router& router,
                 const View& view, connection::CallerNumber client)
        : pool_(pool), router_(router), view_(view), client_(client) {}

    // Of the servers that are there by now or have said so to an earlier host. Empty: none says any.
    std::string text() const;

private:
    std::string said_by(const std::string& server) const;

    const connection::ConnectionPool& pool_;
    const router::Router& router_;
    const View& view_;
    const connection::CallerNumber client_;
};

// The section of one of several servers; `said` is anything. It ends without a line's end.
std::string section_of(std::string_view server, std::string_view said);

}  // namespace patchbay::gateway
