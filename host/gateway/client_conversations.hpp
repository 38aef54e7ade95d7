// The conversations that one client has begun: no other may go on with them.
//
// Owns:    which they are. Borrows whom they are with.
// Threads: [loop].
// Errors:  NotFound: none of its own is called that. Unavailable: a reply is under way in it. Limit: a
//          text is too long.
// Limits:  kMost; one more and the oldest is ended. kTextBytes of what is said, either way.
#pragma once

#include "core/lifetime.hpp"
#include "gateway/conversations.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace patchbay::gateway {

class ClientConversations {
public:
    static constexpr std::size_t kMost = 100, kTextBytes = 256u << 10;

    // `with` null: there are none.
    explicit ClientConversations(Conversations* with) : with_(with) {}
    ~ClientConversations();  // ends them
    ClientConversations(const ClientConversations&) = delete;

    bool possible() const { return with_ != nullptr; }
    Result<service::Operation> start(const std::string& message, Conversations::Said said);
    Result<service::Operation> reply(const std::string& conversation, const std::string& message,
                                     Conversations::Said said);

private:
    struct Open {
        std::string name;
        std::weak_ptr<void> reply;  // that is under way
    };
    Conversations::Said noting(Conversations::Said said);
    std::deque<Open>::iterator find(const std::string& name);

    Conversations* const with_;
    std::deque<Open> open_;  // from the one in which nothing was said for longest
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
