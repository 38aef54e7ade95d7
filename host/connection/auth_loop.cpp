#include "connection/auth_loop.hpp"

#include "core/log.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

constexpr std::chrono::seconds kAhead{60};  // asked again this long before the end, at most
constexpr std::chrono::hours kLongestWait{24};

}  // namespace

AuthLoop::AuthLoop(core::Loop& loop, Make make, plugin::Asking asking,
                   std::function<void()> renewed, std::chrono::milliseconds pace)
    : loop_(loop),
      make_(std::move(make)),
      asking_(asking),
      renewed_(std::move(renewed)),
      pace_(pace) {}

AuthLoop::~AuthLoop() {
    *alive_ = false;
}

void AuthLoop::ask(const plugin::Problem& challenge, Handler handler) {
    challenge_ = challenge;
    waiting_.push_back(std::move(handler));
    if (running_)
        challenge_waits_ = challenge_waits_ || unasked_;
    else
        begin_challenged();
}

void AuthLoop::ask_ahead(const std::string& url, Handler handler) {
    waiting_.push_back(std::move(handler));
    if (!running_) begin(nullptr, url, plugin::Asking::Quiet);
}

void AuthLoop::begin_challenged() {
    const auto now = loop_.now();
    spent_until_ = std::max(spent_until_, now) + pace_;
    const auto turn = spent_until_ - kBurst * pace_;
    if (turn <= now || closing_) return begin(&challenge_, challenge_.url, asking_);
    running_ = ++last_;
    unasked_ = challenge_waits_ = false;
    its_turn_.start(std::chrono::ceil<std::chrono::milliseconds>(turn - now),
                    [this] { begin(&challenge_, challenge_.url, asking_); });
}

// Whatever comes of it, on_acquired() hears of it from the loop.
void AuthLoop::begin(const plugin::Problem* challenge, const std::string& url,
                     plugin::Asking asking) {
    const auto operation = running_ = ++last_;
    unasked_ = !challenge;
    challenge_waits_ = false;
    url_ = url;
    if (!make_) return end_later(operation, {ErrorCode::AuthRequired, "no auth is configured"});
    if (closing_) return end_later(operation, {ErrorCode::Unavailable, "the connection is closed"});
    auto made = [this, watch = alive_, operation, challenge,
                 asking](Result<std::unique_ptr<plugin::Authenticator>> one) {
        if (!*watch || operation != running_) return;  // it went with the connection meanwhile
        if (!one) return end_later(operation, one.error());
        authenticator_ = std::move(*one);
        if (const auto begun = acquire(challenge, asking); !begun)
            end_later(operation, begun.error());
    };
    if (!authenticator_) return make_(*this, std::move(made));
    if (const auto begun = acquire(challenge, asking); !begun) end_later(operation, begun.error());
}

Result<void> AuthLoop::acquire(const plugin::Problem* challenge, plugin::Asking asking) {
    plugin::AcquireRequest request;
    request.operation = running_;
    request.url = url_;
    request.asking = asking;
    request.challenge = challenge;
    return authenticator_->acquire(request);
}

void AuthLoop::end_later(plugin::OperationId operation, const Error& error) {
    loop_.defer([this, watch = alive_, operation, error] {
        if (*watch) on_acquired(operation, error);
    });
}

void AuthLoop::on_acquired(plugin::OperationId operation, Result<plugin::Grant> grant) {
    if (operation != running_) return;
    running_ = 0;
    if (!grant && challenge_waits_ && !closing_) {
        // What the waiting joined knew nothing of their challenge, and asked nobody.
        return begin_challenged();
    }
    if (!grant && waiting_.empty())
        core::log::debug("credentials were not renewed: " + grant.error().message);
    if (!grant) return tell(grant.error());
    credentials_ = std::move(grant->credentials);
    ++generation_;
    if (grant->expires) plan_renewal(*grant->expires);
    if (waiting_.empty()) return renewed_();
    tell({});
}

void AuthLoop::plan_renewal(std::chrono::system_clock::time_point expires) {
    renewal_.stop();
    const auto life =
        std::chrono::duration_cast<std::chrono::milliseconds>(expires - loop_.time().date());
    if (life.count() <= 0) return;  // the next refusal asks
    const auto ahead = std::min<std::chrono::milliseconds>(kAhead, life / 5);
    const auto wait = std::min<std::chrono::milliseconds>(life - ahead, kLongestWait);
    renewal_.start(wait, [this, expires, whole = wait == life - ahead] {
        if (!whole) return plan_renewal(expires);
        if (running_ || closing_) return;
        // Nobody is asked to sign in for a token that nobody has missed yet.
        begin(nullptr, url_, plugin::Asking::Quiet);
    });
}

void AuthLoop::tell(const Result<void>& outcome) {
    const auto watch = alive_;
    for (auto& handler : std::exchange(waiting_, {})) {
        handler(outcome);
        if (!*watch) return;
    }
}

void AuthLoop::close(std::function<void()> closed) {
    closing_ = true;
    renewal_.stop();
    const bool asked = running_ && !its_turn_.running();  // the plugin knows of it
    its_turn_.stop();
    if (!authenticator_) {
        // Its plugin may be loading still: that comes to nothing.
        if (running_) end_later(running_, {ErrorCode::Cancelled, "the connection is closed"});
        return loop_.defer(std::move(closed));
    }
    closed_.push_back(std::move(closed));
    if (asked) authenticator_->cancel(running_);
    authenticator_->close();
}

void AuthLoop::on_authenticator_closed() {
    // It is still delivering this very event: it goes when that has returned.
    loop_.defer([gone = std::shared_ptr<plugin::Authenticator>(std::move(authenticator_))] {});
    its_turn_.stop();
    running_ = 0;
    if (!waiting_.empty()) tell(Error{ErrorCode::Unavailable, "the auth method has closed"});
    for (auto& handler : std::exchange(closed_, {})) loop_.defer(std::move(handler));
}

}  // namespace patchbay::connection
