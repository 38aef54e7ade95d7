// One message on its way to the server and what comes back for it, over one request or, when its
// stream breaks and the server can take it up again, several. Private to the http plugin.
#pragma once

#include "http_transport.hpp"
#include "net/refusal.hpp"
#include "net/sse_parser.hpp"

#include <optional>

namespace patchbay::http {

// The server has forgotten the session that the refused request named.
bool names_lost_session(const net::Refusal& refusal, std::string_view session);

class Exchange final : public net::Task {
public:
    Exchange(HttpTransport& transport, const patchbay_message& message, sdk::Body body);

    void prepare() override;
    Take head(const net::Head& head) override;
    std::size_t body_limit() const override;
    void whole(std::string&& body) override;
    bool data(std::string_view bytes) override;
    void end(const net::Trouble* trouble) override;

    // It is over for the host; what still comes is dropped.
    void conclude(patchbay_status code, std::string_view text, std::uint32_t flags = 0);
    void settle();
    bool over() const { return over_; }
    bool settled() const { return settled_; }

private:
    friend class Resumption;
    void event(net::SseParser::Event&& event);
    bool take_up_again(const net::Trouble* trouble);
    bool try_again(const net::Trouble& trouble);
    void launch(std::chrono::milliseconds delay, std::shared_ptr<net::Task> task);

    HttpTransport& transport_;
    const std::uint64_t id_;
    const sdk::Body body_;
    const std::string method_, protocol_;
    const std::string session_;  // it was sent with
    net::SseParser parser_;
    std::optional<net::Refusal> refusal_;
    std::optional<net::Trouble> trouble_;  // ours
    std::shared_ptr<net::Task> current_;   // that carries it on, when it is not this one
    unsigned attempts_ = 0, resumptions_ = 0;
    bool over_ = false, settled_ = false, streaming_ = false;
};

}  // namespace patchbay::http
