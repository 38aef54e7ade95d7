#include "gateway/access/known_tokens.hpp"

#include "core/log.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::gateway {

KnownTokens::KnownTokens(core::Loop& loop, TokenFile file, TokenFile::Read read,
                         Challenge challenge, std::function<void(const std::string&)> gone)
    : loop_(loop),
      file_(std::move(file)),
      challenge_(std::move(challenge)),
      gone_(std::move(gone)),
      tokens_(std::move(read.tokens)),
      edition_(std::move(read.edition)),
      last_(loop.now()),
      next_(loop),
      worker_(loop, 1) {
    for (const auto& each : tokens_.all()) present_.insert(each.id());
    look_later(kLook);
}

bool KnownTokens::is_its(std::string_view token) const {
    return token.starts_with(Token::kPrefix);
}

std::optional<Bearer> KnownTokens::known(std::string_view token) {
    const auto* found = tokens_.find(token, date());
    if (!found) return {};
    return Bearer{found->id(), found->name, found->scope(), {}, found->bundle};
}

// It may have been given out since the last look: one that began before does not count.
void KnownTokens::look_up(std::string_view token, std::function<void(Verdict)> then) {
    if (waiting_.size() >= kMostWaiting) {
        HttpRefusal busy{429, "too many tokens are being looked up; try again"};
        return then(std::move(busy));
    }
    waiting_.push_back({std::string(token), std::move(then)});
    if (!looking_) look_later(std::max(last_ + kPause - loop_.now(), core::Clock::duration(0)));
}

void KnownTokens::look_later(std::chrono::nanoseconds pause) {
    next_.start(pause, [this] { look(); });
}

void KnownTokens::look() {
    looking_ = true;
    auto told = std::exchange(waiting_, {});
    worker_.run([file = file_,
                 edition = edition_](const std::stop_token&) { return file.read_unless(edition); },
                lifetime_.guard([this, told = std::move(told)](auto found) {
                    looking_ = false;
                    last_ = loop_.now();
                    looked(std::move(found));
                    look_later(waiting_.empty() ? std::chrono::nanoseconds(kLook)
                                                : std::chrono::nanoseconds(kPause));
                    for (const auto& each : told) {
                        if (auto bearer = known(each.token))
                            each.then(std::move(*bearer));
                        else
                            each.then(challenge_.refusal(Challenge::Error::InvalidToken,
                                                         "the token is not known, has expired or "
                                                         "was taken back"));
                    }
                }));
}

void KnownTokens::looked(Result<std::optional<TokenFile::Read>> found) {
    if (!found) {
        if (std::exchange(trouble_, found.error().message) != trouble_)
            core::log::error("nobody is let in by a token: " + trouble_);
        tokens_ = {};
        edition_.clear();
    } else if (*found) {
        tokens_ = std::move((*found)->tokens);
        edition_ = std::move((*found)->edition);
        trouble_.clear();
    }
    for (const auto& each : tokens_.all())
        if (!each.expired(date())) present_.insert(each.id());
    tell_gone();
}

void KnownTokens::tell_gone() {
    std::vector<std::string> gone;
    std::erase_if(present_, [&](const std::string& id) {
        if (tokens_.has(id, date())) return false;
        gone.push_back(id);
        return true;
    });
    for (const auto& each : gone) gone_(each);
}

}  // namespace patchbay::gateway
