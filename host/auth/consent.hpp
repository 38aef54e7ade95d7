// Brings a person to the authorization page of a server and the redirect back: by the browser and
// a listener on the loopback interface, or by showing the address and reading the redirect.
//
// Owns:    listeners and questions under way. Borrows loop and person.
// Threads: reserve() is [any], the rest [loop].
// Errors:  AuthRequired with the command to run when nobody is there, Denied when the person says
//          no or kMostStrangers redirects had another state, Timeout when they take too long.
// Source:  RFC 8252.
#pragma once

#include "auth/person.hpp"
#include "auth/redirect_listener.hpp"
#include "core/loop.hpp"
#include "plugin/sign_in.hpp"

#include <map>
#include <memory>
#include <optional>

namespace patchbay::auth {

class BrowserConsent final : public plugin::Consent {
public:
    struct Limits {  // tests make them shorter
        std::chrono::milliseconds person = std::chrono::minutes(5);
        std::chrono::milliseconds connection = RedirectListener::kPatience;
    };
    // So many redirects of strangers are turned away; then somebody is guessing.
    static constexpr int kMostStrangers = 64;

    BrowserConsent(core::Loop& loop, Person& person) : BrowserConsent(loop, person, Limits()) {}
    BrowserConsent(core::Loop& loop, Person& person, Limits limits)
        : loop_(loop), person_(person), limits_(limits) {}
    ~BrowserConsent() override;

    Result<Reserved> reserve(unsigned port) override;
    std::uint64_t authorize(const std::string& server, Reserved reserved, const std::string& url,
                            Answer answer) override;
    void withdraw(std::uint64_t id) override;

private:
    struct Visit {
        std::string server, url, redirect_uri;
        std::optional<std::string> state;  // of `url`: what the redirect has to bring back
        int strangers = 0;
        Answer answer;
        std::unique_ptr<RedirectListener> listener;
        std::uint64_t question = 0;
        core::Loop::TimerId timer = 0;
    };

    std::string patience() const;  // how long a person has, in words
    void show(std::uint64_t id);
    void ask_for_redirect(std::uint64_t id);
    bool fits(std::uint64_t id, const std::string& query);
    void end(std::uint64_t id, Result<std::string> query);

    core::Loop& loop_;
    Person& person_;
    const Limits limits_;
    std::map<std::uint64_t, Visit> visits_;
    std::uint64_t last_ = 0;
};

// The query string of a redirect that somebody typed or pasted; nothing: it is another address.
std::optional<std::string> query_of_redirect(std::string_view pasted,
                                             std::string_view redirect_uri);

}  // namespace patchbay::auth
