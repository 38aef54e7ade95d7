#include "plugin/services/sign_in_services.hpp"

#include "core/json.hpp"
#include "core/log.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"
#include "plugin/services/host_services.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kUrlBytes = 16u << 10;
constexpr std::size_t kServerBytes = 256;

bool is_http(std::string_view url) {
    const bool clean = url.size() <= kUrlBytes && std::none_of(url.begin(), url.end(), [](char c) {
                           return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
                       });
    return clean && (url.starts_with("https://") || url.starts_with("http://"));
}

bool is_record(std::string_view record) {
    return core::parse_json_object(record).has_value();
}

}  // namespace

struct SignInServices::State : std::enable_shared_from_this<State> {
    // What the callbacks of all these calls have in common; `text` is a query or a record.
    using Done = std::function<void(patchbay_status, std::string_view text, const patchbay_error*)>;

    struct Call {
        Done done;                   // empty: answered, or never asked (a reservation)
        std::uint64_t inner = 0;     // the number of whoever works on it
        Consent::Reserved reserved;  // of a reservation
        std::string server;
        enum class Kind { Reservation, Consent, Lock, Plain } kind = Kind::Plain;
    };

    State(core::Loop& its_loop, std::string its_plugin, SignIn its_offer)
        : loop(its_loop), plugin(std::move(its_plugin)), offered(its_offer) {}

    // 0: too many, or closed.
    patchbay_op add(Call call) {
        static std::uint64_t last = 0;
        static std::mutex numbers;
        const std::scoped_lock lock(mutex, numbers);
        if (closed || calls.size() >= kMostCalls) return 0;
        calls.emplace(++last, std::move(call));
        return last;
    }

    std::optional<Call> take(patchbay_op op) {
        const std::scoped_lock lock(mutex);
        const auto found = calls.find(op);
        if (found == calls.end()) return {};
        auto taken = std::move(found->second);
        calls.erase(found);
        return taken;
    }

    // Outside of every lock: the plugin may ask for more from inside its callback.
    static void tell(const Call& call, const Result<std::string>& outcome) {
        if (!call.done) return;
        if (outcome) return call.done(PATCHBAY_OK, *outcome, nullptr);
        patchbay_error error{};
        fill(&error, status_of(outcome.error().code), outcome.error().message);
        call.done(error.code, {}, &error);
    }

    void finish(patchbay_op op, const Result<std::string>& outcome) {
        if (const auto call = take(op)) tell(*call, outcome);
    }

    // The lock stays in the table until it is unlocked.
    void locked(patchbay_op op, const Result<void>& outcome) {
        if (!outcome) return finish(op, outcome.error());
        Call answered;
        {
            const std::scoped_lock lock(mutex);
            const auto found = calls.find(op);
            if (found == calls.end()) return;
            answered.done = std::exchange(found->second.done, {});
        }
        tell(answered, std::string());
    }

    // Whoever works on it knows it as `inner`. [loop]
    void started(patchbay_op op, std::uint64_t inner) {
        const std::scoped_lock lock(mutex);
        const auto found = calls.find(op);
        if (found != calls.end()) found->second.inner = inner;
    }

    bool waits(patchbay_op op) {
        const std::scoped_lock lock(mutex);
        return calls.count(op) != 0;
    }

    // [loop]
    void withdraw(const Call& call) {
        if (call.reserved.socket >= 0) ::close(call.reserved.socket);
        if (!call.inner) return;
        if (call.kind == Call::Kind::Lock) offered.secrets->unlock(call.inner);
        if (call.kind == Call::Kind::Consent) offered.consent->withdraw(call.inner);
    }

    // What cancel and unlock do. [any]
    void end(patchbay_op op) {
        loop.post([self = shared_from_this(), op] {
            const auto call = self->take(op);
            if (!call) return;
            self->withdraw(*call);
            tell(*call, Error{ErrorCode::Cancelled, "cancelled"});
        });
    }

    void close() {
        std::map<patchbay_op, Call> left;
        {
            const std::scoped_lock lock(mutex);
            closed = true;
            left.swap(calls);
        }
        for (const auto& [op, call] : left) {
            withdraw(call);
            tell(call, Error{ErrorCode::Unavailable, "the host is closing"});
        }
    }

    core::Loop& loop;
    const std::string plugin;
    const SignIn offered;
    core::Secrets secrets;  // what the plugin asked to mask [any]

    std::mutex mutex;  // guards what follows
    std::map<patchbay_op, Call> calls;
    bool closed = false;
};

SignInServices::SignInServices(core::Loop& loop, std::string plugin, SignIn offered)
    : state_(std::make_shared<State>(loop, std::move(plugin), offered)) {}

SignInServices::~SignInServices() {
    state_->close();
}

SignInServices::State& state_of(const SignInServices& services) {
    return *services.state_;
}

namespace {

using State = SignInServices::State;
using Call = State::Call;

// Null when the plugin is detached.
std::shared_ptr<State> state(const patchbay_host* host) {
    const auto* services = HostServices::of(host).sign_in();
    return services ? state_of(*services).shared_from_this() : nullptr;
}

// ---- consent

patchbay_status reserve(const patchbay_host* host, patchbay_str server, std::uint32_t port,
                        char* redirect_uri, patchbay_op* out, patchbay_error* error) noexcept {
    return entry("consent reserve", [&]() -> patchbay_status {
        const auto self = state(host);
        if (!self) return refuse(error, PATCHBAY_E_CLOSED, "the host is closing");
        if (!self->offered.consent)
            return refuse(error, PATCHBAY_E_UNSUPPORTED, "this host can ask nobody for consent");
        if (!redirect_uri || !out || port > 65535 || server.size > kServerBytes)
            return refuse(error, PATCHBAY_E_INVALID, "reserve: a port from 0 to 65535 is expected");
        auto reserved = self->offered.consent->reserve(port);
        if (!reserved)
            return refuse(error, status_of(reserved.error().code), reserved.error().message);
        const auto uri = reserved->redirect_uri;
        const int socket = reserved->socket;
        if (uri.size() >= PATCHBAY_REDIRECT_BYTES) {  // cut short it would lead elsewhere
            ::close(socket);
            return refuse(error, PATCHBAY_E_LIMIT, "the redirect URI is too long: " + uri);
        }
        Call call;
        call.reserved = std::move(*reserved);
        call.server = view(server);
        call.kind = Call::Kind::Reservation;
        *out = self->add(std::move(call));
        if (!*out) {
            ::close(socket);
            return refuse(error, PATCHBAY_E_LIMIT, "too many calls are under way");
        }
        std::memcpy(redirect_uri, uri.c_str(), uri.size() + 1);
        return PATCHBAY_OK;
    });
}

patchbay_status authorize(const patchbay_host* host, patchbay_op op, patchbay_str url, void* ctx,
                          void (*done)(void*, patchbay_status, patchbay_str,
                                       const patchbay_error*)) noexcept {
    return entry("consent authorize", [&]() -> patchbay_status {
        const auto self = state(host);
        if (!self) return PATCHBAY_E_CLOSED;
        if (!done || !is_http(view(url))) return PATCHBAY_E_INVALID;
        {
            const std::scoped_lock lock(self->mutex);
            const auto found = self->calls.find(op);
            if (found == self->calls.end() || found->second.kind != Call::Kind::Reservation)
                return PATCHBAY_E_INVALID;
            found->second.kind = Call::Kind::Consent;
            found->second.done = [ctx, done](patchbay_status status, std::string_view query,
                                             const patchbay_error* error) {
                done(ctx, status, str(query), error);
            };
        }
        self->loop.post([self, op, url = std::string(view(url))] {
            Consent::Reserved reserved;
            std::string server;
            {
                const std::scoped_lock lock(self->mutex);
                const auto found = self->calls.find(op);
                if (found == self->calls.end()) return;
                reserved = std::exchange(found->second.reserved, {});
                server = found->second.server;
            }
            self->started(op,
                          self->offered.consent->authorize(
                              server, std::move(reserved), url,
                              [self, op](Result<std::string> query) { self->finish(op, query); }));
        });
        return PATCHBAY_OK;
    });
}

void end(const patchbay_host* host, patchbay_op op) noexcept {
    void_entry("end of a call", [&] {
        if (const auto self = state(host)) self->end(op);
    });
}

constexpr patchbay_host_consent kConsent = {sizeof(patchbay_host_consent), 0, reserve, authorize,
                                            end};

// ---- secrets

// Runs `work` on the loop with the number of a call that ends with `done`.
template <class Work>
patchbay_status begin(const patchbay_host* host, patchbay_str server, Call::Kind kind,
                      State::Done done, patchbay_op* out, Work work) {
    const auto self = state(host);
    if (!self) return PATCHBAY_E_CLOSED;
    if (!self->offered.secrets) return PATCHBAY_E_UNSUPPORTED;
    if (!server.size || server.size > kServerBytes) return PATCHBAY_E_INVALID;
    Call call;
    call.done = std::move(done);
    call.kind = kind;
    const auto op = self->add(std::move(call));
    if (!op) return PATCHBAY_E_LIMIT;
    if (out) *out = op;
    self->loop.post([self, op, work = std::move(work), server = std::string(view(server))] {
        if (self->waits(op)) work(*self, op, server);
    });
    return PATCHBAY_OK;
}

patchbay_status get(const patchbay_host* host, patchbay_str server, void* ctx,
                    void (*done)(void*, patchbay_status, patchbay_str,
                                 const patchbay_error*)) noexcept {
    return entry("secrets get", [&]() -> patchbay_status {
        if (!done) return PATCHBAY_E_INVALID;
        return begin(
            host, server, Call::Kind::Plain,
            [ctx, done](patchbay_status status, std::string_view record,
                        const patchbay_error* error) { done(ctx, status, str(record), error); },
            nullptr,
            [](State& self, patchbay_op op, const std::string& id) {
                self.offered.secrets->get(
                    self.plugin, id,
                    [keep = self.shared_from_this(), op](Result<std::string> record) {
                        keep->finish(op, record);
                    });
            });
    });
}

patchbay_status put(const patchbay_host* host, patchbay_str server, patchbay_str record, void* ctx,
                    void (*done)(void*, patchbay_status, const patchbay_error*)) noexcept {
    return entry("secrets put", [&]() -> patchbay_status {
        if (!done || (record.size && !is_record(view(record)))) return PATCHBAY_E_INVALID;
        if (record.size > SignInServices::kRecordBytes) return PATCHBAY_E_LIMIT;
        return begin(
            host, server, Call::Kind::Plain,
            [ctx, done](patchbay_status status, std::string_view, const patchbay_error* error) {
                done(ctx, status, error);
            },
            nullptr,
            [record = std::string(view(record))](State& self, patchbay_op op,
                                                 const std::string& id) {
                self.offered.secrets->put(self.plugin, id, record,
                                          [keep = self.shared_from_this(), op](Result<void> put) {
                                              if (put) return keep->finish(op, std::string());
                                              keep->finish(op, put.error());
                                          });
            });
    });
}

patchbay_status lock(const patchbay_host* host, patchbay_str server, std::uint32_t timeout_ms,
                     void* ctx, void (*done)(void*, patchbay_status, const patchbay_error*),
                     patchbay_op* out) noexcept {
    return entry("secrets lock", [&]() -> patchbay_status {
        if (!done || !out) return PATCHBAY_E_INVALID;
        return begin(
            host, server, Call::Kind::Lock,
            [ctx, done](patchbay_status status, std::string_view, const patchbay_error* error) {
                done(ctx, status, error);
            },
            out,
            [timeout_ms](State& self, patchbay_op op, const std::string& id) {
                self.started(op, self.offered.secrets->lock(
                                     id, std::chrono::milliseconds(timeout_ms),
                                     [keep = self.shared_from_this(), op](Result<void> outcome) {
                                         keep->locked(op, outcome);
                                     }));
            });
    });
}

void mask(const patchbay_host* host, patchbay_str value) noexcept {
    void_entry("secrets mask", [&] {
        if (const auto self = state(host)) self->secrets.add(view(value));
    });
}

constexpr patchbay_host_secrets kSecrets = {
    sizeof(patchbay_host_secrets), 0, get, put, lock, end, mask};

}  // namespace

const patchbay_host_consent* SignInServices::consent_table() {
    return &kConsent;
}
const patchbay_host_secrets* SignInServices::secrets_table() {
    return &kSecrets;
}

}  // namespace patchbay::plugin
