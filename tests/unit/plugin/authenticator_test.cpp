#include "plugin/authenticator.hpp"

#include "core/log.hpp"
#include "plugin/loading/catalogue.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

struct Outcomes final : AuthenticatorEvents {
    std::vector<std::pair<OperationId, Result<Grant>>> acquired;
    int closed = 0;
    void on_acquired(OperationId operation, Result<Grant> grant) override {
        acquired.emplace_back(operation, std::move(grant));
    }
    void on_authenticator_closed() override { ++closed; }
};

class AuthenticatorTest : public testing::Test {
protected:
    AuthenticatorTest() {
        install_built(folder_, "fake_auth");
        SearchOptions options;
        options.config_directories = {folder_.path()};
        options.built_in = false;
        catalogue_ = std::make_unique<Catalogue>(loop_, options);
    }
    Result<void> create(const std::string& behave = "well") {
        auto made = catalogue_->create_authenticator(
            "fake_auth", {"demo", {{"behave", behave}, {"token", "hunter"}}, {}}, events_);
        if (!made) return made.error();
        authenticator_ = std::move(*made);
        return {};
    }
    Result<void> acquire(OperationId operation, Asking asking = Asking::MayAsk,
                         const Problem* challenge = nullptr) {
        return authenticator_->acquire(
            {operation, "https://example.com/mcp", asking, challenge, {}});
    }
    // The outcome of one acquire by a fresh authenticator.
    Result<Grant> outcome(const std::string& behave, const Problem* challenge = nullptr) {
        if (auto made = create(behave); !made) return made.error();
        if (auto begun = acquire(1, Asking::MayAsk, challenge); !begun) return begun.error();
        EXPECT_TRUE(events_.acquired.empty()) << "an event was delivered from inside acquire";
        EXPECT_TRUE(until([&] { return !events_.acquired.empty(); }));
        return events_.acquired.at(0).second;
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + 20s);
    }
    std::string misbehaviour() {
        if (!until([&] { return catalogue_->list().at(0).state == PluginState::Misbehaved; }))
            return "(none)";
        return catalogue_->list().at(0).reason;
    }
    void TearDown() override {
        if (authenticator_) authenticator_->close();
        until([&] { return !authenticator_ || events_.closed > 0; });
        authenticator_.reset();
    }

    core::Loop loop_;
    PluginFolder folder_;
    std::unique_ptr<Catalogue> catalogue_;
    Outcomes events_;
    std::unique_ptr<Authenticator> authenticator_;  // gone before the catalogue
};

TEST_F(AuthenticatorTest, HandsOnWhatIsGrantedAndMasksTheSecret) {
    const auto grant = outcome("well");
    ASSERT_TRUE(grant) << grant.error().message;
    ASSERT_EQ(grant->credentials.size(), 1u);
    EXPECT_EQ(grant->credentials[0].name, "Authorization");
    EXPECT_EQ(grant->credentials[0].value, "Bearer hunter-1");
    EXPECT_TRUE(grant->credentials[0].secret);
    EXPECT_FALSE(grant->expires);
    EXPECT_EQ(core::log::masked("it sent Bearer hunter-1"), "it sent ***");
    authenticator_->close();
    EXPECT_TRUE(until([&] { return events_.closed == 1; }));
    authenticator_->close();
}

TEST_F(AuthenticatorTest, HearsAGrantFromAnotherThread) {
    EXPECT_EQ(outcome("thread").value().credentials.at(0).value, "Bearer hunter-1");
}

TEST_F(AuthenticatorTest, KnowsWhenAGrantEnds) {
    const auto grant = outcome("short");
    ASSERT_TRUE(grant && grant->expires);
    EXPECT_LE(*grant->expires, std::chrono::system_clock::now() + 1s);
}

TEST_F(AuthenticatorTest, TellsThePluginWhoRefusedAndHow) {
    Problem challenge;
    challenge.http_status = 401;
    challenge.headers = {{"WWW-Authenticate", "Bearer scope=\"a\""}};
    EXPECT_EQ(outcome("challenge", &challenge).value().credentials.at(0).value,
              "401 https://example.com/mcp Bearer scope=\"a\"");
}

TEST_F(AuthenticatorTest, ReportsRefusalsWithThePluginsText) {
    EXPECT_EQ(create("refuse_create").error().message,
              "auth \"fake_auth\": no account for \"demo\"");
    auto refused = outcome("refuse_acquire");
    EXPECT_EQ(refused.error().code, ErrorCode::AuthRequired);
    EXPECT_EQ(refused.error().message, "the wallet is locked");
    ASSERT_TRUE(create("deny"));
    ASSERT_TRUE(acquire(1));
    ASSERT_TRUE(until([&] { return !events_.acquired.empty(); }));
    EXPECT_EQ(events_.acquired[0].second.error().message, "the account is closed");
}

TEST_F(AuthenticatorTest, TellsSomebodyWhoIsAwayFromTroubleAtHome) {
    EXPECT_EQ(outcome("away").error().code, ErrorCode::Unavailable);
}

TEST_F(AuthenticatorTest, LeavesTroubleAtHomeWhatItIs) {
    EXPECT_EQ(outcome("full_disk").error().code, ErrorCode::Io);
}

TEST_F(AuthenticatorTest, DoesOneThingAtATimeAndCancelsIt) {
    ASSERT_TRUE(create("wait"));
    ASSERT_TRUE(acquire(1));
    EXPECT_EQ(acquire(2).error().code, ErrorCode::Internal);
    authenticator_->cancel(7);
    authenticator_->cancel(1);
    ASSERT_TRUE(until([&] { return !events_.acquired.empty(); }));
    EXPECT_EQ(events_.acquired[0].second.error().code, ErrorCode::Cancelled);
}

TEST_F(AuthenticatorTest, ForgetsWhenAsked) {
    ASSERT_TRUE(create());
    ASSERT_TRUE(acquire(1));
    ASSERT_TRUE(until([&] { return events_.acquired.size() == 1; }));
    authenticator_->forget();
    ASSERT_TRUE(acquire(2));
    ASSERT_TRUE(until([&] { return events_.acquired.size() == 2; }));
    EXPECT_EQ(events_.acquired[1].second.value().credentials.at(0).value, "Bearer hunter-1");
}

TEST_F(AuthenticatorTest, UnknownMethodsNameTheNearest) {
    const auto made = catalogue_->create_authenticator("fake_aut", {}, events_);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("unknown auth method \"fake_aut\""));
    EXPECT_THAT(made.error().message, HasSubstr("did you mean \"fake_auth\""));
    EXPECT_EQ(catalogue_->auth_methods(), std::vector<std::string>{"fake_auth"});
    EXPECT_TRUE(catalogue_->transports().empty());
    EXPECT_THAT(catalogue_->auth_schema_of("fake_auth").value(), HasSubstr("\"behave\""));
}

struct Misdeed {
    const char *behave, *what;
    bool ends_the_operation;
};
class AuthMisdeeds : public AuthenticatorTest, public testing::WithParamInterface<Misdeed> {};

TEST_P(AuthMisdeeds, AreNamedAndEndTheOperation) {
    auto made = create(GetParam().behave);
    if (made) {
        ASSERT_TRUE(acquire(1));
        ASSERT_TRUE(until([&] { return !events_.acquired.empty(); }));
        if (GetParam().ends_the_operation) {
            EXPECT_EQ(events_.acquired[0].second.error().code, ErrorCode::Internal);
        }
        authenticator_->close();
        ASSERT_TRUE(until([&] { return events_.closed > 0; }));
    } else {
        EXPECT_EQ(made.error().code, ErrorCode::Internal);
    }
    EXPECT_THAT(misbehaviour(), HasSubstr(GetParam().what));
    EXPECT_EQ(events_.closed, made ? 1 : 0);
    EXPECT_FALSE(create()) << "it is not used again";
}
INSTANTIATE_TEST_SUITE_P(
    All, AuthMisdeeds,
    testing::Values(
        Misdeed{"no_authenticator", "create returned OK without an authenticator", false},
        Misdeed{"acquired_twice", "acquired for operation 1, which has ended", false},
        Misdeed{"strange_operation", "acquired for operation 1001", true},
        Misdeed{"no_grant", "acquired with OK and no grant", true},
        Misdeed{"bad_header", "a credential that no header can carry: \"Authorization\"", true},
        Misdeed{"closed_twice", "closed after closed", false}),
    [](const auto& named) { return std::string(named.param.behave); });

TEST_F(AuthenticatorTest, ThatNeverClosesIsLeftBehind) {
    ASSERT_TRUE(create("never_close"));
    authenticator_->close();
    testing::internal::CaptureStderr();
    authenticator_.reset();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("left behind"));
    catalogue_.reset();  // does not shut the plugin down, does not wait for it
    EXPECT_EQ(events_.closed, 0);
}

}  // namespace
