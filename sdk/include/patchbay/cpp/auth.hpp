// patchbay/cpp/auth.hpp - the auth half of the plugin ABI for C++17: a typed sink, and an auth
// table made from a class. Header only, std only.
//
//   class Token : public patchbay::sdk::Authenticator { ... };
//   static const patchbay_auth kTable = patchbay::sdk::auth_table<Token>("token", token_schema);
//
// A class for auth_table<T> derives from Authenticator and has
//   static std::unique_ptr<T> create(const patchbay_auth_params&);   // throws sdk::Failure
// Threads: exactly those of plugin.h; nothing here locks or starts a thread.
// Errors:  throw Failure (or anything) inside create, acquire or sign: the guard turns it into a
//          status. What happens later is told through AuthSink::acquired.
#ifndef PATCHBAY_CPP_AUTH_HPP
#define PATCHBAY_CPP_AUTH_HPP

#include "plugin.hpp"

#include <vector>

namespace patchbay::sdk {

struct Credential {
    std::string name, value;
    std::uint32_t flags = PATCHBAY_KV_SECRET;
};

// The host side of one authenticator, typed. Copyable; borrows what create was given.
class AuthSink {
public:
    AuthSink() = default;
    explicit AuthSink(const patchbay_auth_params& params)
        : sink_(params.sink), link_(params.link) {}

    // expires_unix_ms 0: unknown.
    void acquired(std::uint64_t operation, const std::vector<Credential>& credentials,
                  std::uint64_t expires_unix_ms = 0) const {
        std::vector<patchbay_kv> fields;
        fields.reserve(credentials.size());
        for (const auto& each : credentials)
            fields.push_back({str(each.name), str(each.value), each.flags, 0});
        patchbay_grant grant{};
        grant.struct_size = sizeof grant;
        grant.credentials = fields.data();
        grant.credential_count = fields.size();
        grant.expires_unix_ms = expires_unix_ms;
        sink_->acquired(link_, operation, PATCHBAY_OK, &grant, nullptr);
    }
    void refused(std::uint64_t operation, patchbay_status code, std::string_view text,
                 std::uint32_t flags = 0) const {
        patchbay_error error{};
        fill(error, code, text, flags);
        sink_->acquired(link_, operation, code, nullptr, &error);
    }
    void closed() const { sink_->closed(link_); }

private:
    const patchbay_auth_sink* sink_ = nullptr;
    patchbay_auth_link* link_ = nullptr;
};

// One auth method for one server. Methods are called as the slots of patchbay_auth are.
class Authenticator {
public:
    virtual ~Authenticator() = default;
    virtual void acquire(const patchbay_auth_request& request) = 0;
    virtual void cancel(std::uint64_t operation) { (void)operation; }
    virtual void forget() {}
    virtual void close() = 0;
    // [any], also at once with the others.
    virtual std::vector<Credential> sign(std::string_view method, std::string_view url) {
        (void)method, (void)url;
        return {};
    }
};

namespace detail {

inline Authenticator* authenticator_of(patchbay_authenticator* authenticator) {
    return reinterpret_cast<Authenticator*>(authenticator);
}

}  // namespace detail

// `signs`: the method grants PATCHBAY_KV_SIGN.
template <class T>
constexpr patchbay_auth auth_table(const char* name, const char* schema, bool signs = false) {
    using detail::authenticator_of;
    patchbay_auth table{};
    table.struct_size = sizeof table;
    table.name = name;
    table.config_schema = schema;
    table.create = [](const patchbay_auth_params* params, patchbay_authenticator** out,
                      patchbay_error* error) noexcept {
        return guarded(error, [&] {
            std::unique_ptr<Authenticator> made = T::create(*params);
            *out = reinterpret_cast<patchbay_authenticator*>(made.release());
            return patchbay_status{PATCHBAY_OK};
        });
    };
    table.acquire = [](patchbay_authenticator* authenticator, const patchbay_auth_request* request,
                       patchbay_error* error) noexcept {
        return guarded(
            error, [&] { return authenticator_of(authenticator)->acquire(*request), PATCHBAY_OK; });
    };
    table.cancel = [](patchbay_authenticator* authenticator, std::uint64_t operation) noexcept {
        guarded(nullptr,
                [&] { return authenticator_of(authenticator)->cancel(operation), PATCHBAY_OK; });
    };
    table.forget = [](patchbay_authenticator* authenticator) noexcept {
        guarded(nullptr, [&] { return authenticator_of(authenticator)->forget(), PATCHBAY_OK; });
    };
    table.close = [](patchbay_authenticator* authenticator) noexcept {
        guarded(nullptr, [&] { return authenticator_of(authenticator)->close(), PATCHBAY_OK; });
    };
    table.destroy = [](patchbay_authenticator* authenticator) noexcept {
        guarded(nullptr, [&] { return delete authenticator_of(authenticator), PATCHBAY_OK; });
    };
    if (signs) {
        table.sign = [](patchbay_authenticator* authenticator, patchbay_str method,
                        patchbay_str url, void* ctx,
                        void (*header)(void*, patchbay_str, patchbay_str) noexcept,
                        patchbay_error* error) noexcept {
            return guarded(error, [&] {
                for (const auto& each :
                     authenticator_of(authenticator)->sign(view(method), view(url)))
                    header(ctx, str(each.name), str(each.value));
                return patchbay_status{PATCHBAY_OK};
            });
        };
    }
    return table;
}

}  // namespace patchbay::sdk

#endif
