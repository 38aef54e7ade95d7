#include "service/tools.hpp"

#include "support/result_schema.hpp"
#include "unit/service/fixture.hpp"

namespace patchbay::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Tools = ServiceTest;

std::vector<std::string> names(const ToolList& list) {
    std::vector<std::string> found;
    for (const auto& tool : list.tools) found.push_back(tool.server + " " + tool.tool->name);
    return found;
}

TEST_F(Tools, OfServersThatAreNotThereAreNamedBesideTheOthers) {
    servers.at("github").refuse_open = true;
    connect();
    const auto list = tools_listed(known(), caller);
    EXPECT_THAT(names(list), ElementsAre("git log", "git odd name"));
    EXPECT_TRUE(list.answered);
    ASSERT_EQ(list.errors.size(), 1u);
    EXPECT_EQ(list.errors[0].server, "github");
    EXPECT_THAT(list.errors[0].error.message, HasSubstr("no such program"));
    EXPECT_THAT(tools_listed(known(), caller, {"git"}).errors, IsEmpty())
        << "of those that were asked";
    const auto none = tools_listed(known(), caller, {"github"});
    EXPECT_FALSE(none.answered);
    EXPECT_THAT(names(none), IsEmpty());
}

std::shared_ptr<const catalogue::Listing> kept_of(const std::string& tool) {
    return std::make_shared<const catalogue::Listing>(
        catalogue::Listing{"", {{tool, R"("inputSchema":{"type":"object"})", {}}}});
}

TEST_F(Tools, OfAServerThatAnEarlierHostKnewNeedNobodyToStart) {
    known();
    const auto then = std::chrono::system_clock::from_time_t(1'790'000'000);
    catalogue->recall("git", kept_of("log"), then);
    EXPECT_THAT(with_unknown_tools(known(), caller, {"git", "github"}), ElementsAre("github"));
    const auto list = tools_listed(known(), caller, {"git"});
    EXPECT_THAT(names(list), ElementsAre("git log"));
    EXPECT_THAT(list.errors, IsEmpty());
    EXPECT_TRUE(list.answered);
    ASSERT_EQ(list.heard.size(), 1u);
    EXPECT_EQ(list.heard[0].standing.listed, then);
    EXPECT_TRUE(list.heard[0].standing.recalled);
    EXPECT_EQ(connections->held("git", caller.number()), nullptr) << "nor to be leased";
}

// As beside a host that stays, where a server is on its way for hours, or has failed.
TEST_F(Tools, OfAServerThatIsNotThereAreThoseThatItListedLastUnlessItIsAsked) {
    known();
    catalogue->recall("git", kept_of("log"), {});
    servers.at("git").refuse_open = true;
    servers.at("github").refuse_open = true;
    connect();
    const auto list = tools_listed(known(), caller, {}, Wait::ToTheEnd, Ask::IfStale);
    EXPECT_THAT(names(list), ElementsAre("git log"));
    EXPECT_TRUE(list.answered);
    ASSERT_EQ(list.heard.size(), 1u);
    EXPECT_TRUE(list.heard[0].standing.recalled);
    ASSERT_EQ(list.errors.size(), 1u) << "nobody knows what the other one has";
    EXPECT_EQ(list.errors[0].server, "github");
    const auto asked = tools_listed(known(), caller, {}, Wait::ToTheEnd, Ask::Anew);
    EXPECT_EQ(asked.errors.size(), 2u) << "who asked it hears that it is not there";
}

TEST_F(Tools, OfAServerThatHasGoneSinceItListedThemAreKept) {
    connect();
    servers.at("git").refuse_open = true;
    servers.at("git").crash("it is gone");
    const auto gone = [&] {
        return connections->held("git", caller.number())->state() != connection::State::Ready;
    };
    ASSERT_TRUE(loop.run_until(gone, core::Clock::now() + 20s));
    const auto list = tools_listed(known(), caller, {"git"}, Wait::ToTheEnd, Ask::IfStale);
    EXPECT_THAT(names(list), ElementsAre("git log", "git odd name"));
    EXPECT_THAT(list.errors, IsEmpty());
    EXPECT_TRUE(list.heard.at(0).standing.recalled) << "it is not there now";
}

TEST_F(Tools, ThatARuleHidesAreHiddenThoughTheyWereListedBefore) {
    specs[0].config.disabled_tools = {"log"};
    known();
    catalogue->recall("git", kept_of("log"), {});
    EXPECT_THAT(names(tools_listed(known(), caller, {"git"})), IsEmpty());
}

TEST_F(Tools, AreAskedForWhereNobodyKnowsThemOrAnew) {
    known();
    catalogue->recall("git", kept_of("old"), {});
    bool settled = false;
    ask_for_tools(known(), caller, {"git", "nowhere"}, Ask::Anew, [&] { settled = true; });
    EXPECT_FALSE(settled) << "told from inside the call";
    ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    const auto list = tools_listed(known(), caller, {"git"});
    EXPECT_THAT(names(list), ElementsAre("git log", "git odd name"));
    EXPECT_FALSE(list.heard.at(0).standing.recalled);
    EXPECT_EQ(catalogue->drifts("git").size(), 1u);
    const auto asked = servers.at("git").requests("tools/list").size();
    settled = false;
    ask_for_tools(known(), caller, {"git"}, Ask::IfStale, [&] { settled = true; });
    ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    EXPECT_EQ(servers.at("git").requests("tools/list").size(), asked) << "it is fresh";
    settled = false;
    ask_for_tools(known(), caller, {"git"}, Ask::Anew, [&] { settled = true; });
    ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    EXPECT_EQ(servers.at("git").requests("tools/list").size(), asked + 1);
}

TEST_F(Tools, OfAServerThatNobodyWaitedForAreMissingBecauseOfThat) {
    const auto list = tools_listed(known(), caller, {"git"}, Wait::CutShort);
    ASSERT_EQ(list.errors.size(), 1u);
    EXPECT_EQ(list.errors[0].error.code, ErrorCode::Cancelled);
    EXPECT_EQ(nobody_answered(list.errors).code, ErrorCode::Cancelled);
}

TEST_F(Tools, AreListedWhenTheirServersAreConnected) {
    std::optional<ToolList> listed;
    const auto operation =
        list_tools(known(), caller, "", Ask::IfStale,
                   [&](Result<ToolList> list) { listed = std::move(list.value()); });
    EXPECT_FALSE(listed) << "told from inside the call";
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(listed->tools.size(), 4u) << "one is denied by a rule, which does not hide it";
    EXPECT_THAT(listed->errors, IsEmpty());
}

TEST_F(Tools, AreListedAsTheyAreKnownUnlessTheyAreAskedAnew) {
    connect();
    const auto asked = servers.at("git").requests("tools/list").size();
    for (const std::string id : {"", "git"})
        for (const auto ask : {Ask::IfStale, Ask::Anew}) {
            std::optional<ToolList> listed;
            const auto operation = list_tools(known(), caller, id, ask, [&](Result<ToolList> list) {
                listed = std::move(list.value());
            });
            ASSERT_TRUE(
                loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
            EXPECT_EQ(listed->tools.size(), id.empty() ? 4u : 2u);
            const auto now = asked + (id.empty() ? 0u : 1u) + (ask == Ask::Anew ? 1u : 0u);
            EXPECT_EQ(servers.at("git").requests("tools/list").size(), now);
        }
}

TEST_F(Tools, OfOneServerAreAskedAnewAndItsTroubleIsTheError) {
    servers.at("github").refuse_open = true;
    for (const std::string id : {"git", "github", "nowhere"}) {
        std::optional<Result<ToolList>> listed;
        const auto operation =
            list_tools(known(), caller, id, Ask::IfStale,
                       [&](Result<ToolList> list) { listed.emplace(std::move(list)); });
        ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
        ASSERT_EQ(listed->has_value(), id == "git");
        if (id == "git") {
            EXPECT_THAT(names(**listed), ElementsAre("git log", "git odd name"));
        } else {
            EXPECT_THAT(listed->error().message, HasSubstr(id));
        }
    }
}

// Each caller has a connection of its own to git; that of the second is `another`.
class ToolsOfTwo : public Tools {
protected:
    ToolsOfTwo() {
        specs[0].config.local = true;
        another.be_modern({test::tool_named("log"), test::tool_named("odd name")});
        transports.give = [this](const plugin::ChannelOptions& options, plugin::ChannelEvents& on) {
            const bool second = options.server == "git" && ++opened > 1;
            return (second ? another : servers.at(options.server)).open(on);
        };
    }
    ToolList list_of(connection::Caller& who) {
        std::optional<ToolList> listed;
        const auto operation = list_tools(known(), who, "", Ask::Anew, [&](Result<ToolList> list) {
            listed = std::move(list.value());
        });
        EXPECT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
        return listed.value_or(ToolList());
    }

    test::FakeServer another{loop};
    int opened = 0;
};

TEST_F(ToolsOfTwo, AreMissingForTheCallerWhoseOwnConnectionFailed) {
    another.refuse_open = true;
    EXPECT_THAT(list_of(caller).errors, IsEmpty());
    const auto list = list_of(agent);
    ASSERT_EQ(list.errors.size(), 1u);
    EXPECT_EQ(list.errors[0].server, "git");
    EXPECT_THAT(list.errors[0].error.message, HasSubstr("no such program"));
    EXPECT_THAT(tools_listed(known(), caller).errors, IsEmpty()) << "it is none of the other's";
}

TEST_F(ToolsOfTwo, OfACallerThatGetsNoConnectionSaySo) {
    limits.connections_per_server = 1;
    EXPECT_THAT(list_of(caller).errors, IsEmpty());
    // One that is not used would make room.
    known()
        .connections()
        .lease("git", caller)
        ->get()
        .request(caller, {"tools/call", {R"("name":"log","arguments":{})", ""}, {}, {}},
                 [](const auto&) {});
    const auto list = list_of(agent);
    ASSERT_EQ(list.errors.size(), 1u);
    EXPECT_EQ(list.errors[0].server, "git");
    EXPECT_EQ(list.errors[0].error.code, ErrorCode::Limit);
    EXPECT_THAT(list.errors[0].error.message, HasSubstr("(limit connections_per_server)"));
    EXPECT_TRUE(list.answered) << "github did";
}

TEST_F(ToolsOfTwo, AreNotTakenFromTheOneByAListThatBreaksOffForTheOther) {
    another.errors["tools/list"] = {-1, "not for you"};
    list_of(caller);
    list_of(agent);
    ASSERT_EQ(another.requests("tools/list").size(), 1u);
    EXPECT_THAT(names(tools_listed(known(), caller, {"git"})),
                ElementsAre("git log", "git odd name"));
    EXPECT_TRUE(call("mcp__git__log"));
}

TEST_F(Tools, NobodyIsToldOfAListThatWasDropped) {
    bool told = false, settled = false;
    auto operation = list_tools(known(), caller, "", Ask::IfStale,
                                [&](const Result<ToolList>&) { told = true; });
    operation.reset();
    connections->connect(caller, {}, [&] { settled = true; });
    ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    EXPECT_FALSE(told);
}

TEST_F(Tools, HaveOneShapeInBriefAndWhole) {
    connect();
    const auto list = tools_listed(known(), caller);
    const auto whole = json::parse(to_json(list));
    EXPECT_TRUE(test::is_a("tools", whole)) << whole;
    for (const auto& tool : list.tools) {
        EXPECT_TRUE(test::is_a("tool", to_json(tool, limits, Schemas::LeftOut)));
        const auto brief = to_json(tool, limits, Schemas::Shown);
        EXPECT_TRUE(test::is_a("tool", brief));
        EXPECT_EQ(brief.at("description"), json::value("[" + tool.server + "]"))
            << "nothing is said of it, and no blank is left of that";
    }
    EXPECT_EQ(whole.at_pointer("/tools/0/name"), "mcp__git__log");
    EXPECT_FALSE(whole.as_object().contains("errors"));
}

TEST_F(Tools, AreToldWithAllThatTheirServerSaysOfThemButWhatWeKnowBetter) {
    auto tool = test::tool_named("log");
    tool["title"] = "The log";
    tool["level"] = "allow-always";
    tool["schema_fault"] = "is theirs";
    servers.at("git").be_modern({tool});
    connect();
    const auto told =
        json::parse(to_json(tools_listed(known(), caller, {"git"}))).at_pointer("/tools/0");
    EXPECT_EQ(told.at("title"), "The log");
    EXPECT_EQ(told.at("inputSchema"), tool.at("inputSchema"));
    EXPECT_EQ(told.at("name"), "mcp__git__log");
    EXPECT_EQ(told.at("level"), "require-approval");
    EXPECT_FALSE(told.as_object().contains("schema_fault")) << "it is ours to say";
}

TEST_F(Tools, ThatNoServerCanHaveSayWhoseTheyWouldBe) {
    EXPECT_EQ(no_server_for(known(), "mcp__gti__*").message, known().no_such_server("gti").message);
    EXPECT_THAT(no_server_for(known(), "zzz*").message,
                HasSubstr("no server's tools can match \"zzz*\""));
    EXPECT_THAT(servers_meant("mcp__git__*", {"git", "github"}), ElementsAre("git"));
    EXPECT_THAT(servers_meant("mcp__Git__log", {"git", "github"}), ElementsAre("git"));
    EXPECT_THAT(servers_meant("mcp__gi", {"git", "github", "x"}), ElementsAre("git", "github"));
    EXPECT_THAT(servers_meant("mcp__gti__log", {"git", "github"}), ElementsAre());
    EXPECT_THAT(servers_meant("anything", {"git", "github"}), ElementsAre("git", "github"))
        << "it may stand in a description";
}

TEST(Pattern, WithWildcardsIsForTheWholeName) {
    struct Case {
        const char *pattern, *name;
        bool fits;
    };
    const Case cases[] = {
        {"mcp__git__*", "mcp__git__log", true},
        {"mcp__git__*", "mcp__files__log", false},
        {"*log", "mcp__git__log", true},
        {"*log", "mcp__git__log2", false},
        {"mcp__*__l?g", "mcp__git__log", true},
        {"mcp__*__l?g", "mcp__git__lg", false},
        {"*", "", true},
        {"?", "", false},
        {"**a**", "bab", true},
        {"a*b*c", "aXbXbXc", true},
        {"MCP__*__L?g", "mcp__git__log", true},
        {"mcp__*__log", "mcp__git__LOG", true},
    };
    for (const auto& c : cases)
        EXPECT_EQ(fits_pattern(c.pattern, c.name, "log"), c.fits) << c.pattern << " " << c.name;
}

TEST(Pattern, WithoutWildcardsIsLookedForInNameAndDescription) {
    EXPECT_TRUE(fits_pattern("git", "mcp__git__log", ""));
    EXPECT_TRUE(fits_pattern("GIT", "mcp__git__log", ""));
    EXPECT_TRUE(fits_pattern("git", "mcp__Git__log", ""));
    EXPECT_TRUE(fits_pattern("commits", "mcp__git__log", "Lists Commits"));
    EXPECT_FALSE(fits_pattern("branches", "mcp__git__log", "Lists commits"));
    EXPECT_TRUE(fits_pattern("", "mcp__git__log", ""));
}

TEST(Pattern, OfManyStarsEndsInTime) {
    std::string pattern;
    for (int i = 0; i < 30; ++i) pattern += "a*";
    EXPECT_FALSE(fits_pattern(pattern + "b", std::string(64, 'a'), ""));
}

}  // namespace
}  // namespace patchbay::service
