// Servers that want credentials, and a real auth plugin that grants them.
#include "core/log.hpp"
#include "plugin/loading/catalogue.hpp"
#include "unit/connection/fixture.hpp"
#include "unit/connection/granting_method.hpp"
#include "unit/plugin/plugin_folder.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class Authorization : public HttpConnectionTest {
protected:
    Authorization() { server.be_modern({tool_named("a")}); }
    ~Authorization() override { close(); }
    // [auth.main] of the fake method.
    void use_auth(const std::string& behave) {
        test::install_built(folder, "fake_auth");
        plugin::SearchOptions options;
        options.config_directories = {folder.path()};
        options.built_in = false;
        catalogue = std::make_unique<plugin::Catalogue>(loop, options);
        auth_of = [this](const config::Server&) { return AuthChoice{"auth \"main\"", ahead}; };
        authenticate = [this, behave](const config::Server& asking_one, const AuthMethod&,
                                      std::shared_ptr<plugin::Signer>,
                                      plugin::AuthenticatorEvents& on) {
            return catalogue->create_authenticator(
                "fake_auth", {asking_one.id, {{"behave", behave}, {"token", "t0ken"}}, {}}, on);
        };
    }
    void refuse(const char* method, int times = 1, unsigned status = 401) {
        auto problem =
            FakeServer::problem(ErrorCode::AuthRequired, "HTTP " + std::to_string(status), status);
        problem.headers = {{"WWW-Authenticate", "Bearer realm=\"x\""}};
        for (int i = 0; i < times; ++i) server.endings[method].push_back(problem);
    }
    std::string sent_with(const char* method, std::size_t nth) {
        const auto& credentials = server.arrival(method, nth).credentials;
        return credentials.empty() ? "(none)" : credentials.at(0).value;
    }

    test::PluginFolder folder;
    std::unique_ptr<plugin::Catalogue> catalogue;
    bool ahead = false;
};

TEST_F(Authorization, TheHandshakeGoesOnWithWhatIsGranted) {
    use_auth("well");
    refuse("server/discover");
    ASSERT_EQ(connect(), State::Ready) << connection().status().last_error;
    EXPECT_EQ(server.opened, 1);
    EXPECT_EQ(sent_with("server/discover", 0), "(none)");
    EXPECT_EQ(sent_with("server/discover", 1), "Bearer t0ken-1");
    EXPECT_NE(server.arrival("server/discover", 0).exchange,
              server.arrival("server/discover", 1).exchange);
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(core::log::masked("Bearer t0ken-1"), "***");
}

TEST_F(Authorization, TheMethodHearsTheChallenge) {
    use_auth("challenge");
    refuse("server/discover");
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(sent_with("server/discover", 1), "401 https://example.com/mcp Bearer realm=\"x\"");
}

TEST_F(Authorization, OneQuestionServesEverybodyWhoWasRefused) {
    use_auth("thread");
    ASSERT_EQ(connect(), State::Ready);
    loop.stand_still();
    refuse("tools/call", 3);
    int answered = 0;
    for (int i = 0; i < 3; ++i)
        connection().request(caller, call("a"), [&](Result<Reply> reply) {
            EXPECT_TRUE(reply) << reply.error().message;
            ++answered;
        });
    ASSERT_TRUE(wait([&] { return answered == 3; }));
    EXPECT_EQ(server.requests("tools/call").size(), 6u);
    for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(sent_with("tools/call", i), "Bearer t0ken-1");
}

TEST_F(Authorization, AMessageIsSentAgainAtMostTwice) {
    use_auth("well");
    ASSERT_EQ(connect(), State::Ready);
    refuse("tools/call", 2);
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(sent_with("tools/call", 2), "Bearer t0ken-2");
    refuse("tools/call", 3);
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::AuthRequired);
    EXPECT_THAT(reply.error().message,
                HasSubstr("HTTP 401 (https://example.com/mcp); auth \"main\" gave credentials that "
                          "were refused 2 times"));
    EXPECT_EQ(server.requests("tools/call").size(), 6u);
    EXPECT_EQ(connection().state(), State::AuthRequired);
}

TEST_F(Authorization, ThatIsForbiddenByTheConfigurationIsSaidToBe) {
    refuse("server/discover");
    spec.config.auth = "none";
    ASSERT_EQ(connect(), State::AuthRequired);
    EXPECT_EQ(
        connection().status().last_error,
        "server \"s\": HTTP 401 (https://example.com/mcp); auth = \"none\" forbids a sign-in");
}

TEST_F(Authorization, WithoutAuthTheStateSaysWhatToDo) {
    refuse("server/discover");
    ASSERT_EQ(connect(), State::AuthRequired);
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": HTTP 401 (https://example.com/mcp); set auth or bearer_token_env_var "
              "for this server");
    EXPECT_EQ(old_server.opened, 0);
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::AuthRequired);
}

TEST_F(Authorization, AMethodThatRefusesIsQuoted) {
    use_auth("deny");
    refuse("server/discover");
    ASSERT_EQ(connect(), State::AuthRequired);
    EXPECT_THAT(connection().status().last_error,
                HasSubstr("HTTP 401 (https://example.com/mcp); the account is closed"));
}

TEST_F(Authorization, NobodyIsAskedToSignInWhenNobodyIsThere) {
    use_auth("no_person");
    refuse("server/discover", 2);
    ASSERT_EQ(connect(), State::AuthRequired);
    EXPECT_THAT(connection().status().last_error, HasSubstr("somebody has to sign in"));
    close();
    asking = plugin::Asking::MayAsk;
    EXPECT_EQ(connect(), State::Ready) << connection().status().last_error;
}

TEST_F(Authorization, AForbiddenCallLeavesTheServerReady) {
    ASSERT_EQ(connect(), State::Ready);
    refuse("tools/call", 1, 403);
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::AuthRequired);
    EXPECT_THAT(reply.error().message, HasSubstr("HTTP 403"));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_TRUE(ask(call("a")));
}

TEST_F(Authorization, CredentialsAreRenewedAheadOfTheirEnd) {
    use_auth("short");
    refuse("server/discover");
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.credentials.at(0).value, "Bearer t0ken-1");
    EXPECT_TRUE(wait([&] { return server.credentials.at(0).value == "Bearer t0ken-2"; }));
}

TEST_F(Authorization, ABackgroundStreamGetsItsCredentials) {
    use_auth("well");
    ASSERT_EQ(connect(), State::Ready);
    server.challenge(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
    EXPECT_TRUE(wait([&] { return !server.credentials.empty(); }));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(Authorization, AStreamThatRefusesEverythingIsLeftAloneAndMessagesGoOn) {
    use_auth("well");
    ASSERT_EQ(connect(), State::Ready);
    const auto refuse_stream = [&](int times) {
        for (int i = 0; i < times; ++i) {
            server.challenge(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
            // Behind the challenge: by the answer, what it leads to has come.
            ASSERT_TRUE(ask(call("a")));
            ASSERT_TRUE(ask(call("a")));
        }
    };
    refuse_stream(6);
    EXPECT_EQ(server.credentials.at(0).value, "Bearer t0ken-2");
    EXPECT_EQ(connection().state(), State::Ready);
    loop.turn(2min);
    refuse_stream(1);
    EXPECT_EQ(server.credentials.at(0).value, "Bearer t0ken-3") << "they may have expired since";
}

class RefusedStream : public Authorization {
protected:
    void expect_only_a_note() {
        ASSERT_EQ(connect(), State::Ready);
        ::testing::internal::CaptureStderr();
        server.challenge(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
        // Behind the challenge: by the answer, what it leads to has come.
        EXPECT_TRUE(ask(call("a")));
        EXPECT_TRUE(ask(call("a")));
        EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                    HasSubstr("server \"s\": its background stream is refused"));
    }
};

TEST_F(RefusedStream, ShutsNoServerWhoseMessagesAreWelcome) {
    expect_only_a_note();
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(RefusedStream, ShutsNoneEitherWhenTheMethodRefusesToo) {
    use_auth("deny");
    expect_only_a_note();
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(Authorization, AChannelThatWasRefusedIsOpenedAgainWithCredentials) {
    use_auth("well");
    spec.config.transport = "sse";
    old_server.be_legacy({tool_named("a")});
    bool settled = false;
    connection().connect([&] { settled = true; });
    old_server.crash_with(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().state(), State::Ready) << connection().status().last_error;
    EXPECT_EQ(old_server.opened, 2);
    EXPECT_EQ(old_server.arrival("initialize", 1).credentials.at(0).value, "Bearer t0ken-1");
}

TEST_F(Authorization, AChannelThatWasRefusedIsGivenUpWhenTheMethodRefusesToo) {
    use_auth("deny");
    spec.config.transport = "sse";
    bool settled = false;
    connection().connect([&] { settled = true; });
    old_server.crash_with(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().state(), State::AuthRequired);
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": HTTP 401 (https://example.com/mcp); the account is closed");
    EXPECT_EQ(old_server.opened, 1);
}

TEST_F(Authorization, ChannelsThatWereRefusedAreForgivenWithEachSession) {
    use_auth("well");
    long_lived = true;
    spec.config.transport = "sse";
    old_server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 1; i <= 5; ++i) {
        old_server.crash_with(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
        ASSERT_TRUE(wait([&] {
            return old_server.opened == 1 + i && connection().state() == State::Ready;
        })) << i
            << ": " << connection().status().last_error;
    }
}

TEST_F(Authorization, ACallInFlightEndsWhenItsChannelIsRefused) {
    use_auth("well");
    long_lived = true;
    spec.config.transport = "sse";
    old_server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    begin(call("a"), outcome);
    old_server.crash_with(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("may have been carried out"));
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
}

TEST_F(Authorization, ASignInMayTakeLongerThanTheStart) {
    auth_of = [](const config::Server&) { return AuthChoice{"auth \"main\"", false}; };
    authenticate = [this](const config::Server&, const AuthMethod&, std::shared_ptr<plugin::Signer>,
                          plugin::AuthenticatorEvents& on) {
        return Result<std::unique_ptr<plugin::Authenticator>>(
            std::make_unique<GrantingMethod>(loop, on, "Bearer slow", 2'200ms));
    };
    spec.config.startup_timeout = 2s;
    refuse("server/discover");
    ASSERT_EQ(connect(), State::Ready) << connection().status().last_error;
    EXPECT_EQ(sent_with("server/discover", 1), "Bearer slow");
}

TEST_F(Authorization, ClosingEndsAnOperationThatWaitsForAPerson) {
    use_auth("wait");
    refuse("server/discover");
    std::optional<Error> error;
    connection().request(caller, call("a"), [&](Result<Reply> reply) { error = reply.error(); });
    ASSERT_TRUE(wait([&] { return !server.requests("server/discover").empty(); }));
    bool turned = false;
    loop.after(1ms, [&] { turned = true; });
    ASSERT_TRUE(wait([&] { return turned; }));
    bool closed = false;
    connection().close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_TRUE(error.has_value());
}

// ---- the token from the environment

TEST_F(Authorization, ATokenFromTheEnvironmentIsThereFromTheStart) {
    spec.config.bearer_token_env_var = "TOKEN";
    variables["TOKEN"] = "s3cret-value";
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_EQ(server.arrival("server/discover").credentials.size(), 1u);
    EXPECT_EQ(server.arrival("server/discover").credentials[0].name, "Authorization");
    EXPECT_EQ(sent_with("server/discover", 0), "Bearer s3cret-value");
    EXPECT_TRUE(server.arrival("server/discover").credentials[0].secret);
    EXPECT_EQ(core::log::masked("s3cret-value"), "***");
}

TEST_F(Authorization, TheTokenOfTheNextSessionTakesThePlaceOfTheOneBefore) {
    spec.config.bearer_token_env_var = "TOKEN";
    variables["TOKEN"] = "first";
    ASSERT_EQ(connect(), State::Ready);
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    variables["TOKEN"] = "second";
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_EQ(server.arrival("server/discover", 1).credentials.size(), 1u);
    EXPECT_EQ(sent_with("server/discover", 1), "Bearer second");
}

TEST_F(Authorization, AMissingVariableIsAClearError) {
    spec.config.bearer_token_env_var = "TOKEN";
    ASSERT_EQ(connect(), State::Error);
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": the variable TOKEN (bearer_token_env_var) is not set");
    EXPECT_EQ(server.opened, 0);
}

TEST_F(Authorization, AMissingVariableIsNamedWithItsPlace) {
    spec.config.bearer_token_env_var = "TOKEN";
    spec.config.place = {config::Scope::User, "c.toml", 3, 5};
    ASSERT_EQ(connect(), State::Error);
    EXPECT_EQ(
        connection().status().last_error,
        "server \"s\": the variable TOKEN (bearer_token_env_var of user config c.toml:3:5) is "
        "not set");
    EXPECT_EQ(server.opened, 0);
}

TEST_F(Authorization, ATokenThatNoHeaderCarriesIsNotSent) {
    spec.config.bearer_token_env_var = "TOKEN";
    variables["TOKEN"] = "a\r\nX-Evil: 1";
    ASSERT_EQ(connect(), State::Error);
    EXPECT_THAT(connection().status().last_error, HasSubstr("holds no token"));
    EXPECT_EQ(server.opened, 0);
}

TEST_F(Authorization, ATokenThatIsRefusedIsNamed) {
    spec.config.bearer_token_env_var = "TOKEN";
    variables["TOKEN"] = "old-token";
    refuse("server/discover");
    ASSERT_EQ(connect(), State::AuthRequired);
    EXPECT_THAT(connection().status().last_error, HasSubstr("the token in TOKEN is not accepted"));
}

}  // namespace
}  // namespace patchbay::connection
