// Streamable HTTP, both eras: one POST per message, the answer as JSON or as a stream of events.
//
//   2025-03-26 .. 2025-11-25  a session id kept and sent, a GET stream for what the server says by
//                             itself, a broken stream taken up again after its last event, DELETE
//   2026-07-28                no session: headers come from the host, cancel closes the stream
//
// Owns:    its exchanges, tasks and the connections of its engine.
// Threads: those of patchbay_transport; everything inside a turn of the core.
// Errors:  done() with what went wrong; the channel itself ends only when it is closed, or when
//          something of ours breaks.
// Limits:  the engine's: beyond them send() answers PAUSE until half of what waits is gone.
// Follows: MCP basic/transports of those revisions.
#pragma once

#include "held_calls.hpp"
#include "net/credentials.hpp"
#include "net/engine.hpp"
#include "session_stream.hpp"
#include "timer.hpp"

#include <memory>
#include <string>
#include <unordered_map>

namespace patchbay::http {

class HttpTransport final : public sdk::Channel,
                            private transport::ChannelCore::Owner,
                            private net::EngineOwner {
public:
    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override;
    void resume() override;
    void settle(std::uint64_t exchange) override;
    void set_credentials(const patchbay_kv* credentials, std::size_t count) override;
    void close() override;

private:
    friend class Exchange;
    friend class Inquiry;
    friend class Resumption;
    friend class SessionStream;
    friend class Farewell;

    HttpTransport(const patchbay_open_params& params, net::Endpoint endpoint);

    // The configuration's headers and the credentials, for one request.
    net::HeaderList secrets(std::string_view method, const net::Url& url) const;
    // Headers of every request of a session.
    void add_session(net::HeaderList& headers, std::string_view protocol) const;
    // False: the host wants no more for now.
    bool deliver(std::uint64_t exchange, std::string&& message);
    void session_started(std::string id);
    // The first GET of a session has its answer, or has had time enough for one.
    void release_held();
    void say_farewell();
    void finish(patchbay_status code = PATCHBAY_OK, std::string text = {});
    bool crowded();
    void broken(const std::string& why) override;
    void engine_has_room() noexcept override;
    // Streams whose answer has been read and that are still open: enough of them.
    void end_settled();
    void conclude_all(patchbay_status code, const std::string& text);
    void note_reached(const net::Trouble* trouble);
    static void on_close_posted(void* self) noexcept;

    transport::ChannelCore core_;
    const net::Endpoint endpoint_;
    net::Engine engine_;
    net::Credentials credentials_;
    std::unordered_map<std::uint64_t, std::shared_ptr<class Exchange>> exchanges_;
    std::string session_, protocol_;
    SessionStream stream_{*this};
    HeldCalls held_{core_, engine_, [this] { release_held(); }};
    bool crowded_ = false;  // PAUSE was answered to a send, and writable has not followed
    bool closing_ = false, troubled_ = false;
    transport::Timer patience_{core_, [this] { finish(); }};
    transport::Timer linger_{core_, [this] { end_settled(); }};
};

}  // namespace patchbay::http
