#include "fetch_service.hpp"

#include "ascii.hpp"
#include "net/engine.hpp"
#include "net/refusal.hpp"
#include "timer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace patchbay::http {
namespace {

constexpr std::size_t kUsualBytes = 64u << 10, kMostBytes = 16u << 20;
constexpr std::chrono::milliseconds kUsualTime{30'000};

using Turn = transport::ChannelCore::Turn;
}  // namespace

// What the fetches of one host share.
struct FetchService::State final : private transport::ChannelCore::Owner {
    State(const patchbay_host* host, net::Workers& its_pool) : core(host, this), pool(its_pool) {}
    // Which fetch it was is not known here: each that is under way is answered.
    void broken(const std::string& why) override;

    // Connections are shared only by fetches that are judged alike.
    struct Route {
        Route(State& state, net::Endpoint its_endpoint)
            : endpoint(std::move(its_endpoint)), engine(state.core, state.pool, endpoint) {}
        const net::Endpoint endpoint;
        net::Engine engine;
    };
    net::Engine& engine_for(const patchbay_http_request& asked) {
        net::Endpoint endpoint{net::Url{}};
        if (asked.struct_size >= sizeof asked) {
            endpoint.beside = sdk::view(asked.beside);
            endpoint.tls.ca_file = sdk::view(asked.ca_file);
            endpoint.proxy = sdk::view(asked.proxy);
        }
        auto& route = routes[{endpoint.beside, endpoint.tls.ca_file, endpoint.proxy}];
        if (!route) route = std::make_unique<Route>(*this, std::move(endpoint));
        return route->engine;
    }

    transport::ChannelCore core;  // never finished: it outlives its fetches
    net::Workers& pool;
    std::map<std::tuple<std::string, std::string, std::string>, std::unique_ptr<Route>> routes;
    std::map<patchbay_op, std::shared_ptr<Fetch>> fetches;
    patchbay_op last = 0;
};

class FetchService::Fetch final : public net::Task {
public:
    Fetch(State& service, patchbay_op id, const patchbay_http_request& asked, void* ctx,
          Callback done)
        : Task(net::Url::parse(sdk::view(asked.url))),
          service_(service),
          id_(id),
          ctx_(ctx),
          done_(done),
          body_(sdk::view(asked.body)),
          most_(asked.max_response ? std::min<std::uint64_t>(asked.max_response, kMostBytes)
                                   : kUsualBytes) {
        if (url.scheme != "http" && url.scheme != "https")
            throw sdk::Failure(PATCHBAY_E_INVALID, "the URL must begin with http:// or https://");
        request.method = sdk::view(asked.method);
        if (!net::is_token(request.method))
            throw sdk::Failure(PATCHBAY_E_INVALID, "the method must be a token");
        for (std::size_t i = 0; i < asked.header_count; ++i) {
            const auto& field = asked.headers[i];
            // What identifies the asker stays with the origin that was asked.
            const bool secret = (field.flags & PATCHBAY_KV_SECRET) != 0 ||
                                ascii::same(sdk::view(field.name), "authorization");
            (secret ? secrets : request.headers).set(sdk::view(field.name), sdk::view(field.value));
        }
        request.headers.set("Accept-Encoding", "gzip");
        request.body = body_;
        request.has_body = request.method != "GET" && request.method != "HEAD";
        repeatable = !request.has_body;
        comes_first = request.has_body;  // a code, and most refresh tokens, are good for one use
        // What is posted, a code or a refresh token, is for the origin that was asked. A document
        // is anybody's, and every hop is judged.
        leaves_origin = !request.has_body;
        const auto limit =
            asked.timeout_ms ? std::chrono::milliseconds(asked.timeout_ms) : kUsualTime;
        if (!timer_.start(limit)) throw sdk::Failure(PATCHBAY_E_CLOSED, "the host takes no timer");
    }

    Take head(const net::Head& head) override {
        head_ = head;
        return Take::Whole;
    }
    std::size_t body_limit() const override { return most_; }
    // Its status is the answer.
    bool body_may_be_cut() const override {
        return net::code_of_status(head_.status) != PATCHBAY_OK;
    }
    void whole(std::string&& body) override { answer_ = std::move(body); }

    void end(const net::Trouble* trouble) override {
        ended_ = true;
        if (trouble) trouble_ = *trouble;
        // Outside this turn: the asker may ask for more from inside its callback.
        auto told = [self = std::static_pointer_cast<Fetch>(shared_from_this())] {
            self->tell_surely();
        };
        try {
            service_.pool.run(told);
        } catch (const std::system_error&) {  // no thread: then on this one
            service_.core.after_turn(std::move(told));
        }
        // A timer ends on the reactor's thread; it holds this until then.
        if (!timer_.running()) service_.fetches.erase(id_);
    }

    // On the reactor's thread.
    void drop_timer() { timer_.stop(); }

private:
    // Somebody waits for the callback, whatever becomes of the answer.
    void tell_surely() {
        if (transport::edge(service_.core.host(), "the answer of a fetch", [this] { tell(); }))
            return;
        patchbay_error error{};
        sdk::fill(error, PATCHBAY_E_INTERNAL, "internal error at the answer");
        done_(ctx_, error.code, nullptr, &error);
    }
    // What may throw comes before the callback.
    void tell() {
        if (trouble_) {
            patchbay_error error{};
            const auto late = "no answer in time from " + url.without_query();
            sdk::fill(error, late_ ? PATCHBAY_E_TIMEOUT : trouble_->code,
                      late_ ? late : trouble_->text, trouble_->sent ? 0 : PATCHBAY_ERR_NOT_SENT);
            return done_(ctx_, error.code, nullptr, &error);
        }
        std::vector<patchbay_kv> fields;
        for (const auto& [name, value] : head_.fields)
            fields.push_back({sdk::str(name), sdk::str(value), 0, 0});
        const auto answered = url.text();
        patchbay_http_response response{};
        response.struct_size = sizeof response;
        response.status = static_cast<std::uint32_t>(head_.status);
        response.headers = fields.data();
        response.header_count = fields.size();
        response.body = sdk::str(answer_);
        response.url = sdk::str(answered);
        done_(ctx_, PATCHBAY_OK, &response, nullptr);
    }

    void late() {
        late_ = true;
        if (ended_)
            service_.fetches.erase(id_);
        else
            blow();
    }

    State& service_;
    const patchbay_op id_;
    void* const ctx_;
    const Callback done_;
    const std::string body_;
    const std::size_t most_;
    net::Head head_;
    std::string answer_;
    std::optional<net::Trouble> trouble_;
    transport::Timer timer_{service_.core, [this] { late(); }};
    std::atomic<bool> late_{false};
    bool ended_ = false;
};

void FetchService::State::broken(const std::string&) {
    for (const auto& [id, fetch] : fetches) fetch->blow();
}

FetchService::FetchService(const patchbay_host* host, net::Workers& pool)
    : state_(std::make_unique<State>(host, pool)) {}

FetchService::~FetchService() {
    {
        const Turn turn(state_->core);
        for (auto& [key, route] : state_->routes) route->engine.stop();
        for (const auto& [id, fetch] : state_->fetches) fetch->drop_timer();
    }
    state_->pool.stop();
}

patchbay_op FetchService::start(const patchbay_http_request& request, void* ctx, Callback done) {
    const Turn turn(state_->core);
    const auto id = ++state_->last;
    auto task = std::make_shared<Fetch>(*state_, id, request, ctx, done);
    state_->fetches.emplace(id, task);
    state_->engine_for(request).start(std::move(task));
    return id;
}

void FetchService::cancel(patchbay_op id) {
    const Turn turn(state_->core);
    const auto found = state_->fetches.find(id);
    if (found != state_->fetches.end()) found->second->blow();
}

}  // namespace patchbay::http
