#include "service/call.hpp"

#include "unit/service/fixture.hpp"

namespace patchbay::service {
namespace {

using ::testing::HasSubstr;

class Calls : public ServiceTest {
protected:
    Result<std::string> call_of(const std::string& name) {
        std::optional<Result<std::string>> outcome;
        router::Call request;
        request.name = name;
        service::call(known(), caller, std::move(request), [&](Result<Reply> reply) {
            outcome.emplace(reply ? Result<std::string>(std::string(reply->result))
                                  : Result<std::string>(reply.error()));
        });
        EXPECT_TRUE(loop.run_until([&] { return outcome.has_value(); }, core::Clock::now() + 20s));
        return outcome.value_or(Error{ErrorCode::Internal, "never answered"});
    }
    using Reply = connection::Reply;
};

TEST_F(Calls, OfAToolGoToItsServer) {
    EXPECT_THAT(*call_of("mcp__git__log"), HasSubstr(R"("server":"git","tool":"log")"));
}

TEST_F(Calls, OfADisabledServersToolSayThatItIsDisabled) {
    configure_disabled("aside");
    const auto refused = call_of("mcp__aside__log");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::NotFound);
    EXPECT_THAT(refused.error().message,
                HasSubstr("no tool \"mcp__aside__log\": server \"aside\" is disabled"));
}

TEST_F(Calls, OfAToolAsOtherProgramsNameItSayHowItIsCalledHere) {
    for (const char* name : {"git.log", "git/log", "git:log", "git__log"})
        EXPECT_THAT(call_of(name).error().message, HasSubstr("did you mean \"mcp__git__log\"?"))
            << name;
    EXPECT_THAT(call_of("log").error().message, HasSubstr("patchbay tools log"));
}

TEST_F(Calls, OfAnUnknownServersToolNameTheNearestServer) {
    EXPECT_THAT(call_of("mcp__GIT__nope").error().message,
                ::testing::EndsWith("; did you mean \"mcp__git__\"?"))
        << "nobody knows whether it has that tool";
    config.closed_by = "enterprise config e.toml is exclusive";
    EXPECT_THAT(call_of("mcp__nowhere__log").error().message,
                HasSubstr("e.toml is exclusive, so no other file counts"));
}

TEST_F(Calls, ByTheNameThatAFileHasForAServerSayHowItIsCalledHere) {
    config.names["G it"] = {"git", {}};
    config.names["G it__x"] = {"x-1", {}};
    EXPECT_THAT(call_of("mcp__G it__log").error().message,
                AllOf(HasSubstr("is called git here"), HasSubstr(": mcp__git__log")));
    EXPECT_THAT(call_of("mcp__G it__x__log").error().message, HasSubstr(": mcp__x-1__log"));
}

TEST_F(Calls, FindTheToolThatIsMeant) {
    std::optional<Result<router::ListedTool>> found;
    find_tool(known(), caller, "git.log", {}, [&](auto tool) { found.emplace(std::move(tool)); });
    ASSERT_TRUE(loop.run_until([&] { return found.has_value(); }, core::Clock::now() + 20s));
    EXPECT_THAT(found->error().message, HasSubstr("did you mean"));
    found.reset();
    find_tool(known(), caller, "mcp__git__log", {},
              [&](auto tool) { found.emplace(std::move(tool)); });
    ASSERT_TRUE(loop.run_until([&] { return found.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ((*found)->server, "git");
}

}  // namespace
}  // namespace patchbay::service
