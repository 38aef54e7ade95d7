#include "gateway/access/known_tokens.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace patchbay::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class Known : public ::testing::Test {
protected:
    Token add(const std::string& name, const std::string& text,
              std::optional<core::Calendar::time_point> expires = {}) {
        Token token{name, sha256_of_token(text), core::Calendar::now(), expires};
        EXPECT_TRUE(file.add(token));
        return token;
    }
    KnownTokens& tokens() {
        if (!tokens_)
            tokens_.emplace(loop, file, std::move(**file.read_unless({})), Challenge(),
                            [this](const std::string& id) { gone.push_back(id); });
        return *tokens_;
    }
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    // Its name, or the status.
    std::string looked_up(const std::string& token) {
        std::string outcome;
        tokens().look_up(token, [&](TokenJudge::Verdict verdict) {
            const auto* bearer = std::get_if<Bearer>(&verdict);
            outcome = bearer ? bearer->name : std::to_string(std::get<HttpRefusal>(verdict).status);
        });
        wait([&] { return !outcome.empty(); });
        return outcome;
    }

    test::ScratchFolder folder;
    const TokenFile file{folder.path()};
    core::Loop loop;
    std::vector<std::string> gone;
    std::optional<KnownTokens> tokens_;
};

TEST_F(Known, AreThoseOfTheRecord) {
    add("a", "patchbay_a");
    EXPECT_EQ(tokens().known("patchbay_a")->name, "a");
    EXPECT_FALSE(tokens().known("patchbay_b"));
    EXPECT_TRUE(tokens().is_its("patchbay_b"));
    EXPECT_FALSE(tokens().is_its("eyJ.x.y"));
    EXPECT_EQ(looked_up("patchbay_b"), "401");
}

TEST_F(Known, OneThatWasJustGivenOutCountsAtOnce) {
    tokens();
    add("a", "patchbay_a");
    EXPECT_EQ(looked_up("patchbay_a"), "a");
}

TEST_F(Known, OneThatWasTakenBackIsToldOfWithoutARequest) {
    const auto a = add("a", "patchbay_a");
    add("b", "patchbay_b");
    tokens();
    ASSERT_TRUE(file.remove("a"));
    ASSERT_TRUE(wait([&] { return !gone.empty(); }));
    EXPECT_THAT(gone, ElementsAre(a.id()));
    EXPECT_FALSE(tokens().known("patchbay_a"));
    EXPECT_TRUE(tokens().known("patchbay_b"));
}

TEST_F(Known, OneThatExpiresIsToldOfToo) {
    const auto a = add("a", "patchbay_a", core::Calendar::now() + 1s);
    tokens();
    ASSERT_TRUE(wait([&] { return !gone.empty(); }));
    EXPECT_THAT(gone, ElementsAre(a.id()));
}

TEST_F(Known, ADamagedRecordLetsNobodyInUntilItIsMended) {
    const auto a = add("a", "patchbay_a");
    tokens();
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ofstream(file.path()) << "garbage";
    ASSERT_TRUE(wait([&] { return !gone.empty(); }));
    EXPECT_FALSE(tokens().known("patchbay_a"));
    std::ofstream(file.path()) << text;
    EXPECT_EQ(looked_up("patchbay_a"), "a");
}

TEST_F(Known, MoreThanMayWaitAreTurnedAway) {
    unsigned refused = 0, busy = 0;
    for (std::size_t i = 0; i < KnownTokens::kMostWaiting + 10; ++i)
        tokens().look_up("patchbay_" + std::to_string(i), [&](TokenJudge::Verdict verdict) {
            std::get<HttpRefusal>(verdict).status == 429 ? ++busy : ++refused;
        });
    EXPECT_EQ(busy, 10u);
    EXPECT_TRUE(wait([&] { return refused == KnownTokens::kMostWaiting; }));
}

TEST_F(Known, NobodyIsToldAfterTheEnd) {
    bool told = false;
    tokens().look_up("patchbay_x", [&](const TokenJudge::Verdict&) { told = true; });
    tokens_.reset();
    bool turned = false;
    loop.after(1ms, [&] { turned = true; });
    wait([&] { return turned; });
    EXPECT_FALSE(told);
    EXPECT_THAT(gone, IsEmpty());
}

}  // namespace
}  // namespace patchbay::gateway
