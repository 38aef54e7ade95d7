// The host side of an authenticator is a patchbay_auth_link, built as a channel's link is: events
// are queued on whatever thread they come, all judgement of the contract happens at delivery.
#include "plugin/authenticator.hpp"

#include "core/log.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"
#include "plugin/links/create_authenticator.hpp"
#include "plugin/signer.hpp"
#include "plugin/slow_call.hpp"

#include <algorithm>
#include <mutex>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kMostQueued = 1'000;  // a plugin that never stops ends here

enum class Kind { Acquired, Closed, Fault };

struct AuthEvent {
    Kind kind;
    OperationId operation = 0;
    Result<Grant> outcome = Grant{};
    std::string text{};
};

bool fits_a_header(std::string_view name, std::string_view value) {
    constexpr std::string_view kNameMarks = "!#$%&'*+-.^_`|~";
    const bool named = !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               kNameMarks.find(c) != std::string_view::npos;
    });
    return named && name.size() + value.size() <= kCredentialBytes &&
           std::all_of(value.begin(), value.end(),
                       [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

// Empty: fine, and copied to `made`. Names no value: they are secrets.
std::string copy_grant(const patchbay_grant* grant, Grant& made, core::Secrets& secrets) {
    if (!grant) return "acquired with OK and no grant";
    if (grant->struct_size < kGrantFloor) return "acquired with a grant of an unknown size";
    if (grant->credential_count > kMostCredentials ||
        (grant->credential_count && !grant->credentials))
        return "a grant with " + std::to_string(grant->credential_count) + " credentials";
    for (std::size_t i = 0; i < grant->credential_count; ++i) {
        const auto& kv = grant->credentials[i];
        if (!fits_a_header(view(kv.name), view(kv.value)))
            return "a credential that no header can carry: \"" +
                   core::printable(view(kv.name), 64) + "\"";
        made.credentials.push_back({std::string(view(kv.name)), std::string(view(kv.value)),
                                    (kv.flags & PATCHBAY_KV_SECRET) != 0,
                                    (kv.flags & PATCHBAY_KV_ENV) != 0,
                                    (kv.flags & PATCHBAY_KV_SIGN) != 0});
        if (made.credentials.back().secret) secrets.add_header(made.credentials.back().value);
    }
    if (grant->expires_unix_ms) {
        constexpr std::uint64_t kFarAway = 4'102'444'800'000;  // 2100: as good as never
        made.expires = std::chrono::system_clock::time_point(
            std::chrono::milliseconds(std::min(grant->expires_unix_ms, kFarAway)));
    }
    return {};
}

}  // namespace
}  // namespace patchbay::plugin

using namespace patchbay;  // the link's name is fixed by the C header: it lives outside
using namespace patchbay::plugin;

struct patchbay_auth_link : std::enable_shared_from_this<patchbay_auth_link> {
    patchbay_auth_link(core::Loop& its_loop, Instance& its_instance, const patchbay_auth& its_table,
                       std::string its_server, std::shared_ptr<Signer> its_signer,
                       AuthenticatorEvents& its_events)
        : loop(its_loop),
          instance(its_instance),
          table(its_table),
          server(std::move(its_server)),
          signer(std::move(its_signer)),
          events(&its_events) {}

    // [any]
    void push(AuthEvent event) {
        const std::scoped_lock lock(mutex);
        if (dropping) return;  // nobody listens, and the loop may be gone
        // `closed` always fits: without it the authenticator could never be destroyed.
        if (queue.size() >= kMostQueued && event.kind != Kind::Closed) {
            if (std::exchange(overflowed, true)) return;
            event = {Kind::Fault};
            event.text = "more than " + std::to_string(kMostQueued) + " events are waiting";
        }
        queue.push_back(std::move(event));
        if (std::exchange(scheduled, true)) return;
        auto run = [keep = shared_from_this()] { keep->deliver(); };
        if (loop.on_loop_thread())
            loop.defer(run);
        else
            loop.post(run);
    }
    void queue_fault(std::string what) {
        AuthEvent event{Kind::Fault};
        event.text = std::move(what);
        push(std::move(event));
    }

    // [loop]
    void deliver() {
        std::vector<AuthEvent> batch;
        {
            const std::scoped_lock lock(mutex);
            batch.swap(queue);
            scheduled = false;
        }
        for (auto& event : batch) dispatch(event);
    }

    void dispatch(AuthEvent& event) {
        // After a fault nothing is believed, but `closed` still says when destroy may follow.
        if (faulted) {
            if (event.kind == Kind::Closed) destroy();
            return;
        }
        if (event.kind == Kind::Fault) return fault(event.text);
        if (closed)
            return fault(event.kind == Kind::Closed ? "closed after closed"
                                                    : "acquired after closed");
        if (event.kind == Kind::Closed) {
            closed = true;
            destroy();  // first: whoever is told may destroy us
            if (running)
                return fault("closed while operation " + std::to_string(running) +
                             " was not acquired");
            ended = true;
            if (auto* told = std::exchange(events, nullptr)) told->on_authenticator_closed();
            return;
        }
        if (event.operation == 0 || event.operation != running)
            return fault("acquired for operation " + std::to_string(event.operation) +
                         ", which has ended or never was");
        running = 0;  // first: the next operation may begin from inside
        if (events) events->on_acquired(event.operation, std::move(event.outcome));
    }

    // The plugin may not be called for this authenticator any more, except to let it stop.
    void fault(const std::string& what) {
        instance.misbehaved("auth for server \"" + server + "\": " + what);
        faulted = true;
        // It runs threads and calls of its own until it has stopped.
        if (authenticator && !std::exchange(closing, true))
            call_slot(*this, "close", [&] { table.close(authenticator); });
        if (std::exchange(ended, true)) return;
        auto* told = std::exchange(events, nullptr);
        if (!told) return;
        if (const auto operation = std::exchange(running, 0))
            told->on_acquired(
                operation, Error{ErrorCode::Internal, "plugin \"" + instance.plugin() +
                                                          "\" broke the plugin contract: " + what});
        told->on_authenticator_closed();
    }

    void destroy() {
        if (!authenticator) return;
        if (signer) signer->detach();  // waits for signatures under way on other threads
        auto* const gone = std::exchange(authenticator, nullptr);
        --instance.channels;
        call_slot(*this, "destroy", [&] { table.destroy(gone); });
    }

    void abandon() {
        if (signer) signer->detach();
        events = nullptr;
        {
            const std::scoped_lock lock(mutex);
            dropping = true;
        }
        if (!authenticator) return;
        core::log::warn("server \"" + server + "\": plugin \"" + instance.plugin() +
                        "\" has not closed its authenticator; it is left behind");
        // The plugin holds our address and may still send events to it: it is never freed.
        static auto& left_behind = *new std::vector<std::shared_ptr<patchbay_auth_link>>;
        left_behind.push_back(shared_from_this());
    }

    core::Loop& loop;
    Instance& instance;
    const patchbay_auth& table;
    const std::string server;
    const std::shared_ptr<Signer> signer;  // may be null
    core::Secrets secrets;                 // what was granted [any]

    // [loop]
    AuthenticatorEvents* events;  // null: nobody listens
    patchbay_authenticator* authenticator = nullptr;
    OperationId running = 0;
    bool closing = false, closed = false, ended = false, faulted = false;

    std::mutex mutex;  // guards what follows
    std::vector<AuthEvent> queue;
    bool scheduled = false, overflowed = false, dropping = false;
};

namespace patchbay::plugin {
namespace {

void sink_acquired(patchbay_auth_link* link, std::uint64_t operation, patchbay_status status,
                   const patchbay_grant* grant, const patchbay_error* error) noexcept {
    void_entry("acquired", [&] {
        AuthEvent event{Kind::Acquired, operation};
        if (status == PATCHBAY_OK) {
            Grant made;
            if (auto why = copy_grant(grant, made, link->secrets); !why.empty())
                return link->queue_fault(why);
            event.outcome = std::move(made);
        } else {
            if (status > 0) return link->queue_fault("acquired with " + std::to_string(status));
            if (grant)
                return link->queue_fault("acquired with a grant and " + name_of_status(status));
            // I/O that may go well another time was with somebody who is away now.
            const bool away =
                status == PATCHBAY_E_IO && error && (error->flags & PATCHBAY_ERR_RETRYABLE) != 0;
            event.outcome = Error{away ? ErrorCode::Unavailable : code_of(status),
                                  error ? text_of(*error, status) : name_of_status(status)};
        }
        link->push(std::move(event));
    });
}

void sink_closed(patchbay_auth_link* link) noexcept {
    void_entry("closed", [&] { link->push({Kind::Closed}); });
}

constexpr patchbay_auth_sink kSink = {sizeof(patchbay_auth_sink), 0, sink_acquired, sink_closed};

class PluginAuthenticator final : public Authenticator {
public:
    explicit PluginAuthenticator(std::shared_ptr<patchbay_auth_link> link)
        : link_(std::move(link)) {}
    ~PluginAuthenticator() override { link_->abandon(); }

    Result<void> acquire(const AcquireRequest& request) override {
        auto& link = *link_;
        link.loop.assert_here();
        if (!usable() || link.closing)
            return Error{ErrorCode::Unavailable, "the authenticator is closed"};
        if (link.running)
            return Error{ErrorCode::Internal, "an operation of the authenticator runs already"};
        patchbay_auth_request told{};
        told.struct_size = sizeof told;
        told.interactive = static_cast<std::uint32_t>(request.asking);
        told.operation = request.operation;
        told.url = str(request.url);
        told.scope = str(request.scope);
        patchbay_problem problem{};
        std::vector<patchbay_kv> headers;
        if (const auto* challenge = request.challenge) {
            describe(challenge->headers, headers);
            problem.struct_size = sizeof problem;
            problem.http_status = challenge->http_status;
            fill(&problem.error, PATCHBAY_E_AUTH, challenge->error.message, challenge->native_code);
            problem.url = str(challenge->url);
            problem.headers = headers.data();
            problem.header_count = headers.size();
            told.challenge = &problem;
        }
        patchbay_error error{};
        patchbay_status status = PATCHBAY_E_INTERNAL;
        link.running = request.operation;  // its event may be queued before the call returns
        if (!call_slot(link, "acquire",
                       [&] { status = link.table.acquire(link.authenticator, &told, &error); }))
            return {};  // the fault that is queued ends the operation
        if (status == PATCHBAY_OK) return {};
        link.running = 0;
        if (status > 0) link.queue_fault("acquire returned " + std::to_string(status));
        return Error{status > 0 ? ErrorCode::Internal : code_of(status), text_of(error, status)};
    }

    void cancel(OperationId operation) override {
        auto& link = *link_;
        if (usable() && operation && link.running == operation)
            call_slot(link, "cancel", [&] { link.table.cancel(link.authenticator, operation); });
    }

    void forget() override {
        auto& link = *link_;
        if (usable() && !link.closing)
            call_slot(link, "forget", [&] { link.table.forget(link.authenticator); });
    }

    void close() override {
        auto& link = *link_;
        link.loop.assert_here();
        if (!usable() || std::exchange(link.closing, true)) return;
        call_slot(link, "close", [&] { link.table.close(link.authenticator); });
    }

private:
    bool usable() const { return link_->authenticator && !link_->ended; }

    const std::shared_ptr<patchbay_auth_link> link_;
};

}  // namespace

Result<std::unique_ptr<Authenticator>> create_authenticator(core::Loop& loop, Instance& instance,
                                                            const patchbay_auth& table,
                                                            const AuthenticatorOptions& options,
                                                            AuthenticatorEvents& events) {
    loop.assert_here();
    const auto link = std::make_shared<patchbay_auth_link>(loop, instance, table, options.server,
                                                           options.signer, events);
    const std::string settings = boost::json::serialize(options.settings);
    patchbay_auth_params params{};
    params.struct_size = sizeof params;
    params.host = instance.host();
    params.sink = &kSink;
    params.link = link.get();
    params.server = str(link->server);
    params.config = str(settings);
    params.plugin = instance.made();

    const auto what = "auth \"" + std::string(table.name) + "\"";
    const auto broken = [&](const std::string& why) {
        link->authenticator = nullptr;
        link->abandon();
        instance.misbehaved(what + ": " + why);
        return Error{ErrorCode::Internal, "plugin \"" + instance.plugin() + "\": " + why};
    };
    patchbay_error error{};
    patchbay_status status = PATCHBAY_E_INTERNAL;
    std::string thrown;
    {
        const SlowCall slow(instance.plugin(), "create", link->server.c_str());
        if (!guarded(thrown, [&] { status = table.create(&params, &link->authenticator, &error); }))
            return broken("create threw: " + thrown);
    }
    if (status > 0) return broken("create returned " + std::to_string(status));
    if (status != PATCHBAY_OK) {
        link->authenticator = nullptr;
        link->abandon();
        return Error{code_of(status), what + ": " + text_of(error, status)};
    }
    if (!link->authenticator) return broken("create returned OK without an authenticator");
    if (link->signer) link->signer->attach(&table, link->authenticator);
    ++instance.channels;
    return std::unique_ptr<Authenticator>(std::make_unique<PluginAuthenticator>(link));
}

}  // namespace patchbay::plugin
