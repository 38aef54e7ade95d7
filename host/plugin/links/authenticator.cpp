// An authenticator through a plugin's table: calls go down here, events come up through its link.
#include "plugin/authenticator.hpp"

#include "core/text.hpp"
#include "plugin/links/create_authenticator.hpp"
#include "plugin/links/link.hpp"

#include <algorithm>

namespace patchbay::plugin {
namespace {

// One operation at a time makes two events: what comes of many more is over in one turn.
constexpr EventQueue::Limits kLimits{1u << 20, 1'000, 2'000};

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

// One operation at a time, which the method ends.
class AuthenticatorLink : public LinkTo<patchbay_auth, patchbay_authenticator> {
public:
    AuthenticatorLink(core::Loop& its_loop, Instance& its_instance, const patchbay_auth& its_table,
                      const AuthenticatorOptions& options, AuthenticatorEvents& events)
        : LinkTo(its_table, its_loop, its_instance, "authenticator", options.server,
                 "auth for server \"" + options.server + "\"", kLimits, options.signer),
          events_(events) {}

    OperationId running = 0;  // 0: none [loop]

private:
    void dispatch(LinkEvent& event) override {
        if (event.id == 0 || event.id != running)
            return fault("acquired for operation " + std::to_string(event.id) +
                         ", which has ended or never was");
        running = 0;  // first: the next operation may begin from inside
        events_.on_acquired(event.id, std::move(event.detail->outcome));
    }
    std::string unfinished() const override {
        return running ? "operation " + std::to_string(running) + " was not acquired" : "";
    }
    void on_closed(const Problem*) override { events_.on_authenticator_closed(); }
    void on_given_up(Error why) override {
        if (const auto operation = std::exchange(running, 0))
            events_.on_acquired(operation, std::move(why));
        events_.on_authenticator_closed();
    }
    void destroy_made() override {
        if (signer) signer->detach();  // waits for signatures under way on other threads
        LinkTo::destroy_made();
    }

    AuthenticatorEvents& events_;
};

}  // namespace
}  // namespace patchbay::plugin

// The name that the C header knows it by.
struct patchbay_auth_link final : patchbay::plugin::AuthenticatorLink {
    using AuthenticatorLink::AuthenticatorLink;
};

namespace patchbay::plugin {
namespace {

void sink_acquired(patchbay_auth_link* link, std::uint64_t operation, patchbay_status status,
                   const patchbay_grant* grant, const patchbay_error* error) noexcept {
    heard(link, [&] {
        LinkEvent event{EventKind::Acquired, operation};
        event.detail = std::make_unique<EventDetail>();
        auto& outcome = event.detail->outcome;
        if (status == PATCHBAY_OK) {
            Grant made;
            if (auto why = copy_grant(grant, made, link->secrets); !why.empty())
                return link->queue_fault(std::move(why));
            outcome = std::move(made);
        } else {
            if (status > 0) return link->queue_fault("acquired with " + std::to_string(status));
            if (grant)
                return link->queue_fault("acquired with a grant and " + name_of_status(status));
            // I/O that may go well another time was with somebody who is away now.
            const bool away =
                status == PATCHBAY_E_IO && error && (error->flags & PATCHBAY_ERR_RETRYABLE) != 0;
            outcome =
                Error{away ? ErrorCode::Unavailable : code_of(status), text_of(error, status)};
        }
        return link->events().push(std::move(event));
    });
}

void sink_closed(patchbay_auth_link* link) noexcept {
    heard(link, [&] { return link->events().push({EventKind::Closed}); });
}

constexpr patchbay_auth_sink kSink = {sizeof(patchbay_auth_sink), 0, sink_acquired, sink_closed};

class PluginAuthenticator final : public Authenticator {
public:
    explicit PluginAuthenticator(std::shared_ptr<patchbay_auth_link> link)
        : link_(std::move(link)) {}
    ~PluginAuthenticator() override {
        if (link_->signer) link_->signer->detach();
        link_->abandon();
    }

    Result<void> acquire(const AcquireRequest& request) override {
        auto& link = *link_;
        link.loop.assert_here();
        if (!link.usable() || link.closing())
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
        if (!link.call("acquire", [&] { status = link.table.acquire(link.made, &told, &error); }))
            return {};  // the fault that is queued ends the operation
        if (status == PATCHBAY_OK) return {};
        link.running = 0;
        if (status > 0) link.queue_fault("acquire returned " + std::to_string(status));
        return Error{status > 0 ? ErrorCode::Internal : code_of(status), text_of(&error, status)};
    }

    void cancel(OperationId operation) override {
        auto& link = *link_;
        if (link.usable() && operation && link.running == operation)
            link.call("cancel", [&] { link.table.cancel(link.made, operation); });
    }

    void forget() override {
        auto& link = *link_;
        if (link.usable() && !link.closing())
            link.call("forget", [&] { link.table.forget(link.made); });
    }

    void close() override { link_->close(); }

private:
    const std::shared_ptr<patchbay_auth_link> link_;
};

}  // namespace

Result<std::unique_ptr<Authenticator>> create_authenticator(core::Loop& loop, Instance& instance,
                                                            const patchbay_auth& table,
                                                            const AuthenticatorOptions& options,
                                                            AuthenticatorEvents& events) {
    loop.assert_here();
    const auto link = std::make_shared<patchbay_auth_link>(loop, instance, table, options, events);
    const std::string settings = boost::json::serialize(options.settings);
    patchbay_auth_params params{};
    params.struct_size = sizeof params;
    params.host = instance.host();
    params.sink = &kSink;
    params.link = link.get();
    params.server = str(link->server);
    params.config = str(settings);
    params.plugin = instance.made();

    const auto who = "auth \"" + std::string(table.name) + "\"";
    patchbay_error error{};
    const auto status = link->make("create", who, [&](patchbay_authenticator** made) {
        return table.create(&params, made, &error);
    });
    if (!status) return status.error();
    if (*status != PATCHBAY_OK)
        return Error{code_of(*status), who + ": " + text_of(&error, *status)};
    if (link->signer) link->signer->attach(&table, link->made);
    return std::unique_ptr<Authenticator>(std::make_unique<PluginAuthenticator>(link));
}

}  // namespace patchbay::plugin
