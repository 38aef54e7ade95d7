// HTTP with SSE, the transport of 2024-11-05: a GET stream that first names an endpoint and then
// carries everything the server says; one POST for each message to that endpoint.
//
// Owns:    its tasks and the connections of its engine.
// Threads: those of patchbay_transport; everything inside a turn of the core.
// Limits:  the engine's: beyond them send() answers PAUSE until half of what waits is gone.
// Errors:  a POST's in its done(); the stream's end is the channel's, and the host opens another.
// Follows: MCP 2024-11-05 basic/transports. The endpoint must be of the same origin.
#pragma once

#include "net/credentials.hpp"
#include "net/engine.hpp"
#include "net/refusal.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace patchbay::sse {

class SseTransport final : public sdk::Channel,
                           private transport::ChannelCore::Owner,
                           private net::EngineOwner {
public:
    static std::unique_ptr<sdk::Channel> open(const patchbay_open_params& params);

    patchbay_status send(const patchbay_message& message, sdk::Body body) override;
    void cancel(std::uint64_t exchange) override;
    void resume() override;
    void set_credentials(const patchbay_kv* credentials, std::size_t count) override;
    void close() override;

private:
    friend class Stream;
    friend class Post;

    SseTransport(const patchbay_open_params& params, net::Endpoint endpoint);

    net::HeaderList secrets(std::string_view method, const net::Url& url) const;
    void stream_event(const std::string& type, std::string&& data);
    // The channel is over; with a refusal, for its reason.
    void give_up(patchbay_status code, std::string text, std::uint32_t flags = 0,
                 std::optional<net::Refusal> refusal = std::nullopt);
    void broken(const std::string& why) override;
    void engine_has_room() noexcept override;
    static void on_posted(void* self) noexcept;

    transport::ChannelCore core_;
    const net::Endpoint endpoint_;
    net::Engine engine_;
    net::Credentials credentials_;
    std::shared_ptr<net::Task> stream_;
    std::optional<net::Url> messages_;  // where POSTs go, once the server has said
    std::unordered_map<std::uint64_t, std::shared_ptr<class Post>> posts_;
    bool inquired_ = false;  // an answer on the stream may be a probe's
};

}  // namespace patchbay::sse
