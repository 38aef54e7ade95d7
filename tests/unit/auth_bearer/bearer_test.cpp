// Auth method bearer, loaded as the host loads it, with programs that really run.
#include "core/log.hpp"
#include "plugin/catalogue.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace patchbay::plugin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
namespace json = boost::json;

struct Events final : AuthenticatorEvents {
    void on_acquired(OperationId, Result<Grant> grant) override { acquired.push_back(grant); }
    void on_authenticator_closed() override { closed = true; }
    std::vector<Result<Grant>> acquired;
    bool closed = false;
};

class BearerTest : public ::testing::Test {
protected:
    BearerTest() {
        SearchOptions options;
        options.config_directories = {PATCHBAY_BUILD_DIR "/lib/patchbay/plugins/auth_bearer"};
        options.built_in = false;
        catalogue.emplace(loop, options);
    }
    ~BearerTest() override {
        if (!authenticator) return;
        authenticator->close();
        EXPECT_TRUE(until([&] { return events.closed; }));
    }
    void use(json::object settings) {
        auto made =
            catalogue->create_authenticator("bearer", {"demo", std::move(settings), {}}, events);
        ASSERT_TRUE(made) << made.error().message;
        authenticator = std::move(*made);
    }
    // A program that does what `script` says.
    json::object program(const std::string& script) {
        const auto path = folder.write("headers", "#!/bin/sh\n" + script);
        ::chmod(path.c_str(), 0700);
        return {{"command", json::array{json::string(path)}}};
    }
    Result<void> begin(bool refused) {
        Problem problem;
        problem.http_status = 401;
        return authenticator->acquire(
            {++last, "https://example.com/mcp", Asking::Quiet, refused ? &problem : nullptr, {}});
    }
    Result<Grant> acquire(bool refused = false) {
        const auto before = events.acquired.size();
        if (auto begun = begin(refused); !begun) return begun.error();
        EXPECT_TRUE(until([&] { return events.acquired.size() > before; }));
        return events.acquired.back();
    }
    std::string refusal(bool refused = false) {
        const auto outcome = acquire(refused);
        return outcome ? "granted" : outcome.error().message;
    }
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 30s);
    }

    const test::PluginFolder folder;
    core::Loop loop;
    std::optional<Catalogue> catalogue;
    Events events;
    std::unique_ptr<Authenticator> authenticator;
    OperationId last = 0;
};

TEST_F(BearerTest, PutsATokenIntoTheUsualHeader) {
    use({{"token", "t0ken-of-bearer"}});
    const auto grant = acquire();
    ASSERT_TRUE(grant) << grant.error().message;
    ASSERT_EQ(grant->credentials.size(), 1u);
    EXPECT_EQ(grant->credentials[0].name, "Authorization");
    EXPECT_EQ(grant->credentials[0].value, "Bearer t0ken-of-bearer");
    EXPECT_TRUE(grant->credentials[0].secret);
}

TEST_F(BearerTest, PutsItWhereTheServerWantsIt) {
    use({{"token", "t0ken"},
         {"header", "X-Api-Key"},
         {"scheme", ""},
         {"headers", {{"X-Tenant", "a"}}}});
    const auto grant = acquire();
    ASSERT_TRUE(grant);
    ASSERT_EQ(grant->credentials.size(), 2u);
    EXPECT_EQ(grant->credentials[0].name, "X-Tenant");
    EXPECT_EQ(grant->credentials[1].name, "X-Api-Key");
    EXPECT_EQ(grant->credentials[1].value, "t0ken");
}

TEST_F(BearerTest, GivesAProgramItsTokenInTheEnvironment) {
    use({{"token", "t0ken"}, {"env", "API_TOKEN"}});
    const auto grant = acquire();
    ASSERT_TRUE(grant);
    EXPECT_TRUE(grant->credentials.at(0).environment);
    EXPECT_EQ(grant->credentials[0].name, "API_TOKEN");
    EXPECT_EQ(grant->credentials[0].value, "t0ken");
}

TEST_F(BearerTest, ReadsAVariableWhenItIsNeeded) {
    ::unsetenv("BEARER_TEST_TOKEN");
    use({{"bearer_token_env_var", "BEARER_TEST_TOKEN"}});
    EXPECT_THAT(refusal(),
                HasSubstr("the variable BEARER_TEST_TOKEN (bearer_token_env_var) is not set"));
    ::setenv("BEARER_TEST_TOKEN", "late", 1);
    EXPECT_EQ(acquire()->credentials.at(0).value, "Bearer late");
    ::unsetenv("BEARER_TEST_TOKEN");
}

TEST_F(BearerTest, SaysThatTheServerDoesNotAcceptTheToken) {
    use({{"token", "t0ken-refused"}});
    ASSERT_TRUE(acquire());
    const auto told = refusal(true);
    EXPECT_THAT(told, HasSubstr("does not accept the configured token; `patchbay config show`"));
    EXPECT_THAT(told, Not(HasSubstr("t0ken-refused")));
}

TEST_F(BearerTest, SaysWhichVariableHoldsTheTokenThatIsNotAccepted) {
    ::setenv("BEARER_TEST_STALE", "t0ken-of-yesterday", 1);
    use({{"bearer_token_env_var", "BEARER_TEST_STALE"}});
    ASSERT_TRUE(acquire());
    const auto told = refusal(true);
    ::unsetenv("BEARER_TEST_STALE");
    EXPECT_THAT(told, HasSubstr("does not accept the token in the variable BEARER_TEST_STALE"));
    EXPECT_THAT(told, Not(HasSubstr("yesterday")));
}

TEST_F(BearerTest, AsksAProgramOnceAndAgainWhenTheServerRefuses) {
    const auto count = folder.path() + "/count";
    use(program("echo x >> " + count + "\necho \"{\\\"Authorization\\\": \\\"Bearer p-$(wc -l < " +
                count + ")\\\"}\"\n"));
    EXPECT_EQ(acquire()->credentials.at(0).value, "Bearer p-1");
    EXPECT_EQ(acquire()->credentials.at(0).value, "Bearer p-1");
    EXPECT_EQ(acquire(true)->credentials.at(0).value, "Bearer p-2");
    EXPECT_EQ(core::log::masked("Bearer p-2"), "***");
}

TEST_F(BearerTest, LaysWhatAProgramPrintsOverFixedHeaders) {
    auto settings = program("echo '{\"Authorization\": \"Bearer printed\"}'\n");
    settings["headers"] = {{"X-Tenant", "a"}, {"Authorization", "Bearer fixed"}};
    use(settings);
    for (int i = 0; i < 2; ++i) {
        const auto grant = acquire();
        ASSERT_TRUE(grant) << grant.error().message;
        std::map<std::string, std::string> sent;  // the last of a name counts
        for (const auto& each : grant->credentials) sent[each.name] = each.value;
        EXPECT_EQ(sent["X-Tenant"], "a");
        EXPECT_EQ(sent["Authorization"], "Bearer printed");
    }
}

TEST_F(BearerTest, TellsWhatTheProgramComplainedAbout) {
    use(
        program("echo '{\"Authorization\": \"Bearer leaked\"}'\necho first >&2\necho no ticket "
                ">&2\nexit 3\n"));
    const auto told = refusal();
    EXPECT_THAT(told, HasSubstr("ended with exit code 3; stderr: no ticket"));
    EXPECT_THAT(told, Not(HasSubstr("leaked")));
}

TEST_F(BearerTest, WantsOneJsonObjectOfTexts) {
    for (const char* printed :
         {"", "[]", "{\"a\": 1}", "Bearer x", "{}", "{\"a\":\"b\"} {\"c\":\"d\"}",
          "{\"a\":\"b\"}, \"x\": {\"c\":\"d\"}"}) {
        use(program("cat <<'E'\n" + std::string(printed) + "\nE\n"));
        EXPECT_THAT(refusal(), HasSubstr("printed no JSON object")) << printed;
        authenticator->close();
        EXPECT_TRUE(until([&] { return std::exchange(events.closed, false); }));
        authenticator.reset();
    }
}

TEST_F(BearerTest, EndsAProgramThatPrintsForEver) {
    use(program("exec yes\n"));
    EXPECT_THAT(refusal(), HasSubstr("printed more than 64 KiB"));
}

TEST_F(BearerTest, EndsTheProgramWhenNobodyWaitsAnyMore) {
    use(program("exec sleep 600\n"));
    ASSERT_TRUE(begin(false));
    authenticator->cancel(last);
    ASSERT_TRUE(until([&] { return !events.acquired.empty(); }));
    EXPECT_EQ(events.acquired[0].error().code, ErrorCode::Cancelled);
    ASSERT_TRUE(begin(false));
    authenticator->close();
    ASSERT_TRUE(until([&] { return events.closed; }));
    EXPECT_EQ(events.acquired.size(), 2u) << "closing ends what is under way first";
}

TEST_F(BearerTest, SaysWhichProgramIsMissing) {
    use({{"command", json::array{"/no/such/program"}}});
    EXPECT_THAT(refusal(), HasSubstr("/no/such/program"));
}

}  // namespace
}  // namespace patchbay::plugin
