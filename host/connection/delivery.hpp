// How what we say to a server leaves: the words of a message and its headers, its number on the wire,
// its way through the outbox. Notes at a request how far it has got.
//
// Owns:    the outbox. Borrows all it is given.
// Threads: [loop].
// Errors:  of a request that cannot leave, by its owner; of a server that takes nothing, by lose().
// Limits:  those of Outbox.
// Source:  MCP basic/transports, basic/utilities/cancellation.
#pragma once

#include "connection/context.hpp"
#include "connection/credentials.hpp"
#include "connection/link.hpp"
#include "connection/outbox.hpp"
#include "connection/own_requests.hpp"
#include "connection/pending_requests.hpp"
#include "connection/tool_list.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {

// The tool that a tools/call is for; empty: it names none.
std::string tool_called(const protocol::Params& params);

class DeliveryOwner {
public:
    // No server has it any more, and it may go out in the next session.
    virtual void wait_for_session(RequestId id) = 0;
    // With this error, unless it has ended meanwhile; after whoever is calling.
    virtual void finish_later(RequestId id, Error error) = 0;
    // An answer of ours to the server was not taken by the transport.
    virtual void on_answer_not_taken(RequestId exchange) = 0;

protected:
    ~DeliveryOwner() = default;
};

class Delivery final : private OutboxOwner {
public:
    struct Parts {
        const config::Server& server;
        const Credentials& credentials;
        const ToolList& tools;
        Link& link;
        PendingRequests& pending;
        DeliveryOwner& owner;
        Loss& loss;
    };
    Delivery(core::Loop& loop, const core::Limits& limits, const Parts& parts);

    // Once more too: under the number on the wire that it has now.
    void send(RequestId id, PendingRequest& entry);
    void notify(std::string_view method, std::string_view members);
    void respond(RequestId exchange, std::string body);
    // The server need not go on with what it has; it says nothing of a request that it never got.
    void tell_cancelled(const PendingRequest& entry, std::string_view reason);
    // A request that ends has not left, or not yet.
    void take_back(const PendingRequest& entry);
    void writable() { outbox_.writable(); }
    void clear() { outbox_.clear(); }  // the channel is gone

    // An id for something on the wire; ascending.
    RequestId next_id() { return ++last_id_; }
    RequestId last_id() const { return last_id_; }

private:
    std::string words_of(const PendingRequest& entry);
    // Good until it is called again.
    std::string_view meta_with(std::string_view own, const std::string& capabilities);
    void forward(const Request& request, std::vector<plugin::Header>& headers) const;
    Result<void> headers_for(const Request& request, std::vector<plugin::Header>& headers) const;
    void on_queued(RequestId exchange, std::uint64_t place) override;
    void on_leaving(RequestId exchange) override;
    void on_not_taken(plugin::MessageKind kind, RequestId exchange, Error error) override;
    void on_overflow(Error error) override { parts_.loss.lose(std::move(error)); }

    const core::Limits& limits_;
    const Parts parts_;
    Outbox outbox_;
    RequestId last_id_ = 0;
    // A client says the same of itself with each of its requests: the last one's is kept.
    struct {
        std::string own, capabilities, both;
    } meta_;
};

}  // namespace patchbay::connection
