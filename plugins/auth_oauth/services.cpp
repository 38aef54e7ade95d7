#include "services.hpp"

#include "ascii.hpp"
#include "edge.hpp"
#include "encoding.hpp"

#include <array>

namespace patchbay::oauth {
namespace {

constexpr std::uint64_t kMostBytes = 64 * 1024;
constexpr std::uint32_t kLockMs = 30'000;

struct Ended {
    patchbay_status status = PATCHBAY_OK;
    std::uint32_t flags = 0;
    std::string words;

    Ended() = default;
    Ended(patchbay_status code, const patchbay_error* error)
        : status(code), flags(error ? error->flags : 0), words(error ? error->message : "") {}
};

[[noreturn]] void fail(const Ended& ended, const std::string& what, std::uint32_t flags = 0) {
    const auto words = ended.words.empty()
                           ? "the host ended it with status " + std::to_string(ended.status)
                           : ended.words;
    throw Trouble(ended.status, what + ": " + words, ended.flags | flags);
}

std::vector<patchbay_kv> fields_of(
    const std::vector<std::pair<std::string, std::string>>& headers) {
    std::vector<patchbay_kv> fields;
    for (const auto& [name, value] : headers) {
        const bool secret = ascii::same(name, "Authorization");
        fields.push_back(
            {sdk::str(name), sdk::str(value), secret ? std::uint32_t{PATCHBAY_KV_SECRET} : 0, 0});
    }
    return fields;
}

}  // namespace

// One call of the host that ends by a callback. Lives in the frame of the coroutine that waits.
template <class Outcome>
class Call {
public:
    using Start = std::function<patchbay_status(Call*)>;

    Call(Services& services, Start start) : services_(services), start_(std::move(start)) {}
    Call(const Call&) = delete;

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) {
        waiting_ = waiting;
        // Cancelled between two waits: there was nothing to stop then.
        if (cancellable && services_.cancelled_) {
            ended.status = PATCHBAY_E_CANCELLED;
            return false;
        }
        if (cancellable) services_.stop_ = stop;
        const auto status = start_(this);
        if (status >= 0) return true;
        services_.stop_ = {};
        ended.status = status;
        return false;
    }
    // A call that has ended well meanwhile is given up too, its outcome with it.
    void await_resume() const {
        if (cancellable && services_.cancelled_) throw Trouble(PATCHBAY_E_CANCELLED, "cancelled");
    }

    // What the host calls when it has an answer, on whatever thread; `take` puts it into `outcome`.
    // The call may be gone when it returns.
    template <class Take>
    static void answer(void* ctx, patchbay_status status, const patchbay_error* error,
                       Take take) noexcept {
        auto& call = *static_cast<Call*>(ctx);
        const auto* const host = call.services_.host_;
        const auto taken = transport::edge(host, "the answer of a service", [&] {
            call.ended = Ended(status, error);
            if (status == PATCHBAY_OK) take(call.outcome);
        });
        if (!taken) call.ended.status = PATCHBAY_E_INTERNAL;
        transport::edge(host, "the end of a service's call", [&call] { call.finish(); });
    }

    Ended ended;
    Outcome outcome{};
    patchbay_op op = 0;
    std::function<void()> stop;
    bool cancellable = true;

private:
    void finish() {
        // A copy: once this is posted the owner of the services may go.
        const auto strand = services_.strand_;
        strand->post([this] {
            services_.stop_ = {};
            waiting_.resume();
        });
    }

    Services& services_;
    Start start_;
    std::coroutine_handle<> waiting_;
};

std::string Reply::header(std::string_view name) const {
    for (const auto& [key, value] : headers)
        if (ascii::same(key, name)) return value;
    return {};
}

Lock::~Lock() {
    if (op_) services_->secrets_->unlock(services_->host_, op_);
}

Redirect::~Redirect() {
    if (op_) services_->consent_->cancel(services_->host_, op_);
}

Services::Services(const patchbay_auth_params& params, std::shared_ptr<Strand> strand,
                   std::string ca_file, std::string proxy)
    : host_(params.host),
      http_(sdk::extension<patchbay_host_http>(host_, PATCHBAY_HOST_HTTP)),
      consent_(sdk::extension<patchbay_host_consent>(host_, PATCHBAY_HOST_CONSENT)),
      secrets_(sdk::extension<patchbay_host_secrets>(host_, PATCHBAY_HOST_SECRETS)),
      clock_(sdk::extension<patchbay_host_clock>(host_, PATCHBAY_HOST_CLOCK)),
      strand_(std::move(strand)),
      server_(sdk::view(params.server)),
      ca_file_(std::move(ca_file)),
      proxy_(std::move(proxy)) {}

Task<Reply> Services::fetch(Request request) {
    const auto fields = fields_of(request.headers);
    patchbay_http_request wire{};
    wire.struct_size = sizeof wire;
    wire.timeout_ms = request.timeout_ms;
    wire.method = sdk::str(request.method);
    wire.url = sdk::str(request.url);
    wire.headers = fields.data();
    wire.header_count = fields.size();
    wire.body = sdk::str(request.body);
    wire.max_response = kMostBytes;
    if (request.judged == Judged::kBesideServer) wire.beside = sdk::str(beside_);
    wire.ca_file = sdk::str(ca_file_);
    wire.proxy = sdk::str(proxy_);

    Call<Reply> call(*this, [this, &wire](Call<Reply>* started) {
        return http_->fetch(
            host_, &wire, started,
            [](void* ctx, patchbay_status status, const patchbay_http_response* response,
               const patchbay_error* error) noexcept {
                Call<Reply>::answer(ctx, status, error, [response](Reply& reply) {
                    if (!response) return;
                    reply.status = response->status;
                    reply.body = sdk::view(response->body);
                    for (std::size_t i = 0; i < response->header_count; ++i)
                        reply.headers.emplace_back(sdk::view(response->headers[i].name),
                                                   sdk::view(response->headers[i].value));
                });
            },
            &started->op);
    });
    call.stop = [this, &call] { http_->cancel(host_, call.op); };
    co_await call;
    const auto status = call.ended.status;
    const bool away = status == PATCHBAY_E_IO || status == PATCHBAY_E_TIMEOUT;
    if (status != PATCHBAY_OK) fail(call.ended, request.url, away ? PATCHBAY_ERR_RETRYABLE : 0);
    co_return std::move(call.outcome);
}

Redirect Services::reserve(std::uint32_t port) {
    std::array<char, PATCHBAY_REDIRECT_BYTES> uri{};
    patchbay_op op = 0;
    patchbay_error error{};
    const auto status = consent_->reserve(host_, sdk::str(server_), port, uri.data(), &op, &error);
    if (status < 0) fail(Ended(status, &error), "no browser sign-in is possible");
    return Redirect(*this, op, uri.data());
}

Task<std::string> Services::authorize(Redirect& redirect, std::string url) {
    Call<std::string> call(*this, [this, &redirect, &url](Call<std::string>* started) {
        started->op = redirect.op();
        const auto status = consent_->authorize(
            host_, started->op, sdk::str(url), started,
            [](void* ctx, patchbay_status code, patchbay_str query,
               const patchbay_error* error) noexcept {
                Call<std::string>::answer(ctx, code, error,
                                          [query](std::string& out) { out = sdk::view(query); });
            });
        if (status >= 0) redirect.spend();  // refused, it is still ours to give back
        return status;
    });
    call.stop = [this, &call] { consent_->cancel(host_, call.op); };
    co_await call;
    if (call.ended.status != PATCHBAY_OK) fail(call.ended, "the sign-in did not come to an end");
    co_return std::move(call.outcome);
}

Task<std::string> Services::get() {
    Call<std::string> call(*this, [this](Call<std::string>* started) {
        return secrets_->get(host_, sdk::str(server_), started,
                             [](void* ctx, patchbay_status status, patchbay_str record,
                                const patchbay_error* error) noexcept {
                                 Call<std::string>::answer(
                                     ctx, status, error,
                                     [record](std::string& out) { out = sdk::view(record); });
                             });
    });
    co_await call;
    if (call.ended.status != PATCHBAY_OK) fail(call.ended, "the stored login cannot be read");
    co_return std::move(call.outcome);
}

Task<> Services::put(std::string record) {
    Call<int> call(*this, [this, &record](Call<int>* started) {
        return secrets_->put(
            host_, sdk::str(server_), sdk::str(record), started,
            [](void* ctx, patchbay_status status, const patchbay_error* error) noexcept {
                Call<int>::answer(ctx, status, error, [](int&) {});
            });
    });
    // A refresh token that has been used must be replaced on disk whatever else happens.
    call.cancellable = false;
    co_await call;
    if (call.ended.status != PATCHBAY_OK) fail(call.ended, "the login cannot be stored");
}

Task<Lock> Services::lock() {
    Call<int> call(*this, [this](Call<int>* started) {
        return secrets_->lock(
            host_, sdk::str(server_), kLockMs, started,
            [](void* ctx, patchbay_status status, const patchbay_error* error) noexcept {
                Call<int>::answer(ctx, status, error, [](int&) {});
            },
            &started->op);
    });
    call.stop = [this, &call] { secrets_->unlock(host_, call.op); };
    co_await call;
    if (call.ended.status != PATCHBAY_OK)
        fail(call.ended, "another process of this user holds the login of this server");
    co_return Lock(*this, call.op);
}

void Services::mask(std::string_view secret) const {
    if (!secret.empty()) secrets_->mask(host_, sdk::str(secret));
}

void Services::warn(std::string_view text) const {
    constexpr std::int32_t warning = 3;
    const patchbay_kv server{sdk::str("server"), sdk::str(server_), 0, 0};
    host_->log(host_, warning, sdk::str(text), &server, 1);
}

std::uint64_t Services::unix_ms() const {
    return clock_->unix_ms(host_);
}

std::int64_t Services::unix_seconds() const {
    return static_cast<std::int64_t>(unix_ms() / 1000);
}

void Services::cancel() {
    cancelled_ = true;
    if (const auto stop = std::exchange(stop_, {})) stop();
}

}  // namespace patchbay::oauth
