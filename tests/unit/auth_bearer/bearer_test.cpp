// Auth method bearer, loaded as the host loads it, with programs that really run.
#include "core/log.hpp"
#include "plugin/loading/catalogue.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
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
        if (!authenticator) return Error{ErrorCode::Internal, "there is no authenticator"};
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
    // The value of the first credential, or why there is none.
    std::string granted(bool refused = false) {
        const auto outcome = acquire(refused);
        if (!outcome) return "refused: " + outcome.error().message;
        return outcome->credentials.empty() ? "nothing" : outcome->credentials[0].value;
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
    EXPECT_EQ(granted(), "Bearer late");
    ::unsetenv("BEARER_TEST_TOKEN");
}

TEST_F(BearerTest, SaysThatTheServerDoesNotAcceptTheToken) {
    use({{"token", "t0ken-refused"}});
    ASSERT_TRUE(acquire());
    const auto told = refusal(true);
    EXPECT_THAT(told,
                HasSubstr("does not accept the configured token; `patchbay config show --origin`"));
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
    EXPECT_EQ(granted(), "Bearer p-1");
    EXPECT_EQ(granted(), "Bearer p-1");
    EXPECT_EQ(granted(true), "Bearer p-2");
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
    const auto begun = begin(false);
    ASSERT_TRUE(begun) << begun.error().message;
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

TEST_F(BearerTest, SaysThatTheServerDoesNotAcceptTheHeaders) {
    use({{"headers", {{"X-Api-Key", "k"}}}});
    EXPECT_EQ(granted(true), "k") << "it was not given yet: the server refused nothing of it";
    EXPECT_THAT(refusal(true), HasSubstr("does not accept the configured headers;"));
    EXPECT_EQ(granted(), "k") << "asked for without a refusal it is given again";
}

TEST_F(BearerTest, SetsFixedHeadersBesideATokenInTheEnvironment) {
    use({{"token", "t0ken"}, {"env", "API_TOKEN"}, {"headers", {{"X-Tenant", "a"}}}});
    const auto grant = acquire();
    ASSERT_TRUE(grant) << grant.error().message;
    ASSERT_EQ(grant->credentials.size(), 2u);
    EXPECT_EQ(grant->credentials[0].name, "X-Tenant");
    EXPECT_FALSE(grant->credentials[0].environment);
    EXPECT_TRUE(grant->credentials[1].secret);
}

TEST_F(BearerTest, TakesAnEmptyVariableForNone) {
    ::setenv("BEARER_TEST_EMPTY", "", 1);
    use({{"bearer_token_env_var", "BEARER_TEST_EMPTY"}});
    EXPECT_THAT(refusal(), HasSubstr("is not set"));
    ::unsetenv("BEARER_TEST_EMPTY");
}

TEST_F(BearerTest, AsksTheProgramAgainAfterALogout) {
    const auto count = folder.path() + "/count";
    use(program("echo x >> " + count + "\necho \"{\\\"A\\\": \\\"p-$(wc -l < " + count +
                ")\\\"}\"\n"));
    EXPECT_EQ(granted(), "p-1");
    authenticator->forget();
    EXPECT_EQ(granted(), "p-2");
}

TEST_F(BearerTest, RefusesWhatTheProgramPrintedWhenTheRestIsMissing) {
    ::unsetenv("BEARER_TEST_TOKEN");
    auto settings = program("echo '{\"A\": \"printed\"}'\n");
    settings["bearer_token_env_var"] = "BEARER_TEST_TOKEN";
    use(settings);
    const auto outcome = acquire();
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("the variable BEARER_TEST_TOKEN"));
}

TEST_F(BearerTest, SaysWhichSignalEndedTheProgram) {
    use(program("kill -9 $$\n"));
    EXPECT_THAT(refusal(), HasSubstr("was ended by signal 9"));
}

TEST_F(BearerTest, QuotesTheLastLineOfItsComplaintShortAndPlain) {
    use(program("printf 'first\\n\\033[31mred\\177%0300d\\r\\n\\n' 0 >&2\nexit 255\n"));
    EXPECT_THAT(refusal(), ::testing::EndsWith("ended with exit code 255; stderr:  [31mred " +
                                               std::string(200 - 9, '0') + "..."));
}

TEST_F(BearerTest, QuotesNoEndOfALineWhoseBeginningIsLost) {
    use(program("head -c 70000 /dev/zero | tr '\\0' x >&2\necho of-a-secret >&2\nexit 1\n"));
    EXPECT_THAT(refusal(), ::testing::EndsWith("stderr: " + std::string(200, 'x') + "..."));
}

TEST_F(BearerTest, KeepsTheEndOfALongComplaint) {
    use(program("head -c 200000 /dev/zero | tr '\\0' x >&2\necho >&2\necho the end >&2\nexit 1\n"));
    EXPECT_THAT(refusal(), ::testing::EndsWith("exit code 1; stderr: the end"));
}

TEST_F(BearerTest, TakesSixtyFourKilobytesAndNoMore) {
    const std::string start = "{\"A\": \"", end = "\"}";
    const auto prints = [&](std::size_t bytes) {
        const auto path = folder.write(
            "printed", start + std::string(bytes - start.size() - end.size(), 'x') + end);
        use(program("cat " + path + "\n"));
        const auto outcome = acquire();
        authenticator->close();
        EXPECT_TRUE(until([&] { return std::exchange(events.closed, false); }));
        authenticator.reset();
        return outcome ? "granted" : outcome.error().message;
    };
    EXPECT_THAT(prints(64u << 10), Not(HasSubstr("more than 64 KiB")));
    EXPECT_THAT(prints((64u << 10) + 1), HasSubstr("printed more than 64 KiB"));
    EXPECT_EQ(prints(8u << 10), "granted");
}

TEST_F(BearerTest, GivesTheProgramNothingToRead) {
    use(program("cat\necho '{\"A\": \"read to the end\"}'\n"));
    EXPECT_EQ(granted(), "read to the end");
}

TEST_F(BearerTest, IsNotEndedByTheCancellingOfAnotherOperation) {
    const auto go = folder.path() + "/go";
    ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
    use(program("read line < " + go + "\necho '{\"A\": \"went on\"}'\n"));
    const auto begun = begin(false);
    ASSERT_TRUE(begun) << begun.error().message;
    authenticator->cancel(last + 1);
    const int fd = ::open(go.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::write(fd, "x\n", 2), 2);
    ASSERT_TRUE(until([&] { return !events.acquired.empty(); }));
    ::close(fd);
    EXPECT_TRUE(events.acquired[0]) << events.acquired[0].error().message;
}

TEST_F(BearerTest, ClosesOnce) {
    use({{"token", "t0ken"}});
    authenticator->close();
    authenticator->close();
    ASSERT_TRUE(until([&] { return events.closed; }));
    EXPECT_FALSE(acquire());
    EXPECT_TRUE(events.acquired.empty());
}

TEST_F(BearerTest, RunsTheProgramAnewAfterItFailed) {
    const auto count = folder.path() + "/count";
    use(program("echo x >> " + count + "\n[ $(wc -l < " + count +
                ") = 1 ] && { echo no ticket >&2; exit 3; }\necho '{\"A\": \"second\"}'\n"));
    EXPECT_THAT(refusal(), HasSubstr("no ticket"));
    EXPECT_EQ(granted(), "second");
}

TEST_F(BearerTest, RunsTheProgramAnewAfterItWasCancelled) {
    const auto count = folder.path() + "/count";
    // What it writes to stderr is what wakes the loop, which then finds the file.
    use(program("echo x >> " + count + "\necho begun >&2\n[ $(wc -l < " + count +
                ") = 1 ] && exec sleep 600\necho '{\"A\": \"second\"}'\n"));
    const auto begun = begin(false);
    ASSERT_TRUE(begun) << begun.error().message;
    ASSERT_TRUE(until([&] { return test::read_file(count) == "x\n"; }));
    authenticator->cancel(last);
    ASSERT_TRUE(until([&] { return !events.acquired.empty(); }));
    EXPECT_EQ(events.acquired[0].error().code, ErrorCode::Cancelled);
    EXPECT_EQ(granted(), "second") << "what ended the first is forgotten";
}

}  // namespace
}  // namespace patchbay::plugin
