#include "http_transport.hpp"

#include "exchange.hpp"

#include <utility>

namespace patchbay::http {
namespace {

constexpr std::chrono::seconds kFarewellPatience{2};
constexpr std::chrono::seconds kLinger{1};  // an answered stream that the server does not end

using Turn = transport::ChannelCore::Turn;

}  // namespace

// DELETE: the session is over.
class Farewell final : public net::Task {
public:
    explicit Farewell(HttpTransport& transport)
        : Task(transport.endpoint_.url), transport_(transport) {
        request.method = "DELETE";
        transport.add_session(request.headers, transport.protocol_);
        repeatable = true;
    }
    void prepare() override { secrets = transport_.secrets(request.method, url); }
    Take head(const net::Head&) override { return Take::Nothing; }
    void end(const net::Trouble*) override { transport_.finish(); }

private:
    HttpTransport& transport_;
};

HttpTransport::HttpTransport(const patchbay_open_params& params, net::Endpoint endpoint)
    : core_(params, this),
      endpoint_(std::move(endpoint)),
      engine_(core_, sdk::plugin_of<net::ThreadedPlugin>(params).workers(), endpoint_, this),
      credentials_(params) {}

std::unique_ptr<sdk::Channel> HttpTransport::open(const patchbay_open_params& params) {
    auto endpoint = net::Endpoint::from(sdk::Config(sdk::view(params.config)));
    if (endpoint.url.scheme != "http" && endpoint.url.scheme != "https")
        throw sdk::Failure(PATCHBAY_E_INVALID, "url must begin with http:// or https://");
    std::unique_ptr<HttpTransport> channel(new HttpTransport(params, std::move(endpoint)));
    const Turn turn(channel->core_);
    channel->core_.sink().opened();
    return channel;
}

net::HeaderList HttpTransport::secrets(std::string_view method, const net::Url& url) const {
    return credentials_.headers_for(endpoint_.headers, method, url);
}

void HttpTransport::add_session(net::HeaderList& headers, std::string_view protocol) const {
    if (!session_.empty()) headers.set("MCP-Session-Id", session_);
    if (!protocol.empty()) headers.set("MCP-Protocol-Version", protocol);
}

patchbay_status HttpTransport::send(const patchbay_message& message, sdk::Body body) {
    const Turn turn(core_);
    if (closing_ || core_.over()) return PATCHBAY_E_CLOSED;
    const auto method = sdk::view(message.method);
    if (method == "initialize") session_started({});
    if (method == "notifications/initialized") held_.begin();
    std::shared_ptr<Exchange> exchange;
    try {
        exchange = std::make_shared<Exchange>(*this, message, std::move(body));
    } catch (const sdk::Failure& failure) {
        // A status alone would not say which header it is, and what is wrong with it.
        core_.sink().done(message.exchange, failure.code(), failure.what(), PATCHBAY_ERR_NOT_SENT);
        return PATCHBAY_OK;
    }
    exchanges_.emplace(message.exchange, exchange);
    if (held_.holding() && method == "tools/call")
        held_.add(std::move(exchange));
    else
        engine_.start(std::move(exchange));
    return crowded() ? PATCHBAY_PAUSE : PATCHBAY_OK;
}

bool HttpTransport::crowded() {
    crowded_ = engine_.crowded() || held_.crowded() || crowded_;
    return crowded_;
}

void HttpTransport::engine_has_room() noexcept {
    if (held_.empty() && std::exchange(crowded_, false)) core_.sink().writable();
}

void HttpTransport::cancel(std::uint64_t id) {
    const Turn turn(core_);
    const auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;
    const auto exchange = found->second;
    exchange->end_early(PATCHBAY_E_CANCELLED, "cancelled");
}

void HttpTransport::resume() {
    const Turn turn(core_);
    engine_.resume();
}

void HttpTransport::settle(std::uint64_t id) {
    const Turn turn(core_);
    engine_.vouch(id);
    const auto found = exchanges_.find(id);
    if (found == exchanges_.end()) return;
    const auto exchange = found->second;
    exchange->settle();
    if (!exchange->over() && !linger_.running()) static_cast<void>(linger_.start(kLinger));
}

void HttpTransport::end_settled() {
    std::vector<std::shared_ptr<Exchange>> done;
    for (const auto& [id, exchange] : exchanges_)
        if (exchange->settled()) done.push_back(exchange);
    for (const auto& exchange : done) exchange->conclude(PATCHBAY_OK, {});
}

void HttpTransport::set_credentials(const patchbay_kv* credentials, std::size_t count) {
    const Turn turn(core_);
    credentials_.replace(credentials, count);
    stream_.credentials_changed();
}

bool HttpTransport::deliver(std::uint64_t exchange, std::string&& message) {
    if (core_.sink().message(exchange, net::buffer_of(std::move(message))) == PATCHBAY_PAUSE)
        engine_.pause();
    return !engine_.paused();
}

void HttpTransport::session_started(std::string id) {
    session_ = std::move(id);
    stream_.restart();
    release_held();
}

void HttpTransport::release_held() {
    held_.release();
    if (!engine_.crowded()) engine_has_room();
}

// What keeps us from the server, for whoever waits for it.
void HttpTransport::note_reached(const net::Trouble* trouble) {
    if (!trouble && !troubled_) return;
    troubled_ = trouble != nullptr;
    core_.sink().fact("trouble", trouble ? trouble->text : std::string());
}

// ---- the end

void HttpTransport::close() {
    const Turn turn(core_);
    if (std::exchange(closing_, true)) return;
    // Refused only by a host that is closing itself: it ends what is open.
    static_cast<void>(core_.post(this, on_close_posted));
}

void HttpTransport::on_close_posted(void* self) noexcept {
    auto& transport = *static_cast<HttpTransport*>(self);
    transport.core_.enter("the close of a channel", [&transport] {
        transport.core_.arrived();
        if (transport.core_.over()) return;
        transport.conclude_all(PATCHBAY_E_CLOSED, "the connection was closed");
        transport.say_farewell();
    });
}

void HttpTransport::conclude_all(patchbay_status code, const std::string& text) {
    std::vector<std::shared_ptr<Exchange>> left;
    for (const auto& [id, exchange] : exchanges_) left.push_back(exchange);
    for (const auto& exchange : left) exchange->end_early(code, text);
    held_.drop();
    stream_.close();
}

// Somebody may have waited for what was not told: nobody waits on this channel any longer.
void HttpTransport::broken(const std::string& why) {
    if (core_.over()) return;
    closing_ = true;
    conclude_all(PATCHBAY_E_INTERNAL, why);
    finish(PATCHBAY_E_INTERNAL, why);
}

void HttpTransport::say_farewell() {
    linger_.stop();
    if (session_.empty() || troubled_ || !patience_.start(kFarewellPatience)) return finish();
    engine_.start(std::make_shared<Farewell>(*this));
}

void HttpTransport::finish(patchbay_status code, std::string text) {
    if (core_.over()) return;
    core_.finish(code, std::move(text));
    // Timers and watches end on the reactor's thread; Farewell's end comes on a worker's.
    static_cast<void>(core_.post(this, [](void* self) noexcept {
        auto& transport = *static_cast<HttpTransport*>(self);
        transport.core_.enter("the end of a channel", [&transport] {
            transport.core_.arrived();
            for (auto* timer : {&transport.patience_, &transport.linger_}) timer->stop();
            transport.held_.stop();
            transport.engine_.stop();
        });
    }));
}

}  // namespace patchbay::http
