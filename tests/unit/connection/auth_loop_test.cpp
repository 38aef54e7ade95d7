// Who asks an auth method, when, and who hears of it; and what a connection makes of the outcome.
#include "connection/auth_loop.hpp"

#include "support/turned_loop.hpp"
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What a method was asked, which answers when the test says so.
struct Asked {
    plugin::OperationId operation;
    std::string url, challenge;  // "": nobody has refused anything
    plugin::Asking asking;
};
struct Script {
    std::vector<Asked> asked;
    std::vector<plugin::OperationId> cancelled;
    plugin::AuthenticatorEvents* events = nullptr;
    Result<void> begins;  // how the next acquire does
    int closed = 0;

    void grant(const std::string& token,
               std::optional<std::chrono::system_clock::time_point> expires = {}) {
        plugin::Grant given;
        given.credentials = {{"Authorization", token, true}};
        given.expires = expires;
        events->on_acquired(asked.back().operation, std::move(given));
    }
    void refuse(ErrorCode code, const std::string& why) {
        events->on_acquired(asked.back().operation, Error{code, why});
    }
};

class Method final : public plugin::Authenticator {
public:
    Method(core::Loop& loop, Script& script, plugin::AuthenticatorEvents& events)
        : loop_(loop), script_(script) {
        script.events = &events;
    }
    Result<void> acquire(const plugin::AcquireRequest& request) override {
        script_.asked.push_back({request.operation, request.url,
                                 request.challenge ? request.challenge->error.message : "",
                                 request.asking});
        return script_.begins;
    }
    void cancel(plugin::OperationId operation) override { script_.cancelled.push_back(operation); }
    void forget() override {}
    void close() override {
        ++script_.closed;
        loop_.defer([events = script_.events] { events->on_authenticator_closed(); });
    }

private:
    core::Loop& loop_;
    Script& script_;
};

class AuthLoopTest : public ::testing::Test {
protected:
    AuthLoopTest() {
        be_loop([this](auto& events, auto made) { made(method(events)); });
    }
    void be_loop(AuthLoop::Make make, std::chrono::milliseconds pace = AuthLoop::kPace) {
        auth = std::make_unique<AuthLoop>(
            loop, std::move(make), plugin::Asking::MayAsk, [this] { ++renewals; }, pace);
    }
    std::unique_ptr<plugin::Authenticator> method(plugin::AuthenticatorEvents& events) {
        return std::make_unique<Method>(loop, script, events);
    }
    AuthLoop::Handler tell() {
        return [this](const Result<void>& outcome) {
            told.push_back(outcome ? "granted" : outcome.error().message);
        };
    }
    void ask(const std::string& challenge) {
        auth->ask(test::FakeServer::problem(ErrorCode::AuthRequired, challenge), tell());
    }
    bool wait(const std::function<bool()>& done) { return loop.run_until(done); }
    void pass(std::chrono::milliseconds time) { loop.pass(time); }
    auto in(std::chrono::milliseconds time) { return loop.date() + time; }

    test::TurnedLoop loop;
    Script script;
    int renewals = 0;
    std::vector<std::string> told;
    std::unique_ptr<AuthLoop> auth;
};

TEST_F(AuthLoopTest, WithoutAMethodSaysSoLater) {
    be_loop({});
    EXPECT_FALSE(auth->configured());
    ask("no");
    EXPECT_THAT(told, IsEmpty()) << "not from inside the call";
    ASSERT_TRUE(wait([&] { return !told.empty(); }));
    EXPECT_THAT(told, ElementsAre("no auth is configured"));
}

TEST_F(AuthLoopTest, AsksOnceForAllWhoWait) {
    EXPECT_TRUE(auth->configured());
    ask("first");
    ask("second");
    ASSERT_EQ(script.asked.size(), 1u);
    EXPECT_EQ(script.asked[0].challenge, "first");
    EXPECT_EQ(script.asked[0].url, "https://example.com/mcp");
    EXPECT_EQ(script.asked[0].asking, plugin::Asking::MayAsk);
    EXPECT_EQ(auth->generation(), 0u);
    script.grant("t");
    EXPECT_THAT(told, ElementsAre("granted", "granted"));
    EXPECT_EQ(auth->generation(), 1u);
    EXPECT_EQ(auth->credentials().at(0).value, "t");
    EXPECT_EQ(renewals, 0);
}

TEST_F(AuthLoopTest, ARefusalIsEverybodysAndTheNextAsksAnew) {
    ask("first");
    ask("second");
    script.refuse(ErrorCode::AuthRequired, "no");
    EXPECT_THAT(told, ElementsAre("no", "no"));
    EXPECT_EQ(script.asked.size(), 1u);
    ask("third");
    EXPECT_EQ(script.asked.size(), 2u);
    script.begins = Error{ErrorCode::Internal, "broken"};
    script.grant("t");
    ask("fourth");
    ASSERT_TRUE(wait([&] { return told.size() == 4; }));
    EXPECT_EQ(told[3], "broken");
}

TEST_F(AuthLoopTest, RefusalsWithoutEndAreAskedAboutOneByOneInTheirPace) {
    for (unsigned i = 0; i < 3 * AuthLoop::kBurst; ++i) {
        ask("no");
        if (script.asked.size() == i + 1) script.grant("t");
    }
    EXPECT_EQ(script.asked.size(), AuthLoop::kBurst) << "the others wait for their turn";
    EXPECT_EQ(told.size(), AuthLoop::kBurst);
    bool closed = false;
    auth->close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_THAT(script.cancelled, IsEmpty()) << "the method was never asked that";
    EXPECT_EQ(told.size(), 3 * AuthLoop::kBurst);
    EXPECT_EQ(told.back(), "the auth method has closed");
}

TEST_F(AuthLoopTest, ATurnThatComesIsTaken) {
    be_loop([this](auto& events, auto made) { made(method(events)); }, 20ms);
    for (unsigned i = 1; i <= AuthLoop::kBurst + 3; ++i) {
        ask("no " + std::to_string(i));
        ASSERT_TRUE(wait([&] { return script.asked.size() == i; })) << i;
        EXPECT_EQ(script.asked.back().challenge, "no " + std::to_string(i));
        script.grant("t");
        EXPECT_EQ(told.size(), i);
    }
}

TEST_F(AuthLoopTest, AChallengeThatJoinsAQuietQuestionIsAskedAfterIt) {
    auth->ask_ahead("https://example.com/ahead", tell());
    auth->ask_ahead("https://example.com/other", tell());
    ASSERT_EQ(script.asked.size(), 1u);
    EXPECT_EQ(script.asked[0].challenge, "");
    EXPECT_EQ(script.asked[0].url, "https://example.com/ahead");
    EXPECT_EQ(script.asked[0].asking, plugin::Asking::Quiet);
    ask("refused");
    script.refuse(ErrorCode::AuthRequired, "nobody is there");
    EXPECT_THAT(told, IsEmpty());
    ASSERT_EQ(script.asked.size(), 2u);
    EXPECT_EQ(script.asked[1].challenge, "refused");
    EXPECT_EQ(script.asked[1].asking, plugin::Asking::MayAsk);
    script.refuse(ErrorCode::AuthRequired, "the person said no");
    EXPECT_THAT(told,
                ElementsAre("the person said no", "the person said no", "the person said no"));
    EXPECT_EQ(script.asked.size(), 2u);
}

TEST_F(AuthLoopTest, WhatIsGrantedQuietlyServesTheChallengeToo) {
    auth->ask_ahead("https://example.com/ahead", tell());
    ask("refused");
    script.grant("t");
    EXPECT_THAT(told, ElementsAre("granted", "granted"));
    EXPECT_EQ(script.asked.size(), 1u);
    ask("again");
    script.refuse(ErrorCode::AuthRequired, "no");
    EXPECT_EQ(told.back(), "no") << "what waited once waits no longer";
    EXPECT_EQ(script.asked.size(), 2u);
}

TEST_F(AuthLoopTest, CredentialsThatEndAreRenewedQuietlyAndNobodyWaits) {
    ask("refused");
    script.grant("first", in(100ms));
    ASSERT_TRUE(wait([&] { return script.asked.size() == 2; }));
    EXPECT_EQ(script.asked[1].challenge, "");
    EXPECT_EQ(script.asked[1].asking, plugin::Asking::Quiet);
    EXPECT_EQ(script.asked[1].url, "https://example.com/mcp");
    script.grant("second");
    EXPECT_EQ(renewals, 1);
    EXPECT_EQ(auth->credentials().at(0).value, "second");
    EXPECT_EQ(told.size(), 1u);
}

TEST_F(AuthLoopTest, ARenewalThatFailsKeepsWhatThereIs) {
    ask("refused");
    script.grant("first", in(50ms));
    ASSERT_TRUE(wait([&] { return script.asked.size() == 2; }));
    script.refuse(ErrorCode::Io, "no way");
    EXPECT_EQ(renewals, 0);
    EXPECT_EQ(auth->credentials().at(0).value, "first");
    EXPECT_EQ(auth->generation(), 1u);
    EXPECT_EQ(told.size(), 1u);
}

TEST_F(AuthLoopTest, WhatHasEndedAlreadyIsNotRenewed) {
    ask("refused");
    script.grant("first", in(-1s));
    pass(20ms);
    EXPECT_EQ(script.asked.size(), 1u);
}

TEST_F(AuthLoopTest, NothingIsRenewedWhileSomebodyAsks) {
    ask("refused");
    script.grant("first", in(50ms));
    ask("refused again");
    pass(100ms);
    EXPECT_EQ(script.asked.size(), 2u);
}

TEST_F(AuthLoopTest, ClosingCancelsAndNothingBeginsAfterIt) {
    ask("refused");
    bool closed = false;
    auth->close([&] { closed = true; });
    EXPECT_THAT(script.cancelled, ElementsAre(script.asked[0].operation));
    EXPECT_FALSE(closed);
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_EQ(script.closed, 1);
    EXPECT_THAT(told, ElementsAre("the auth method has closed"));
    ask("late");
    ASSERT_TRUE(wait([&] { return told.size() == 2; }));
    EXPECT_EQ(told[1], "the connection is closed");
    EXPECT_EQ(script.asked.size(), 1u);
}

TEST_F(AuthLoopTest, ClosingEndsTheRenewals) {
    ask("refused");
    script.grant("first", in(50ms));
    bool closed = false;
    auth->close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_THAT(script.cancelled, IsEmpty()) << "nothing was under way";
    pass(100ms);
    EXPECT_EQ(script.asked.size(), 1u);
}

TEST_F(AuthLoopTest, AMethodThatIsMadeTooLateIsNotAsked) {
    std::vector<AuthLoop::Made> held;
    be_loop([&](auto& events, auto made) {
        script.events = &events;
        held.push_back(std::move(made));
    });
    ask("refused");
    bool closed = false;
    auth->close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed && !told.empty(); }));
    EXPECT_THAT(told, ElementsAre("the connection is closed"));
    held.at(0)(method(*script.events));
    auth.reset();
    held.at(0)(method(*script.events));
    EXPECT_THAT(script.asked, IsEmpty());
}

// ---- a connection that signs in

class SignIn : public HttpConnectionTest {
protected:
    SignIn() {
        server.be_modern({tool_named("a")});
        spec.config.settings = {{"url", "https://example.com/mcp?key=x"}};
        auth_of = [this](const config::Server&) { return AuthChoice{"auth \"main\"", ahead}; };
        authenticate =
            [this](
                const config::Server&, const AuthMethod&, std::shared_ptr<plugin::Signer>,
                plugin::AuthenticatorEvents& on) -> Result<std::unique_ptr<plugin::Authenticator>> {
            ++made;
            if (!why_not.empty()) return Error{ErrorCode::Invalid, why_not};
            return std::unique_ptr<plugin::Authenticator>(
                std::make_unique<Method>(loop, script, on));
        };
    }
    ~SignIn() override { close(); }
    void refuse(const char* method, unsigned status = 401, const char* text = "HTTP 401") {
        server.endings[method].push_back(
            FakeServer::problem(ErrorCode::AuthRequired, text, status));
    }
    bool is_asked(std::size_t times = 1) {
        return wait([&] { return script.asked.size() == times; });
    }
    void begin_to_connect() {
        settled = false;
        connection().connect([this] { settled = true; });
    }
    bool is_settled() {
        return wait([&] { return settled; });
    }
    bool ahead = false, settled = false;
    int made = 0;
    std::string why_not;
    Script script;
};

TEST_F(SignIn, AheadOfTheChannel) {
    ahead = true;
    begin_to_connect();
    ASSERT_TRUE(is_asked());
    EXPECT_EQ(script.asked[0].url, "https://example.com/mcp?key=x");
    EXPECT_EQ(script.asked[0].asking, plugin::Asking::Quiet);
    connection().connect([] {});
    EXPECT_EQ(server.opened, 0);
    EXPECT_EQ(script.asked.size(), 1u);
    script.grant("Bearer t");
    ASSERT_TRUE(is_settled());
    EXPECT_EQ(server.arrival("server/discover").credentials.at(0).value, "Bearer t");
    EXPECT_EQ(server.opened, 1);
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(connect(), State::Ready);
    EXPECT_EQ(script.asked.size(), 1u) << "what is there is used";
}

TEST_F(SignIn, WhatNobodyCouldGrantAheadMayNotBeNeeded) {
    ahead = true;
    begin_to_connect();
    ASSERT_TRUE(is_asked());
    script.refuse(ErrorCode::AuthRequired, "nobody is there");
    ASSERT_TRUE(is_settled());
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(SignIn, AMethodThatFailsAheadIsTheServersErrorUntilTheNextAttempt) {
    ahead = true;
    begin_to_connect();
    ASSERT_TRUE(is_asked());
    script.refuse(ErrorCode::Io, "no way to the provider");
    ASSERT_TRUE(is_settled());
    EXPECT_EQ(connection().state(), State::Error);
    EXPECT_EQ(connection().status().last_error, "server \"s\": no way to the provider");
    EXPECT_EQ(server.opened, 0);
    begin_to_connect();
    ASSERT_TRUE(is_asked(2));
    script.grant("Bearer t");
    ASSERT_TRUE(is_settled());
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(SignIn, AConnectionThatClosesMeanwhileOpensNothing) {
    ahead = true;
    begin_to_connect();
    ASSERT_TRUE(is_asked());
    bool closed = false;
    connection().close([&] { closed = true; });
    script.grant("Bearer t");
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_EQ(connection().state(), State::Stopped);
    EXPECT_EQ(server.opened, 0);
}

TEST_F(SignIn, AMethodThatCannotBeMadeIsNamed) {
    why_not = "no client id";
    refuse("server/discover");
    ASSERT_EQ(connect(), State::AuthRequired);
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": HTTP 401 (https://example.com/mcp); auth \"main\": no client id");
}

TEST_F(SignIn, AMethodWhosePluginIsNotLoadedIsWaitedFor) {
    std::vector<Prepared> held;
    connection();
    prepare_auth = [&](const AuthMethod&, Prepared ready) { held.push_back(std::move(ready)); };
    refuse("server/discover");
    refuse("server/discover");
    begin_to_connect();
    ASSERT_TRUE(wait([&] { return held.size() == 1; }));
    EXPECT_EQ(made, 0);
    held[0](Error{ErrorCode::NotFound, "no such plugin"});
    ASSERT_TRUE(is_settled());
    EXPECT_THAT(connection().status().last_error, HasSubstr("; auth \"main\": no such plugin"));
    EXPECT_EQ(made, 0);
    begin_to_connect();
    ASSERT_TRUE(wait([&] { return held.size() == 2; }));
    held[1]({});
    EXPECT_EQ(made, 1);
    ASSERT_TRUE(is_asked());
    script.grant("Bearer t");
    ASSERT_TRUE(is_settled());
    EXPECT_EQ(connection().state(), State::Ready);
    close();
    held[1]({});
    EXPECT_EQ(made, 1) << "nothing is made for a connection that has gone";
}

TEST_F(SignIn, TheErrorSaysWhoRefusedAndNoSecret) {
    auth_of = {};
    const std::tuple<unsigned, const char*, const char*> cases[] = {
        {401, "no", "HTTP 401: no (https://example.com/mcp); set auth"},
        {401, "401 no", "401 no (https://example.com/mcp); set auth"},
        {0, "no", "\"s\": no (https://example.com/mcp); set auth"},
        {401, "HTTP 401 of https://example.com/mcp",
         "\"s\": HTTP 401 of https://example.com/mcp; "},
    };
    for (const auto& [status, text, told] : cases) {
        connection_.reset();
        auto problem = FakeServer::problem(ErrorCode::AuthRequired, text, status);
        problem.url += "?key=s3cret";
        server.endings["server/discover"] = {problem};
        ASSERT_EQ(connect(), State::AuthRequired);
        EXPECT_THAT(connection().status().last_error, HasSubstr(told));
        EXPECT_THAT(connection().status().last_error, testing::Not(HasSubstr("s3cret")));
    }
}

TEST_F(SignIn, OfAServerThatIsReadyHasNoLimitOfTheStart) {
    ASSERT_EQ(connect(), State::Ready);
    spec.config.startup_timeout = 50ms;
    close();
    ASSERT_EQ(connect(), State::Ready);
    refuse("tools/call");
    Outcome outcome;
    begin(call("a"), outcome);
    ASSERT_TRUE(is_asked());
    script.grant("Bearer t");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    pass(120ms);
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(SignIn, WhatStillComesForTheRefusedSendingIsNobodys) {
    ASSERT_EQ(connect(), State::Ready);
    refuse("tools/call");
    Outcome outcome;
    begin(call("a"), outcome);
    ASSERT_TRUE(is_asked());
    server.answer(server.requests("tools/call").at(0).at("id").as_int64(), R"({"late":1})");
    ASSERT_TRUE(wait([&] { return connection().status().late_answers == 1; }));
    EXPECT_FALSE(outcome);
    script.grant("Bearer t");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(**outcome, HasSubstr("\"got\":\"a\""));
}

TEST_F(SignIn, AReadyServerWhoseChannelIsRefusedIsReconnecting) {
    long_lived = true;
    ASSERT_EQ(connect(), State::Ready);
    events.states.clear();
    server.crash_with(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
    ASSERT_TRUE(is_asked());
    EXPECT_THAT(events.states, ElementsAre(State::Reconnecting));
    script.grant("Bearer t");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(server.opened, 2);
}

TEST_F(SignIn, AConnectionThatClosesWhileItsChannelIsRefusedStaysStopped) {
    ASSERT_EQ(connect(), State::Ready);
    server.crash_with(FakeServer::problem(ErrorCode::AuthRequired, "HTTP 401", 401));
    ASSERT_TRUE(is_asked());
    bool closed = false;
    connection().close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_EQ(connection().state(), State::Stopped);
}

TEST_F(SignIn, OnlyATokenThatAHeaderCarriesIsSent) {
    auth_of = {};
    spec.config.bearer_token_env_var = "TOKEN";
    for (const char* token : {"a b", "a\x7f", "", "a\xc3\xa4"}) {
        connection_.reset();
        variables["TOKEN"] = token;
        EXPECT_EQ(connect(), State::Error) << token;
    }
    connection_.reset();
    variables["TOKEN"] = "!token~";
    EXPECT_EQ(connect(), State::Ready);
}

}  // namespace
}  // namespace patchbay::connection
