#include "session_stream.hpp"

#include "exchange.hpp"
#include "net/sse_parser.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::http {

class SessionStream::Get final : public net::Task {
public:
    explicit Get(SessionStream& stream)
        : Task(stream.transport_.endpoint_.url),
          stream_(stream),
          transport_(stream.transport_),
          session_(transport_.session_),
          parser_(transport_.core_.message_bytes()) {
        request.method = "GET";
        request.headers.set("Accept", "text/event-stream");
        if (!stream.last_event_.empty()) request.headers.set("Last-Event-ID", stream.last_event_);
        transport_.add_session(request.headers, transport_.protocol_);
        repeatable = true;
    }

    void prepare() override { secrets = transport_.secrets(request.method, url); }
    Take head(const net::Head& head) override {
        transport_.release_held();
        const auto code = net::code_of_status(head.status);
        if (code == PATCHBAY_OK && head.media_type() == "text/event-stream") {
            stream_.opened_ = true;
            stream_.pace_.began(transport_.core_.now());
            return Take::Stream;
        }
        refusal.emplace(net::Refusal{code, head, {}, url.text()});
        return Take::Whole;
    }
    bool body_may_be_cut() const override { return refusal.has_value(); }
    void whole(std::string&& body) override {
        refusal->body = std::move(body);
        refusal->cut = was_cut();
    }
    bool data(std::string_view& bytes) override {
        heard = true;
        const bool fits = parser_.feed_some(bytes, [this](net::SseParser::Event&& event) {
            stream_.retry_.succeeded();
            if (event.type != "message" || event.data.empty()) return true;
            return transport_.deliver(0, std::move(event.data));
        });
        if (!parser_.last_id().empty()) stream_.last_event_ = parser_.last_id();
        if (parser_.retry_ms() >= 0) stream_.retry_ms_ = parser_.retry_ms();
        return fits;
    }
    void end(const net::Trouble* trouble) override {
        if (stream_.current_.get() != this) return;  // another one has taken over
        const auto keep = std::exchange(stream_.current_, nullptr);
        transport_.release_held();
        if (transport_.closing_ || session_ != transport_.session_) return;
        if (refusal && !stream_.comes_back(*refusal, session_)) return;
        if (const auto pause = stream_.pause_after(*this, trouble)) stream_.open(*pause);
    }

    std::optional<net::Refusal> refusal;
    bool heard = false;

private:
    SessionStream& stream_;
    HttpTransport& transport_;
    const std::string session_;
    net::SseParser parser_;
};

void SessionStream::open(std::chrono::milliseconds delay) {
    if (transport_.closing_ || current_) return;
    current_ = std::make_shared<Get>(*this);
    if (delay.count() > 0)
        transport_.engine_.start_after(delay, current_);
    else
        transport_.engine_.start(current_);
}

void SessionStream::restart() {
    last_event_.clear();
    retry_.succeeded();
    opened_ = false;
    close();
}

void SessionStream::close() {
    if (const auto old = std::exchange(current_, nullptr)) old->blow();
}

void SessionStream::credentials_changed() {
    if (std::exchange(challenged_, false)) open(pace_.pause({}, transport_.core_.now()));
}

std::optional<std::chrono::milliseconds> SessionStream::pause_after(const Get& ended,
                                                                    const net::Trouble* trouble) {
    if (trouble && trouble->code == PATCHBAY_E_DENIED)
        return {};  // it is elsewhere, and stays there
    const auto now = transport_.core_.now();
    if (ended.heard && retry_ms_ >= 0)
        return pace_.pause(std::chrono::milliseconds(retry_ms_), now);
    const auto asked =
        ended.refusal ? net::retry_after(ended.refusal->head) : std::chrono::milliseconds(0);
    return pace_.pause(std::max(asked, *retry_.failed()), now);
}

bool SessionStream::comes_back(net::Refusal& refusal, std::string_view session) {
    const auto& sink = transport_.core_.sink();
    if (refusal.code == PATCHBAY_E_AUTH) {
        challenged_ = true;
        net::tell_challenge(sink, refusal);
        return false;
    }
    // Where there was a stream, 404 is about the session: a server that was restarted. Otherwise,
    // like 405, it says that there is no such stream, which is fine.
    if (opened_ && names_lost_session(refusal, session)) {
        refusal.code = PATCHBAY_E_SESSION;
        net::tell_challenge(sink, refusal);
        return false;
    }
    return net::may_pass(refusal.head.status);
}

}  // namespace patchbay::http
