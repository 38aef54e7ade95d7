// The host's typed face of one open channel; the only class that calls through a transport's table.
//
// Owns:    the plugin's channel, from open() to destroy. Borrows `loop` and the events, which must
//          outlive it; the destructor abandons a channel that has not closed (leaks it on purpose,
//          events go nowhere).
// Threads: [loop]. Plugin events may come on any thread; they are queued and delivered on the loop
//          after the plugin's call has returned, in the order they came, never from inside one of
//          the calls below; a few in each turn, so that no server keeps the loop from the others.
// Errors:  open() fails with the plugin's text. A contract broken by the plugin (done twice, event
//          after closed) ends the channel with ErrorCode::Internal and marks the plugin as bad.
#pragma once

#include "core/buffer.hpp"
#include "core/limits.hpp"
#include "core/loop.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugin {

struct Header {
    std::string name, value;
    bool secret = false;
    bool environment = false;  // for a child's environment (PATCHBAY_KV_ENV)
    bool sign = false;         // each request asks for its own value (PATCHBAY_KV_SIGN)
};

enum class MessageKind { Request = 1, Notification = 2, Response = 3 };
enum class Flow { Ready, Paused };
using ExchangeId = std::uint64_t;  // never 0, never reused on one channel

// Why an exchange or a channel ended badly; patchbay_problem made safe to keep.
struct Problem {
    Error error;
    unsigned http_status = 0;
    int native_code = 0;
    bool retryable = false;
    bool not_sent = false;  // the peer has certainly not seen it
    unsigned retry_after_ms = 0;
    std::string url;
    std::vector<Header> headers;  // response headers
};

class Signer;  // see signer.hpp

class ChannelEvents {
public:
    virtual void on_opened() = 0;
    // `exchange` 0: the transport cannot tell which send this answers.
    virtual void on_message(ExchangeId exchange, core::Buffer body) = 0;
    // Null problem: went well.
    virtual void on_done(ExchangeId exchange, const Problem* problem) = 0;
    virtual void on_writable() = 0;
    virtual void on_challenge(const Problem& problem) = 0;
    virtual void on_output(unsigned stream, std::string_view line) = 0;  // PATCHBAY_OUTPUT_*
    virtual void on_fact(std::string_view name, std::string_view value) = 0;
    // The last event. Null problem: closed as asked.
    virtual void on_closed(const Problem* problem) = 0;

protected:
    ~ChannelEvents() = default;
};

struct OutgoingMessage {
    MessageKind kind = MessageKind::Request;
    ExchangeId exchange = 0;
    core::Buffer body;  // one compact JSON-RPC object without newline
    std::string_view method;
    std::string_view protocol;  // empty before initialize
    const std::vector<Header>* headers = nullptr;
    core::Clock::time_point deadline = core::Clock::time_point::max();
};

class Channel {
public:
    virtual ~Channel() = default;
    virtual Result<Flow> send(OutgoingMessage message) = 0;  // body is consumed in every case
    virtual void cancel(ExchangeId exchange) = 0;
    virtual void pause() = 0;  // answer PAUSE to further messages, until resume()
    virtual void resume() = 0;
    // From within on_message(): these were in it, and come next, each as a message of exchange 0.
    virtual void unfold(std::vector<core::Buffer> messages) = 0;
    virtual void settle(ExchangeId exchange) = 0;
    virtual void set_credentials(const std::vector<Header>& credentials) = 0;
    virtual void close() = 0;  // on_closed follows; twice is harmless
    // Inbound messages name their exchange and done ends a stream (PATCHBAY_CAP_EXCHANGE).
    virtual bool request_scoped() const = 0;
    // OutgoingMessage::headers reach the server (PATCHBAY_CAP_HEADERS).
    virtual bool takes_headers() const = 0;
};

struct ChannelOptions {
    std::string server;            // configured id, for messages
    boost::json::object settings;  // expanded
    std::vector<Header> credentials;
    std::size_t message_bytes = core::Limits{}.message_bytes;  // of one inbound message
    std::shared_ptr<Signer> signer;  // for credentials that say `sign`; may be null
};

}  // namespace patchbay::plugin
