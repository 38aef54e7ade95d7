// The tokens that were given out, as a running gateway knows them: what `patchbay token` changes
// meanwhile counts within kLook, and for a token that was just given out at once.
//
// Owns:    a thread that looks at the record. Borrows the loop.
// Threads: [loop].
// Errors:  a record that cannot be believed lets nobody in, and the log says why.
// Limits:  kMostWaiting wait for a look at the record; the others are told to come again. Wrong
//          tokens cause a look each kPause at most.
#pragma once

#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "core/worker.hpp"
#include "gateway/access/token_file.hpp"
#include "gateway/access/token_judge.hpp"

#include <set>
#include <vector>

namespace patchbay::gateway {

class KnownTokens final : public TokenJudge {
public:
    static constexpr std::chrono::seconds kLook{1};
    static constexpr std::chrono::milliseconds kPause{100};
    static constexpr std::size_t kMostWaiting = 256;

    // `gone` is told the id of each principal whose token is none any more.
    KnownTokens(core::Loop& loop, TokenFile file, TokenFile::Read read, Challenge challenge,
                std::function<void(const std::string& id)> gone);

    // As they were read last.
    const Tokens& all() const { return tokens_; }
    bool is_its(std::string_view token) const override;
    std::optional<Bearer> known(std::string_view token) override;
    void look_up(std::string_view token, std::function<void(Verdict)> then) override;

private:
    struct Waiting {
        std::string token;
        std::function<void(Verdict)> then;
    };
    void look_later(std::chrono::nanoseconds pause);
    void look();
    void looked(Result<std::optional<TokenFile::Read>> found);
    void tell_gone();
    core::Calendar::time_point date() const { return loop_.time().date(); }

    core::Loop& loop_;
    const TokenFile file_;
    const Challenge challenge_;
    const std::function<void(const std::string&)> gone_;
    Tokens tokens_;
    TokenFile::Edition edition_;
    std::string trouble_;            // that was said of the record
    std::set<std::string> present_;  // ids whose going has not been told
    std::vector<Waiting> waiting_;   // for a look that has not begun
    bool looking_ = false;
    core::Clock::time_point last_;
    core::Timer next_;
    core::Worker worker_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
