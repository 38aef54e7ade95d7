#include "plugin/services/http_service.hpp"

#include "core/log.hpp"
#include "core/secrets.hpp"
#include "plugin/slow_call.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::plugin {

namespace {

constexpr std::size_t kFloor = offsetof(patchbay_plugin_http, cancel) + sizeof(void*);
constexpr std::size_t kRequestFloor =
    offsetof(patchbay_http_request, max_response) + sizeof(std::uint64_t);
constexpr std::size_t kMostHeaders = 128;

struct Fetch {
    patchbay_op op = 0;
    std::string method, url, body, beside, ca_file, proxy;
    std::vector<Header> headers;
    std::uint32_t timeout_ms = 0;
    std::uint64_t max_response = 0;
    void* ctx = nullptr;
    HttpService::Callback done = nullptr;
    bool started = false, cancelled = false;
    patchbay_op inner = 0;  // the provider's number, once it is known
    HttpService::Provider provider;
    core::Secrets secrets;  // of `headers`
};

// What providers hand back is a number looked up here: a callback that comes twice, or after the
// service is gone, finds nothing.
std::mutex fetches_mutex;
std::map<patchbay_op, std::shared_ptr<Fetch>>& fetches() {
    static auto& known = *new std::map<patchbay_op, std::shared_ptr<Fetch>>;
    return known;
}

std::shared_ptr<Fetch> take(patchbay_op op) {
    const std::scoped_lock lock(fetches_mutex);
    const auto found = fetches().find(op);
    if (found == fetches().end()) return nullptr;
    auto taken = std::move(found->second);
    fetches().erase(found);
    return taken;
}

void fail(patchbay_op op, patchbay_status status, std::string_view text) {
    const auto fetch = take(op);
    if (!fetch) return;
    patchbay_error error{};
    fill(&error, status, text);
    fetch->done(fetch->ctx, status, nullptr, &error);
}

void on_done(void* ctx, patchbay_status status, const patchbay_http_response* response,
             const patchbay_error* error) noexcept {
    if (const auto fetch = take(reinterpret_cast<patchbay_op>(ctx)))
        fetch->done(fetch->ctx, status, response, error);
}

}  // namespace

struct HttpService::State : std::enable_shared_from_this<State> {
    State(core::Loop& its_loop, std::function<void(Found)> its_find)
        : loop(its_loop), find(std::move(its_find)) {}

    // [loop]
    void start(patchbay_op op) {
        const auto fetch = [&]() -> std::shared_ptr<Fetch> {
            const std::scoped_lock lock(fetches_mutex);
            const auto found = fetches().find(op);
            return found == fetches().end() ? nullptr : found->second;
        }();
        if (!fetch) return;
        if (provider) return send(op, fetch);
        if (!find) return fail(op, PATCHBAY_E_UNSUPPORTED, "the host is closing");
        find([state = shared_from_this(), op, fetch](const Result<Provider>& found) {
            if (!found) return fail(op, PATCHBAY_E_UNSUPPORTED, found.error().message);
            if (!state->find) return;  // closed meanwhile, and the request ended with it
            state->provider = *found;
            state->send(op, fetch);
        });
    }

    // [loop] With the provider known.
    void send(patchbay_op op, const std::shared_ptr<Fetch>& fetch) {
        bool cancelled = false;
        {
            const std::scoped_lock lock(fetches_mutex);
            cancelled = fetch->cancelled;
            fetch->started = !cancelled;
            fetch->provider = *provider;
        }
        if (cancelled) return fail(op, PATCHBAY_E_CANCELLED, "cancelled before it was sent");
        std::vector<patchbay_kv> headers;
        describe(fetch->headers, headers);
        patchbay_http_request request{};
        request.struct_size = sizeof request;
        request.timeout_ms = fetch->timeout_ms;
        request.method = str(fetch->method);
        request.url = str(fetch->url);
        request.headers = headers.data();
        request.header_count = headers.size();
        request.body = str(fetch->body);
        request.max_response = fetch->max_response;
        request.beside = str(fetch->beside);
        request.ca_file = str(fetch->ca_file);
        request.proxy = str(fetch->proxy);
        patchbay_op inner = 0;
        patchbay_status status = PATCHBAY_E_INTERNAL;
        std::string thrown;
        if (!guarded(thrown, [&] {
                status = provider->table->fetch(provider->plugin, &request,
                                                reinterpret_cast<void*>(op), on_done, &inner);
            }))
            return fail(op, PATCHBAY_E_INTERNAL, "the http plugin threw: " + thrown);
        if (status < 0)
            return fail(op, status, "the http plugin refuses: " + name_of_status(status));
        {
            const std::scoped_lock lock(fetches_mutex);
            fetch->inner = inner;
            cancelled = fetch->cancelled && fetches().count(op) != 0;
        }
        if (cancelled) provider->table->cancel(provider->plugin, inner);
    }

    core::Loop& loop;
    std::function<void(Found)> find;  // empty: closed
    std::optional<Provider> provider;

    std::mutex mutex;  // guards what follows
    bool closed = false;
    std::vector<patchbay_op> mine;  // may have ended
};

HttpService::HttpService(core::Loop& loop, std::function<void(Found)> find)
    : state_(std::make_shared<State>(loop, std::move(find))) {}

HttpService::~HttpService() {
    close();
}

void HttpService::close() {
    std::vector<patchbay_op> mine;
    {
        const std::scoped_lock lock(state_->mutex);
        state_->closed = true;
        mine.swap(state_->mine);
    }
    state_->find = nullptr;
    for (const auto op : mine) {
        cancel(op);
        fail(op, PATCHBAY_E_CLOSED, "the host is closing");
    }
}

std::string HttpService::why_wrong(const patchbay_plugin_http* table) {
    if (!table) return "does not offer " PATCHBAY_PLUGIN_HTTP;
    if (table->struct_size < kFloor)
        return "has a " PATCHBAY_PLUGIN_HTTP " table of " + std::to_string(table->struct_size) +
               " bytes, it starts at " + std::to_string(kFloor);
    if (!table->fetch || !table->cancel)
        return "has a " PATCHBAY_PLUGIN_HTTP " table without fetch or cancel";
    return {};
}

patchbay_status HttpService::fetch(const patchbay_http_request* request, void* ctx, Callback done,
                                   patchbay_op* out) {
    if (!request || request->struct_size < kRequestFloor || !done || !out ||
        request->header_count > kMostHeaders || (request->header_count && !request->headers))
        return PATCHBAY_E_INVALID;
    const auto made = std::make_shared<Fetch>();
    made->method = view(request->method);
    made->url = view(request->url);
    made->body = view(request->body);
    if (request->struct_size >= sizeof *request) {
        made->beside = view(request->beside);
        made->ca_file = view(request->ca_file);
        made->proxy = view(request->proxy);
    }
    made->timeout_ms = request->timeout_ms;
    made->max_response = request->max_response;
    made->ctx = ctx;
    made->done = done;
    for (std::size_t i = 0; i < request->header_count; ++i) {
        const auto& kv = request->headers[i];
        made->headers.push_back({std::string(view(kv.name)), std::string(view(kv.value)),
                                 (kv.flags & PATCHBAY_KV_SECRET) != 0, false});
        if (made->headers.back().secret) made->secrets.add_header(made->headers.back().value);
    }
    static std::uint64_t last = 0;
    {
        const std::scoped_lock locks(state_->mutex, fetches_mutex);
        if (state_->closed) return PATCHBAY_E_CLOSED;
        std::erase_if(state_->mine, [](patchbay_op op) { return fetches().count(op) == 0; });
        if (state_->mine.size() >= kMostRequests) return PATCHBAY_E_LIMIT;
        made->op = ++last;
        *out = made->op;
        state_->mine.push_back(made->op);
        fetches().emplace(made->op, made);
    }
    state_->loop.post([state = state_, op = made->op] { state->start(op); });
    return PATCHBAY_OK;
}

void HttpService::cancel(patchbay_op op) {
    Provider provider;
    patchbay_op inner = 0;
    {
        const std::scoped_lock lock(fetches_mutex);
        const auto found = fetches().find(op);
        if (found == fetches().end()) return;
        auto& fetch = *found->second;
        fetch.cancelled = true;
        inner = fetch.inner;  // 0: start() looks at `cancelled` when it knows the number
        provider = fetch.provider;
    }
    if (inner) provider.table->cancel(provider.plugin, inner);
}

}  // namespace patchbay::plugin
