#include "listener.hpp"

namespace patchbay::http {

Listener::Listener(HttpTransport& transport)
    : Task(transport.endpoint_.url),
      transport_(transport),
      session_(transport.session_),
      parser_(transport.core_.message_bytes()) {
    request.method = "GET";
    request.headers.set("Accept", "text/event-stream");
    if (!transport.last_event_.empty()) request.headers.set("Last-Event-ID", transport.last_event_);
    transport.add_session(request.headers, transport.protocol_);
    repeatable = true;
}

void Listener::prepare() {
    secrets = transport_.secrets(request.method, url);
}

net::Task::Take Listener::head(const net::Head& head) {
    transport_.release_held();
    const auto code = net::code_of_status(head.status);
    if (code == PATCHBAY_OK && head.media_type() == "text/event-stream") {
        transport_.listened_ = true;
        transport_.listen_pace_.began();
        return Take::Stream;
    }
    refusal_.emplace(net::Refusal{code, head, {}, url.text()});
    return Take::Whole;
}

void Listener::whole(std::string&& body) {
    refusal_->body = std::move(body);
    refusal_->cut = was_cut();
}

bool Listener::data(std::string_view& bytes) {
    heard_ = true;
    const bool fits = parser_.feed_some(bytes, [this](net::SseParser::Event&& event) {
        transport_.listen_retry_.succeeded();
        if (event.type != "message" || event.data.empty()) return true;
        return transport_.deliver(0, std::move(event.data));
    });
    if (!parser_.last_id().empty()) transport_.last_event_ = parser_.last_id();
    if (parser_.retry_ms() >= 0) transport_.listen_retry_ms_ = parser_.retry_ms();
    return fits;
}

void Listener::end(const net::Trouble* trouble) {
    auto& transport = transport_;
    if (transport.listener_.get() != this) return;  // another one has taken over
    const auto keep = std::exchange(transport.listener_, nullptr);
    transport.release_held();
    if (transport.closing_ || session_ != transport.session_) return;
    if (refusal_ && !comes_back()) return;
    if (trouble && trouble->code == PATCHBAY_E_DENIED) return;  // it is elsewhere, and stays there
    auto& pace = transport.listen_pace_;
    if (heard_ && transport.listen_retry_ms_ >= 0)
        return transport.listen(pace.pause(std::chrono::milliseconds(transport.listen_retry_ms_)));
    const auto asked = refusal_ ? net::retry_after(refusal_->head) : std::chrono::milliseconds(0);
    transport.listen(pace.pause(std::max(asked, *transport.listen_retry_.failed())));
}

// What the refusal means. True: the stream may be there later.
bool Listener::comes_back() {
    auto& transport = transport_;
    if (refusal_->code == PATCHBAY_E_AUTH) {
        transport.listen_challenged_ = true;
        net::tell_challenge(transport.core_.sink(), *refusal_);
        return false;
    }
    // Where there was a stream, 404 is about the session: a server that was restarted. Otherwise,
    // like 405, it says that there is no such stream, which is fine.
    if (transport.listened_ && names_lost_session(*refusal_, session_)) {
        refusal_->code = PATCHBAY_E_SESSION;
        net::tell_challenge(transport.core_.sink(), *refusal_);
        return false;
    }
    return net::may_pass(refusal_->head.status);
}

}  // namespace patchbay::http
