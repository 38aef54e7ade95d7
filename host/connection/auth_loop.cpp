#include "connection/auth_loop.hpp"

#include "core/log.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

constexpr std::chrono::seconds kAhead{60};  // asked again this long before the end, at most
constexpr std::chrono::hours kLongestWait{24};

}  // namespace

AuthLoop::AuthLoop(core::Loop& loop, Make make, plugin::Asking asking,
                   std::function<void()> renewed)
    : loop_(loop), make_(std::move(make)), asking_(asking), renewed_(std::move(renewed)) {}

AuthLoop::~AuthLoop() {
    *alive_ = false;
    if (renewal_) loop_.cancel(renewal_);
}

void AuthLoop::ask(const plugin::Problem& challenge, Handler handler) {
    challenge_ = challenge;
    if (running_) {
        challenge_waits_ = challenge_waits_ || unasked_;
        waiting_.push_back(std::move(handler));
        return;
    }
    begin_for(&challenge_, challenge_.url, asking_, std::move(handler));
}

void AuthLoop::ask_ahead(const std::string& url, Handler handler) {
    if (running_) {
        waiting_.push_back(std::move(handler));
        return;
    }
    begin_for(nullptr, url, plugin::Asking::Quiet, std::move(handler));
}

void AuthLoop::begin_for(const plugin::Problem* challenge, const std::string& url,
                         plugin::Asking asking, Handler handler) {
    if (const auto begun = begin(challenge, url, asking); !begun) {
        loop_.defer([watch = alive_, handler = std::move(handler), error = begun.error()] {
            if (*watch) handler(error);
        });
        return;
    }
    waiting_.push_back(std::move(handler));
}

Result<void> AuthLoop::begin(const plugin::Problem* challenge, const std::string& url,
                             plugin::Asking asking) {
    if (!make_) return Error{ErrorCode::AuthRequired, "no auth is configured"};
    if (closing_) return Error{ErrorCode::Unavailable, "the connection is closed"};
    if (!authenticator_) {
        auto made = make_(*this);
        if (!made) return made.error();
        authenticator_ = std::move(*made);
    }
    url_ = url;
    plugin::AcquireRequest request;
    request.operation = ++last_;
    request.url = url;
    request.asking = asking;
    request.challenge = challenge;
    running_ = last_;
    unasked_ = !challenge;
    challenge_waits_ = false;
    auto begun = authenticator_->acquire(request);
    if (!begun) running_ = 0;
    return begun;
}

void AuthLoop::on_acquired(plugin::OperationId operation, Result<plugin::Grant> grant) {
    if (operation != running_) return;
    running_ = 0;
    if (!grant && challenge_waits_ && !closing_) {
        // What the waiting joined knew nothing of their challenge, and asked nobody.
        if (const auto begun = begin(&challenge_, challenge_.url, asking_); !begun)
            tell(begun.error());
        return;
    }
    if (!grant) return tell(grant.error());
    credentials_ = std::move(grant->credentials);
    ++generation_;
    if (grant->expires) plan_renewal(*grant->expires);
    if (waiting_.empty()) return renewed_();
    tell({});
}

void AuthLoop::plan_renewal(std::chrono::system_clock::time_point expires) {
    if (renewal_) loop_.cancel(std::exchange(renewal_, 0));
    const auto life = std::chrono::duration_cast<std::chrono::milliseconds>(
        expires - std::chrono::system_clock::now());
    if (life.count() <= 0) return;  // the next refusal asks
    const auto ahead = std::min<std::chrono::milliseconds>(kAhead, life / 5);
    const auto wait = std::min<std::chrono::milliseconds>(life - ahead, kLongestWait);
    renewal_ = loop_.after(wait, [this, expires, whole = wait == life - ahead] {
        renewal_ = 0;
        if (!whole) return plan_renewal(expires);
        if (running_ || closing_) return;
        // Nobody is asked to sign in for a token that nobody has missed yet.
        const auto begun = begin(nullptr, url_, plugin::Asking::Quiet);
        if (!begun) core::log::debug("credentials were not renewed: " + begun.error().message);
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
    if (renewal_) loop_.cancel(std::exchange(renewal_, 0));
    if (!authenticator_) return loop_.defer(std::move(closed));
    closed_.push_back(std::move(closed));
    if (running_) authenticator_->cancel(running_);
    authenticator_->close();
}

void AuthLoop::on_authenticator_closed() {
    // It is still delivering this very event: it goes when that has returned.
    loop_.defer([gone = std::shared_ptr<plugin::Authenticator>(std::move(authenticator_))] {});
    running_ = 0;
    if (!waiting_.empty()) tell(Error{ErrorCode::Unavailable, "the auth method has closed"});
    for (auto& handler : std::exchange(closed_, {})) loop_.defer(std::move(handler));
}

}  // namespace patchbay::connection
