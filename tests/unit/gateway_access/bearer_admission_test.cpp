#include "gateway/access/bearer_admission.hpp"

#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Knows "good", and "new" by looking for it; also "signed", for which there is nothing to look for.
struct FakeJudge final : TokenJudge {
    bool is_its(std::string_view token) const override { return token != "foreign"; }
    std::optional<Bearer> known(std::string_view token) override {
        return token == "good" ? std::optional(Bearer{"id/good", "Good", scope, {}, bundle})
                               : std::nullopt;
    }
    bool is_at_hand(std::string_view token) const override { return token == "signed"; }
    void look_up(std::string_view token, std::function<void(Verdict)> then) override {
        ++looks;
        pending = [token = std::string(token), then = std::move(then)] {
            if (token == "new") return then(Bearer{"id/new", "New"});
            if (token == "signed") return then(Bearer{"id/signed", "Signed"});
            then(Challenge().refusal(Challenge::Error::InvalidToken, "wrong"));
        };
        if (at_once) pending();
    }
    View scope;
    std::string bundle;
    bool at_once = true;
    int looks = 0;
    std::function<void()> pending;
};

class Admitting : public ::testing::Test {
protected:
    // The principal's id, or the status.
    std::string come(const std::string& token, const std::string& target = "/mcp",
                     const std::string& peer = "127.0.0.1") {
        request = {"POST", target, {{"authorization", "Bearer " + token}}, {}, peer};
        if (token.empty()) request.headers.clear();
        outcome.clear();
        const auto note = [this](const Admission::Admitted& as) {
            const auto* guest = std::get_if<Guest>(&as);
            view = guest ? guest->view : View();
            if (guest)
                outcome = guest->principal.id + " " + guest->principal.name;
            else
                outcome = std::to_string(std::get<HttpRefusal>(as).status);
            if (!guest) why = std::get<HttpRefusal>(as).message;
        };
        if (const auto now = admission.admit(request, note)) note(*now);
        return outcome;
    }

    http::Request request;
    std::string outcome, why;
    View view;
    std::map<std::string, View> bundles;
    test::HandTime time;
    FakeJudge judge;
    Everybody everybody{Endpoints()};
    BearerAdmission admission{
        time, everybody, {&judge}, Challenge(), [this](const auto& name) -> Result<View> {
            const auto found = bundles.find(name);
            if (found != bundles.end()) return found->second;
            return Error{ErrorCode::NotFound, "no bundle; there are: secret-project"};
        }};
};

TEST_F(Admitting, SaysWhoItIs) {
    EXPECT_EQ(come("good"), "id/good Good");
    EXPECT_EQ(come("new"), "id/new New");
    EXPECT_EQ(come(""), "401");
    EXPECT_EQ(come("bad"), "401");
    EXPECT_EQ(come("foreign"), "401");
}

TEST_F(Admitting, TellsAStrangerOfNoPaths) {
    EXPECT_EQ(come("", "/other"), "401");
    EXPECT_EQ(come("good", "/other"), "404");
    EXPECT_EQ(come("good", "/mcp?access_token=good"), "400");
}

TEST_F(Admitting, ShowsNoMoreThanTheTokenIsGoodFor) {
    judge.scope.picked = View::Ids{"git"};
    come("good");
    EXPECT_TRUE(view.holds("git"));
    EXPECT_FALSE(view.holds("web"));
    come("new");
    EXPECT_TRUE(view.all());
}

TEST_F(Admitting, ShowsNoMoreThanTheBundleOfTheTokenHolds) {
    bundles["review"].picked = View::Ids{"git", "web"};
    bundles["review"].tools = {{"mcp__git__log", "mcp__web__*"}};
    judge.bundle = "review";
    judge.scope.picked = View::Ids{"git", "files"};
    ASSERT_EQ(come("good"), "id/good Good");
    EXPECT_TRUE(view.holds("git", "mcp__git__log"));
    EXPECT_FALSE(view.holds("git", "mcp__git__push"));
    EXPECT_FALSE(view.holds("web")) << "its servers do not name it";
    EXPECT_FALSE(view.holds("files")) << "the bundle does not hold it";
}

TEST_F(Admitting, ATokenOfABundleThatIsNotThereShowsNothingAndSaysWhy) {
    judge.bundle = "review";
    EXPECT_EQ(come("good"), "403");
    EXPECT_THAT(why, HasSubstr("this token is for bundle \"review\", which is not here any more"));
    EXPECT_THAT(why, Not(HasSubstr("secret-project"))) << "which others there are is not told";
    bundles["review"].picked = View::Ids{};
    EXPECT_EQ(come("good"), "id/good Good");
    EXPECT_FALSE(view.holds("git")) << "nothing is in both";
    BearerAdmission without{time, everybody, {&judge}, Challenge()};
    const auto refused = without.admit(request, [](const auto&) {});
    ASSERT_TRUE(refused && std::holds_alternative<HttpRefusal>(*refused));
    EXPECT_EQ(std::get<HttpRefusal>(*refused).status, 403u);
}

TEST_F(Admitting, WaitsForWhoKnows) {
    judge.at_once = false;
    EXPECT_EQ(come("new"), "");
    judge.pending();
    EXPECT_EQ(outcome, "id/new New");
}

TEST_F(Admitting, WrongTokensOfOneAddressKeepNobodyElseOut) {
    for (unsigned i = 0; i < FailedAttempts::kBurst; ++i) EXPECT_EQ(come("bad"), "401");
    const int looks = judge.looks;
    EXPECT_EQ(come("bad"), "429");
    EXPECT_EQ(come("foreign"), "429");
    EXPECT_EQ(judge.looks, looks) << "nothing is looked for any more";
    EXPECT_EQ(come("good"), "id/good Good") << "also from the same address";
    EXPECT_EQ(come("signed"), "id/signed Signed") << "and there is nothing to be guessed";
    EXPECT_EQ(come("new", "/mcp", "127.0.0.2"), "id/new New");
    EXPECT_EQ(come(""), "401") << "who has none is told what is needed";
    time.turn(FailedAttempts::kPause);
    EXPECT_EQ(come("new"), "id/new New");
}

}  // namespace
}  // namespace patchbay::gateway
