// What comes of a client's requests.
//
// Threads: [loop].
#pragma once

#include "connection/reply.hpp"
#include "gateway/client_requests.hpp"

#include <string>

namespace patchbay::gateway {

// How a request ends. Whoever is told may find that it has ended already.
class Replies {
public:
    virtual void reply(RequestNumber request, std::string raw_result) = 0;
    virtual void refuse(RequestNumber request, const Error& error) = 0;
    virtual void pass_on(RequestNumber request, Result<connection::Reply> reply) = 0;
    virtual void tell_progress(RequestNumber request, const connection::Progress& progress) = 0;

protected:
    ~Replies() = default;
};

}  // namespace patchbay::gateway
