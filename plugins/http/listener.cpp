#include "listener.hpp"

namespace patchbay::http {
namespace {

constexpr std::chrono::milliseconds kPause{1000}, kMostPause{30'000};

}  // namespace

Listener::Listener(HttpTransport& transport)
    : Task(transport.endpoint_.url),
      transport_(transport),
      session_(transport.session_),
      parser_(transport.core_.message_bytes()) {
    request.method = "GET";
    request.headers.set("Accept", "text/event-stream");
    if (!transport.last_event_.empty()) request.headers.set("Last-Event-ID", transport.last_event_);
    transport.add_session(request.headers, transport.protocol_);
    secrets = transport.secrets();
    repeatable = true;
}

net::Task::Take Listener::head(const net::Head& head) {
    transport_.release_held();
    const auto code = net::code_of_status(head.status);
    if (code == PATCHBAY_OK && head.media_type() == "text/event-stream") return Take::Stream;
    refusal_.emplace(net::Refusal{code, head, {}, url.text()});
    return Take::Whole;
}

void Listener::whole(std::string&& body) {
    refusal_->body = std::move(body);
}

bool Listener::data(std::string_view bytes) {
    heard_ = true;
    const bool fits = parser_.feed(bytes, [this](net::SseParser::Event&& event) {
        transport_.listen_failures_ = 0;
        if (event.type == "message" && !event.data.empty())
            transport_.deliver(0, std::move(event.data));
    });
    if (!parser_.last_id().empty()) transport_.last_event_ = parser_.last_id();
    if (parser_.retry_ms() >= 0) transport_.listen_retry_ms_ = parser_.retry_ms();
    return fits;
}

void Listener::end(const net::Trouble*) {
    auto& transport = transport_;
    if (transport.listener_.get() != this) return;  // another one has taken over
    const auto keep = std::exchange(transport.listener_, nullptr);
    transport.release_held();
    if (transport.closing_ || session_ != transport.session_) return;
    if (refusal_) {
        // 405 and its like: the server has no such stream, which is fine. A lost session is found
        // by the next message.
        if (refusal_->code != PATCHBAY_E_AUTH) {
            if (refusal_->head.status < 500) return;
        } else {
            transport.listen_challenged_ = true;
            return net::tell_challenge(transport.core_.sink(), *refusal_);
        }
    }
    if (heard_ && transport.listen_retry_ms_ >= 0)
        return transport.listen(std::chrono::milliseconds(transport.listen_retry_ms_));
    const auto pause = kPause * (1u << std::min(transport.listen_failures_++, 5u));
    transport.listen(std::min<std::chrono::milliseconds>(pause, kMostPause));
}

}  // namespace patchbay::http
