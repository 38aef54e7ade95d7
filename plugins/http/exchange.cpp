#include "exchange.hpp"

#include "ascii.hpp"
#include "net/methods.hpp"
#include "net/redirect.hpp"
#include "net/rpc_body.hpp"

#include <algorithm>

namespace patchbay::http {
namespace {

constexpr unsigned kMostResumptions = 10;  // without an event between them
constexpr std::chrono::milliseconds kResumeDelay{1000};
constexpr std::size_t kRefusalBytes = 64u << 10;

net::Trouble too_long_an_event(std::size_t most) {
    return {PATCHBAY_E_LIMIT, "the server sent an event of more than " + std::to_string(most) +
                                  " bytes (limit message_bytes)"};
}

// The refusal's body, when that is what the host should have: 401, 403 and a lost session are judged by
// the host, and a redirect is followed, whatever they say.
net::RpcBody rpc_answer(const net::Refusal& refusal) {
    const bool judged = refusal.code == PATCHBAY_E_AUTH || refusal.code == PATCHBAY_E_SESSION ||
                        net::is_redirect(refusal.head);
    return judged || refusal.cut ? net::RpcBody() : net::rpc_in(refusal.body);
}

}  // namespace

// 404; servers that keep the sessions of the TypeScript SDK in a table of their own, as its
// examples do, answer 400 with an error that is nobody's. One with an id answers that request,
// whatever words it uses.
bool names_lost_session(const net::Refusal& refusal, std::string_view session) {
    static constexpr std::string_view kWord = "session";
    const auto same = [](char a, char b) { return ascii::lower(a) == b; };
    const auto& body = refusal.body;
    if (session.empty() || refusal.head.status == 404) return !session.empty();
    const auto rpc = net::rpc_in(body);
    return refusal.head.status == 400 && !refusal.cut && rpc.is_error && rpc.id.empty() &&
           std::search(body.begin(), body.end(), kWord.begin(), kWord.end(), same) != body.end();
}

// Takes an exchange's stream up again after its last event, with a GET.
class Resumption final : public net::Task {
public:
    explicit Resumption(std::shared_ptr<Exchange> exchange)
        : Task(exchange->transport_.endpoint_.url), exchange_(std::move(exchange)) {
        auto& it = *exchange_;
        request.method = "GET";
        request.headers.set("Accept", "text/event-stream");
        request.headers.set("Last-Event-ID", it.parser_.last_id());
        it.transport_.add_session(request.headers, it.protocol_);
        repeatable = true;
    }

    void prepare() override { secrets = exchange_->transport_.secrets(request.method, url); }
    Take head(const net::Head& head) override {
        exchange_->transport_.note_reached(nullptr);
        const auto code = net::code_of_status(head.status);
        if (code == PATCHBAY_OK && head.media_type() == "text/event-stream") {
            exchange_->parser_.restart();
            exchange_->pace_.began(exchange_->transport_.core_.now());
            return Take::Stream;
        }
        refusal_.emplace(net::Refusal{code, head, {}, url.text()});
        return Take::Whole;
    }
    bool body_may_be_cut() const override { return true; }
    void whole(std::string&& body) override {
        if (refusal_) refusal_->body = std::move(body);
    }
    bool data(std::string_view& bytes) override { return exchange_->data(bytes); }
    std::uint64_t unproven() const override { return exchange_->unproven(); }
    void end(const net::Trouble* trouble) override {
        exchange_->resumption_ended(trouble, refusal_ ? &*refusal_ : nullptr);
    }

private:
    const std::shared_ptr<Exchange> exchange_;
    std::optional<net::Refusal> refusal_;
};

// Whether the refusal was the exchange's. What comes behind it is handed on as the exchange's answer.
class Inquiry final : public net::Probe {
public:
    explicit Inquiry(std::shared_ptr<Exchange> exchange)
        : Probe(*exchange), exchange_(std::move(exchange)) {}

    Take head(const net::Head& head) override {
        const auto type = head.media_type();
        const bool streams = type == "text/event-stream";
        own_ = net::code_of_status(head.status) != PATCHBAY_OK ||
               (!streams && type != "application/json");
        return own_ ? Take::Nothing : streams ? Take::Stream : Take::Whole;
    }
    std::size_t body_limit() const override { return exchange_->transport_.core_.message_bytes(); }
    void whole(std::string&& body) override {
        own_ = body.find_first_not_of(" \t\r\n") == body.npos;  // answers a call with nothing
        if (!own_) hand_on(std::move(body));
    }
    bool data(std::string_view& bytes) override {
        const bool fits = parser_.feed_some(bytes, [this](net::SseParser::Event&& event) {
            return event.type != "message" || hand_on(std::move(event.data));
        });
        if (!fits) throw too_long_an_event(body_limit());
        return !own_ && !exchange_->over_;
    }

private:
    void inquired(const net::Trouble* trouble) override {
        exchange_->inquired(trouble, own_, heard_);
    }
    // False: the host wants no more for now.
    bool hand_on(std::string&& message) {
        own_ = own_ || is_answered_by(message);
        if (own_ || message.empty()) return true;
        heard_ = true;
        return exchange_->transport_.deliver(exchange_->id_, std::move(message));
    }

    const std::shared_ptr<Exchange> exchange_;
    net::SseParser parser_{body_limit()};
    bool heard_ = false;
};

Exchange::Exchange(HttpTransport& transport, const patchbay_message& message, sdk::Body body)
    : Task(transport.endpoint_.url),
      transport_(transport),
      id_(message.exchange),
      is_request_(message.kind == PATCHBAY_MSG_REQUEST),
      body_(std::move(body)),
      method_(sdk::view(message.method)),
      protocol_(sdk::view(message.protocol)),
      session_(method_ == "initialize" ? std::string() : transport.session_),
      parser_(transport.core_.message_bytes()) {
    request.method = "POST";
    request.body = body_.view();
    request.has_body = true;
    request.headers.set("Content-Type", "application/json");
    request.headers.set("Accept", "application/json, text/event-stream");
    request.headers.set("Accept-Encoding", "gzip");
    request.headers.set_all(message.headers, message.header_count);
    if (method_ != "initialize") transport.add_session(request.headers, protocol_);
    repeatable = net::is_repeatable(method_);
}

void Exchange::prepare() {
    secrets = transport_.secrets(request.method, url);
}

net::Task::Take Exchange::head(const net::Head& head) {
    transport_.note_reached(nullptr);
    const auto code = net::code_of_status(head.status);
    const auto type = head.media_type();
    if (code != PATCHBAY_OK) {
        refusal_.emplace(net::Refusal{code, head, {}, url.text()});
        if (head.status == 429 || head.status == 503) refusal_->flags = PATCHBAY_ERR_RETRYABLE;
        return Take::Whole;
    }
    accepted_ = true;
    if (method_ == "initialize") {
        const auto id = head.value("mcp-session-id");
        if (!std::all_of(id.begin(), id.end(), [](char c) { return c > 0x20 && c < 0x7f; })) {
            trouble_.emplace(PATCHBAY_E_PROTOCOL,
                             "the server's MCP-Session-Id holds more than visible ASCII");
            return Take::Nothing;
        }
        transport_.session_started(std::string(id));
    }
    if (type == "text/event-stream") {
        pace_.began(transport_.core_.now());
        streaming_ = true;
        return Take::Stream;
    }
    if (type == "application/json") return Take::Whole;
    if (head.status == 202 || head.status == 204 || head.value("content-length") == "0")
        return Take::Nothing;
    if (type.empty() && method_.rfind("notifications/", 0) == 0) return Take::Nothing;
    trouble_.emplace(
        PATCHBAY_E_PROTOCOL,
        "the server answered with " +
            (type.empty() ? "no Content-Type" : "Content-Type " + sdk::excerpt(type, 64)) +
            "; expected application/json or text/event-stream" +
            (type == "text/html" ? " (is this the URL of an MCP server?)" : ""));
    return Take::Nothing;
}

std::size_t Exchange::body_limit() const {
    return refusal_ ? kRefusalBytes : transport_.core_.message_bytes();
}

void Exchange::whole(std::string&& body) {
    if (over_) return;
    if (refusal_) {
        refusal_->cut = was_cut();
        refusal_->body = std::move(body);
        if (names_lost_session(*refusal_, session_)) refusal_->code = PATCHBAY_E_SESSION;
        return;
    }
    const auto last = body.find_last_not_of(" \t\r\n");
    if (last == body.npos) return;
    // Some servers never end what they pack: a message that has its own end is whole all the same.
    if (was_torn() && body[last] != '}' && body[last] != ']')
        throw net::Trouble(PATCHBAY_E_CLOSED, "the answer was cut off: its gzip has no end");
    static_cast<void>(transport_.deliver(id_, std::move(body)));
}

bool Exchange::data(std::string_view& bytes) {
    if (over_) return false;
    const bool fits = parser_.feed_some(
        bytes, [this](net::SseParser::Event&& event) { return this->event(std::move(event)); });
    if (!fits) trouble_.emplace(too_long_an_event(transport_.core_.message_bytes()));
    return fits && !over_;
}

bool Exchange::event(net::SseParser::Event&& event) {
    resumptions_ = 0;
    if (event.type != "message" || event.data.empty()) return true;
    return transport_.deliver(id_, std::move(event.data));
}

void Exchange::end(const net::Trouble* trouble) {
    const auto keep = shared_from_this();
    if (over_) return;
    if (trouble_) return conclude(trouble_->code, trouble_->text);
    if (trouble && try_again(*trouble)) return;
    if (streaming_ && take_up_again(trouble, nullptr)) return;
    if (trouble) {
        transport_.note_reached(trouble);
        const bool seen = trouble->sent || accepted_;
        return conclude(trouble->code, trouble->text,
                        seen ? 0 : PATCHBAY_ERR_NOT_SENT | PATCHBAY_ERR_RETRYABLE);
    }
    if (refusal_) return inquire();
    if (method_ == "notifications/initialized") {
        transport_.protocol_ = protocol_;
        transport_.stream_.open();
    }
    conclude_stream();
}

// Whole, as far as its framing tells: but not when it left off within an event.
void Exchange::conclude_stream() {
    if (settled_ || !parser_.in_event()) return conclude(PATCHBAY_OK, {});
    conclude(PATCHBAY_E_CLOSED, "the answer broke off in the middle of a message");
}

// Another request's refusal would have the message carried out once more, or called refused.
void Exchange::inquire() {
    // Of an answer with an id the host knows whose it is.
    if (!net::is_doubtful(*this, refusal_) || !rpc_answer(*refusal_).id.empty()) return refused();
    current_ = std::make_shared<Inquiry>(std::static_pointer_cast<Exchange>(shared_from_this()));
    transport_.engine_.start_behind(*this, current_);
}

void Exchange::inquired(const net::Trouble* trouble, bool own, bool heard) {
    const auto keep = shared_from_this();
    const auto inquiry = std::exchange(current_, nullptr);
    if (over_) return;
    if (own) return refused();
    if (trouble && heard) return conclude(trouble->code, trouble->text);
    if (heard) return conclude(PATCHBAY_OK, {});
    conclude(PATCHBAY_E_CLOSED, net::in_doubt(*refusal_, trouble));
}

void Exchange::refused() {
    if (net::is_redirect(refusal_->head)) {
        const auto redirect = std::move(refusal_->head);
        refusal_.reset();
        return transport_.engine_.follow(shared_from_this(), redirect);
    }
    if (rpc_answer(*refusal_).is_rpc) {
        static_cast<void>(transport_.deliver(id_, std::move(refusal_->body)));
        return conclude(PATCHBAY_OK, {});
    }
    over_ = true;
    net::tell_done(transport_.core_.sink(), id_, *refusal_);
    transport_.exchanges_.erase(id_);
}

// Nobody listens there: a server that starts, or starts again.
bool Exchange::try_again(const net::Trouble& trouble) {
    if (!trouble.refused || trouble.sent) return false;
    const auto delay = retry_.failed();
    if (!delay) return false;
    transport_.note_reached(&trouble);
    launch(*delay, shared_from_this());
    return true;
}

// The GET that should have brought the rest. Whatever it met, a lost session and a refused
// connection too, is told as what it means for the message: it is with the server, and its answer
// does not come.
void Exchange::resumption_ended(const net::Trouble* trouble, const net::Refusal* refusal) {
    const auto keep = shared_from_this();
    const auto carrier = std::exchange(current_, nullptr);
    if (over_) return;
    if (trouble_) return conclude(trouble_->code, trouble_->text);
    if (take_up_again(trouble, refusal)) return;
    if (trouble) transport_.note_reached(trouble);
    if (!trouble && !refusal) return conclude_stream();
    conclude(trouble ? trouble->code : PATCHBAY_E_CLOSED,
             "the answer broke off, and its stream cannot be taken up again: " +
                 (trouble ? trouble->text : refusal->text()));
}

// A stream of the legacy era that ended before its answer, and named an event to go on from.
bool Exchange::take_up_again(const net::Trouble* trouble, const net::Refusal* refusal) {
    if (parser_.last_id().empty() || settled_) return false;
    if (trouble && trouble->code != PATCHBAY_E_CLOSED && trouble->code != PATCHBAY_E_IO)
        return false;
    if (refusal && !net::may_pass(refusal->head.status)) return false;
    if (++resumptions_ > kMostResumptions) return false;
    const auto asked = parser_.retry_ms();
    const auto wanted = asked >= 0 ? std::chrono::milliseconds(asked) : kResumeDelay;
    const auto later = refusal ? net::retry_after(refusal->head) : std::chrono::milliseconds(0);
    launch(std::max(pace_.pause(wanted, transport_.core_.now()), later),
           std::make_shared<Resumption>(std::static_pointer_cast<Exchange>(shared_from_this())));
    return true;
}

void Exchange::launch(std::chrono::milliseconds delay, std::shared_ptr<net::Task> task) {
    if (task.get() != this) current_ = task;
    transport_.engine_.start_after(delay, std::move(task));
}

void Exchange::conclude(patchbay_status code, std::string_view text, std::uint32_t flags) {
    if (std::exchange(over_, true)) return;
    const auto keep = shared_from_this();
    blow();
    if (current_) current_->blow();
    if (code == PATCHBAY_OK)
        transport_.core_.sink().done(id_);
    else
        transport_.core_.sink().done(id_, code, text, flags);
    transport_.exchanges_.erase(id_);
}

void Exchange::end_early(patchbay_status code, std::string_view text) {
    conclude(code, text, accepted_ || refusal_ || sent() ? 0 : PATCHBAY_ERR_NOT_SENT);
}

void Exchange::settle() {
    settled_ = true;
    // Waiting to go on from the last event: there is nothing to wait for.
    if (current_ && current_->waits()) conclude(PATCHBAY_OK, {});
}

}  // namespace patchbay::http
