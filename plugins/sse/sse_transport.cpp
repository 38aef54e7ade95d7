#include "sse_transport.hpp"

#include "net/methods.hpp"
#include "net/probe.hpp"
#include "net/redirect.hpp"
#include "net/sse_parser.hpp"
#include "retry.hpp"

#include <utility>
#include <vector>

namespace patchbay::sse {
namespace {

using Turn = transport::ChannelCore::Turn;

}  // namespace

class Stream final : public net::Task {
public:
    explicit Stream(SseTransport& transport)
        : Task(transport.endpoint_.url),
          transport_(transport),
          parser_(transport.core_.message_bytes()) {
        request.method = "GET";
        request.headers.set("Accept", "text/event-stream");
        request.headers.set("Cache-Control", "no-store");
    }

    void prepare() override { secrets = transport_.secrets(request.method, url); }
    Take head(const net::Head& head) override {
        const auto code = net::code_of_status(head.status);
        if (code == PATCHBAY_OK && head.media_type() == "text/event-stream") return Take::Stream;
        refusal_.emplace(net::Refusal{
            code == PATCHBAY_OK ? PATCHBAY_E_PROTOCOL : code, head, {}, url.text(), 0});
        return Take::Whole;
    }
    bool body_may_be_cut() const override { return refusal_.has_value(); }
    void whole(std::string&& body) override { refusal_->body = std::move(body); }

    bool data(std::string_view& bytes) override {
        const bool fits = parser_.feed_some(bytes, [this](net::SseParser::Event&& event) {
            transport_.stream_event(event.type, std::move(event.data));
            return !transport_.core_.over() && !transport_.engine_.paused();
        });
        if (!fits)
            transport_.give_up(PATCHBAY_E_LIMIT,
                               "the server sent an event that is too large (limit "
                               "message_bytes)");
        return fits && !transport_.core_.over();
    }

    void end(const net::Trouble* trouble) override {
        if (transport_.core_.over()) return;
        const auto again = trouble && trouble->refused ? retry_.failed() : std::nullopt;
        if (again) {
            transport_.core_.sink().fact("trouble", trouble->text);
            return transport_.engine_.start_after(*again, shared_from_this());
        }
        if (refusal_) return transport_.give_up(refusal_->code, {}, 0, std::move(refusal_));
        if (trouble) {
            const bool lasts =
                trouble->code == PATCHBAY_E_INVALID || trouble->code == PATCHBAY_E_DENIED;
            return transport_.give_up(trouble->code, trouble->text,
                                      lasts ? 0 : PATCHBAY_ERR_RETRYABLE);
        }
        transport_.give_up(PATCHBAY_E_CLOSED,
                           std::string("the server ended its event stream") +
                               (parser_.in_event() ? " in the middle of a message" : ""),
                           PATCHBAY_ERR_RETRYABLE);
    }

private:
    SseTransport& transport_;
    net::SseParser parser_;
    std::optional<net::Refusal> refusal_;
    transport::Retry retry_ = transport::kUntilItListens;
};

class Post final : public net::Task {
public:
    Post(SseTransport& transport, const patchbay_message& message, sdk::Body body)
        : Task(*transport.messages_),
          transport_(transport),
          id_(message.exchange),
          body_(std::move(body)) {
        request.method = "POST";
        request.body = body_.view();
        request.has_body = true;
        request.headers.set("Content-Type", "application/json");
        request.headers.set_all(message.headers, message.header_count);
        if (message.protocol.size > 0)
            request.headers.set("MCP-Protocol-Version", sdk::view(message.protocol));
        repeatable = net::is_repeatable(sdk::view(message.method));
    }

    void prepare() override { secrets = transport_.secrets(request.method, url); }
    Take head(const net::Head& head) override {
        const auto code = net::code_of_status(head.status);
        if (code == PATCHBAY_OK) return Take::Nothing;
        refusal_.emplace(net::Refusal{code, head, {}, url.text(), 0});
        return Take::Whole;
    }
    bool follows() const override { return !reused(); }
    bool body_may_be_cut() const override { return refusal_.has_value(); }
    void whole(std::string&& body) override { refusal_->body = std::move(body); }
    std::uint64_t unproven() const override { return net::is_doubtful(*this, refusal_) ? id_ : 0; }
    void end(const net::Trouble* trouble) override {
        if (trouble)
            return conclude(trouble->code, trouble->text,
                            trouble->sent ? 0 : PATCHBAY_ERR_NOT_SENT);
        if (!refusal_) return conclude(PATCHBAY_OK, {}, 0);
        if (net::is_doubtful(*this, refusal_)) return inquire();
        refused();
    }
    void refused() {
        if (over_) return;
        if (net::is_redirect(refusal_->head)) {
            const auto redirect = std::move(refusal_->head);
            refusal_.reset();
            return transport_.engine_.follow(shared_from_this(), redirect);
        }
        over_ = true;
        net::tell_done(transport_.core_.sink(), id_, *refusal_);
        transport_.posts_.erase(id_);
    }
    void conclude(patchbay_status code, const std::string& text, std::uint32_t flags) {
        if (std::exchange(over_, true)) return;
        const auto keep = shared_from_this();
        if (code == PATCHBAY_OK)
            transport_.core_.sink().done(id_);
        else
            transport_.core_.sink().done(id_, code, text, flags);
        transport_.posts_.erase(id_);
    }
    // Says whether the server can have it.
    void end_early(patchbay_status code, const std::string& text) {
        const auto keep = shared_from_this();
        blow();
        if (inquiry_) inquiry_->blow();
        conclude(code, text, sent() || refusal_ ? 0 : PATCHBAY_ERR_NOT_SENT);
    }

private:
    friend class Inquiry;
    void inquire();
    void inquired(const net::Trouble* trouble, bool own);

    SseTransport& transport_;
    const std::uint64_t id_;
    const sdk::Body body_;
    std::optional<net::Refusal> refusal_;
    std::shared_ptr<net::Task> inquiry_;
    bool over_ = false;
};

// Whether the refusal was the post's. Both are accepted alike, so only one that is refused as well tells.
class Inquiry final : public net::Probe {
public:
    explicit Inquiry(std::shared_ptr<Post> post) : Probe(*post), post_(std::move(post)) {}

private:
    void inquired(const net::Trouble* trouble) override { post_->inquired(trouble, own_); }
    const std::shared_ptr<Post> post_;
};

// Another message's refusal would have this one carried out once more, or called refused.
void Post::inquire() {
    inquiry_ = std::make_shared<Inquiry>(std::static_pointer_cast<Post>(shared_from_this()));
    transport_.inquired_ = true;
    transport_.engine_.start_behind(*this, inquiry_);
}

void Post::inquired(const net::Trouble* trouble, bool own) {
    const auto keep = shared_from_this();
    const auto inquiry = std::exchange(inquiry_, nullptr);
    if (own) return refused();
    conclude(PATCHBAY_E_CLOSED, net::in_doubt(*refusal_, trouble), 0);
}

SseTransport::SseTransport(const patchbay_open_params& params, net::Endpoint endpoint)
    : core_(params, this),
      endpoint_(std::move(endpoint)),
      engine_(core_, sdk::plugin_of<net::ThreadedPlugin>(params).workers(), endpoint_, this),
      credentials_(params) {}

std::unique_ptr<sdk::Channel> SseTransport::open(const patchbay_open_params& params) {
    auto endpoint = net::Endpoint::from(sdk::Config(sdk::view(params.config)));
    if (endpoint.url.scheme != "http" && endpoint.url.scheme != "https")
        throw sdk::Failure(PATCHBAY_E_INVALID, "url must begin with http:// or https://");
    std::unique_ptr<SseTransport> channel(new SseTransport(params, std::move(endpoint)));
    const Turn turn(channel->core_);
    channel->core_.sink().fact(
        "trouble", "no endpoint event from " + channel->endpoint_.url.without_query() + " yet");
    channel->stream_ = std::make_shared<Stream>(*channel);
    channel->engine_.start(channel->stream_);
    return channel;
}

net::HeaderList SseTransport::secrets(std::string_view method, const net::Url& url) const {
    return credentials_.headers_for(endpoint_.headers, method, url);
}

void SseTransport::stream_event(const std::string& type, std::string&& data) {
    if (type == "message" && messages_) {
        if (data.empty() || (inquired_ && net::Probe::is_answered_by(data))) return;
        if (core_.sink().message(0, net::buffer_of(std::move(data))) == PATCHBAY_PAUSE)
            engine_.pause();
        return;
    }
    if (type != "endpoint") return;
    try {
        auto target = stream_->url.resolve(data);
        if (target.origin() != stream_->url.origin())
            return give_up(PATCHBAY_E_DENIED, "the server named an endpoint of another origin (" +
                                                  target.origin() + "); messages go only to " +
                                                  stream_->url.origin());
        const bool first = !messages_;
        messages_ = std::move(target);
        if (!first) return;
        core_.sink().fact("trouble", {});
        core_.sink().opened();
    } catch (const sdk::Failure& failure) {
        give_up(PATCHBAY_E_PROTOCOL, std::string("the server's endpoint event: ") + failure.what());
    }
}

patchbay_status SseTransport::send(const patchbay_message& message, sdk::Body body) {
    const Turn turn(core_);
    if (core_.over() || !messages_) return PATCHBAY_E_CLOSED;
    auto post = std::make_shared<Post>(*this, message, std::move(body));
    posts_.emplace(message.exchange, post);
    engine_.start(std::move(post));
    return engine_.crowded() ? PATCHBAY_PAUSE : PATCHBAY_OK;
}

void SseTransport::broken(const std::string& why) {
    give_up(PATCHBAY_E_INTERNAL, why);
}

void SseTransport::engine_has_room() noexcept {
    core_.sink().writable();
}

void SseTransport::cancel(std::uint64_t id) {
    const Turn turn(core_);
    const auto found = posts_.find(id);
    if (found == posts_.end()) return;
    const auto post = found->second;
    post->end_early(PATCHBAY_E_CANCELLED, "cancelled");
}

void SseTransport::resume() {
    const Turn turn(core_);
    engine_.resume();
}

void SseTransport::set_credentials(const patchbay_kv* credentials, std::size_t count) {
    const Turn turn(core_);
    credentials_.replace(credentials, count);
}

void SseTransport::close() {
    const Turn turn(core_);
    give_up(PATCHBAY_OK, {});
}

void SseTransport::give_up(patchbay_status code, std::string text, std::uint32_t flags,
                           std::optional<net::Refusal> refusal) {
    if (core_.over()) return;
    const auto why = text.empty() ? std::string("the connection closed") : text;
    // On the reactor's thread, where watches and timers end. Refused only by a host that is closing
    // itself: it ends what is open.
    static_cast<void>(core_.post(this, on_posted));
    if (refusal)
        core_.finish(
            [told = std::move(*refusal)](const sdk::Sink& sink) { tell_closed(sink, told); });
    else
        core_.finish(code, std::move(text), flags);
    std::vector<std::shared_ptr<Post>> left;
    for (const auto& [id, post] : posts_) left.push_back(post);
    for (const auto& post : left) post->end_early(PATCHBAY_E_CLOSED, why);
}

void SseTransport::on_posted(void* self) noexcept {
    auto& transport = *static_cast<SseTransport*>(self);
    transport.core_.enter("the end of a channel", [&transport] {
        transport.core_.arrived();
        transport.engine_.stop();
        transport.stream_.reset();
    });
}

}  // namespace patchbay::sse
