// Who obtains credentials for one server: its auth method, asked by one operation at a time,
// whoever needs the answer.
//
// Owns:    the authenticator, made on first use, and the credentials it granted.
// Threads: [loop]. Handlers are called from the loop, never from inside ask().
// Limits:  kBurst questions about refusals at once, then one in each kPace: a server can refuse what
//          it is given without end, and each question is a program run or a person disturbed.
// Errors:  no auth configured, or the method's own refusal, as the outcome of ask().
// Source:  sdk/ABI.md "Auth".
#pragma once

#include "core/timer.hpp"
#include "plugin/authenticator.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::connection {

class AuthLoop final : private plugin::AuthenticatorEvents {
public:
    // Calls `made` once, within the call or later from the loop.
    using Made = std::function<void(Result<std::unique_ptr<plugin::Authenticator>>)>;
    using Make = std::function<void(plugin::AuthenticatorEvents& events, Made made)>;
    using Handler = std::function<void(const Result<void>&)>;

    static constexpr unsigned kBurst = 8;
    static constexpr std::chrono::milliseconds kPace{5'000};

    // `make` may be empty: no auth is configured. `renewed`: new credentials came ahead of the old
    // ones' expiry.
    AuthLoop(core::Loop& loop, Make make, plugin::Asking asking, std::function<void()> renewed,
             std::chrono::milliseconds pace = kPace);
    ~AuthLoop();  // abandons an authenticator that has not closed
    AuthLoop(const AuthLoop&) = delete;

    bool configured() const { return static_cast<bool>(make_); }
    const std::vector<plugin::Header>& credentials() const { return credentials_; }
    // How many times they have changed: tells a refusal of old ones from one of these.
    unsigned generation() const { return generation_; }

    // Joins an operation that is under way. `challenge` is copied.
    void ask(const plugin::Problem& challenge, Handler handler);
    // Before anything was refused: what can be had without a person.
    void ask_ahead(const std::string& url, Handler handler);

    // Ends what is asked with Cancelled; `closed` follows when the plugin has let go.
    void close(std::function<void()> closed);

private:
    void on_acquired(plugin::OperationId operation, Result<plugin::Grant> grant) override;
    void on_authenticator_closed() override;
    void begin_challenged();
    void begin(const plugin::Problem* challenge, const std::string& url, plugin::Asking asking);
    Result<void> acquire(const plugin::Problem* challenge, plugin::Asking asking);
    void end_later(plugin::OperationId operation, const Error& error);
    void plan_renewal(std::chrono::system_clock::time_point expires);
    void tell(const Result<void>& outcome);

    core::Loop& loop_;
    Make make_;
    plugin::Asking asking_;
    std::function<void()> renewed_;
    const std::chrono::milliseconds pace_;
    core::Clock::time_point spent_until_{};  // what was asked, at one in each pace_
    std::unique_ptr<plugin::Authenticator> authenticator_;
    std::vector<plugin::Header> credentials_;
    unsigned generation_ = 0;
    std::string url_;
    plugin::Problem challenge_;     // the last one
    bool unasked_ = false;          // what runs knows of no challenge
    bool challenge_waits_ = false;  // for what runs unasked
    plugin::OperationId running_ = 0, last_ = 0;
    std::vector<Handler> waiting_;
    core::Timer renewal_{loop_};
    core::Timer its_turn_{loop_};  // while running_ waits for it
    bool closing_ = false;
    std::vector<std::function<void()>> closed_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace patchbay::connection
