// Reads what a server says in JSON-RPC, and hands it to who waits for it: answers, notifications,
// requests of its own, and what is none of these. Knows messages; of channels Reception knows.
//
// Threads: [loop]. Borrows all it is given.
// Errors:  a broken message ends the request that it names, and the connection when it names none.
// Limits:  core::Limits json_depth, batch_items.
#pragma once

#include "connection/context.hpp"
#include "connection/input_rounds.hpp"
#include "connection/link.hpp"
#include "connection/notifications.hpp"
#include "connection/refusals.hpp"
#include "connection/requests.hpp"
#include "connection/server_name.hpp"
#include "connection/server_questions.hpp"
#include "connection/tool_list.hpp"
#include "protocol/envelope.hpp"

#include <cstdint>
#include <string_view>

namespace patchbay::connection {

class InboundOwner {
public:
    // A line that is no message.
    virtual void on_stray(std::string_view line) = 0;
    virtual void on_malformed(const Error& error) = 0;

protected:
    ~InboundOwner() = default;
};

class Inbound {
public:
    struct Parts {
        const ServerName& name;
        Link& link;
        Requests& requests;
        ServerQuestions& questions;
        Notifications& notifications;
        Addressees& addressees;
        ToolList& tools;
        Refusals& refusals;
        InboundOwner& owner;
        Loss& loss;
    };
    Inbound(const Context& context, const Parts& parts);

    // `exchange` 0: the transport cannot tell which request it is about.
    void message(plugin::ExchangeId exchange, core::Buffer body);

    std::uint64_t malformed() const { return malformed_; }
    std::uint64_t late_answers() const { return late_answers_; }

private:
    void batch(std::string_view text);
    void broken(std::string_view text, const Error& error, plugin::ExchangeId exchange);
    void answer(const protocol::Envelope& envelope, plugin::ExchangeId exchange, core::Buffer body);
    void unasked(const protocol::Envelope& envelope, std::optional<std::int64_t> wire_id,
                 std::string_view text);
    void error(RequestId id, const protocol::Envelope& envelope, core::Buffer&& body);
    void finish(RequestId id, const protocol::Envelope& envelope, core::Buffer&& body);
    void request(const protocol::Envelope& envelope, plugin::ExchangeId stream);
    void notification(const protocol::Envelope& envelope, plugin::ExchangeId exchange);
    void cancelled(std::string_view params);
    void progress(std::string_view params);

    const Context& context_;
    const Parts parts_;
    PendingRequests& pending_;
    InputRounds rounds_;
    std::uint64_t malformed_ = 0, late_answers_ = 0;
};

}  // namespace patchbay::connection
