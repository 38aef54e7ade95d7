// One message on its way to the server and what comes back for it, over one request or, when its
// stream breaks and the server can take it up again, several. The message itself is never sent
// again once the server has accepted it: what becomes of the GETs that follow says nothing of it. Nor
// is it because of an answer that may be nobody's, before a probe has told whose it was.
// Private to the http plugin.
//
// Threads: inside a turn of the core.
#pragma once

#include "http_transport.hpp"
#include "net/pace.hpp"
#include "net/probe.hpp"
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
    bool follows() const override { return !reused(); }
    std::size_t body_limit() const override;
    bool body_may_be_cut() const override { return refusal_.has_value(); }
    void whole(std::string&& body) override;
    bool data(std::string_view& bytes) override;
    void end(const net::Trouble* trouble) override;
    // What answers a request is the host's to read. Only of a refusal for its credentials the
    // connection is kept all the same: when a token ends many callers are refused at once.
    std::uint64_t unproven() const override {
        const bool refused = refusal_ && refusal_->code == PATCHBAY_E_AUTH;
        return net::is_doubtful(*this, refusal_) || (is_request_ && !settled_ && !refused) ? id_
                                                                                           : 0;
    }

    // It is over for the host; what still comes is dropped.
    void conclude(patchbay_status code, std::string_view text, std::uint32_t flags = 0);
    // The same, and says whether the server can have it.
    void end_early(patchbay_status code, std::string_view text);
    void settle();
    bool over() const { return over_; }
    bool settled() const { return settled_; }

private:
    friend class Resumption;
    friend class Inquiry;
    void refused();
    void inquire();
    void inquired(const net::Trouble* trouble, bool own, bool heard);
    bool event(net::SseParser::Event&& event);  // false: the host wants no more for now
    void resumption_ended(const net::Trouble* trouble, const net::Refusal* refusal);
    bool take_up_again(const net::Trouble* trouble, const net::Refusal* refusal);
    void conclude_stream();
    bool try_again(const net::Trouble& trouble);
    void launch(std::chrono::milliseconds delay, std::shared_ptr<net::Task> task);

    HttpTransport& transport_;
    const std::uint64_t id_;
    const bool is_request_;
    const sdk::Body body_;
    const std::string method_, protocol_;
    const std::string session_;  // it was sent with
    net::SseParser parser_;
    net::Pace pace_;
    std::optional<net::Refusal> refusal_;
    std::optional<net::Trouble> trouble_;  // ours
    std::shared_ptr<net::Task> current_;   // that carries it on, when it is not this one
    transport::Retry retry_ = transport::kUntilItListens;
    unsigned resumptions_ = 0;
    bool over_ = false, settled_ = false, streaming_ = false;
    bool accepted_ = false;  // with a 2xx head: the server has it
};

}  // namespace patchbay::http
