// Where the host that embeds the gateway is an agent itself, a client may talk with it, by the host tools
// start_conversation and reply. The embedder implements this; `patchbay serve` has none.
//
// Threads: [loop]. `said` is called at most once, never from inside the call that was given it, and not
//          any more once what was returned, which is not null, has been dropped: its client has
//          cancelled it, or gone.
// Limits:  ClientConversations: how many a client has, and how long what is said may be.
#pragma once

#include "core/result.hpp"
#include "service/operation.hpp"

#include <functional>
#include <string>

namespace patchbay::gateway {

class Conversations {
public:
    struct Turn {
        // Its name, of the embedder's making and of no other one. Hard to guess: modern clients of one
        // guest share a session over HTTP, and are told apart by nothing else.
        std::string conversation;
        std::string text;
        bool over = false;  // nothing more can be said in it
    };
    using Said = std::function<void(Result<Turn>)>;

    virtual ~Conversations() = default;
    virtual service::Operation start(const std::string& message, Said said) = 0;
    // In one that was started, is not over, and has no other reply under way.
    virtual service::Operation reply(const std::string& conversation, const std::string& message,
                                     Said said) = 0;
    // Nobody will say anything more in it. Not called of one that is over.
    virtual void end(const std::string& conversation) = 0;
};

}  // namespace patchbay::gateway
