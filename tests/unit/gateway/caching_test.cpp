// How long modern clients may keep what several servers list.
#include "session_fixture.hpp"

namespace patchbay::gateway {
namespace {

class ListCaching : public SessionTest {
protected:
    struct Said {
        int ttl_ms;
        const char* scope;
    };
    void be_modern(const std::string& id, Said said) {
        auto& server = servers.at(id);
        server.errors.erase("server/discover");
        server.be_modern({test::tool_named("log")});
        server.results["server/discover"] = [](const auto&) -> json::value {
            return {{"resultType", "complete"},
                    {"supportedVersions", {"2026-07-28"}},
                    {"capabilities", {{"tools", json::object()}, {"resources", json::object()}}}};
        };
        const auto list = [&](const char* method, const char* member, json::array items) {
            offer(id, method,
                  {{"resultType", "complete"},
                   {member, std::move(items)},
                   {"ttlMs", said.ttl_ms},
                   {"cacheScope", said.scope}});
        };
        list("tools/list", "tools", {test::tool_named("log")});
        list("resources/list", "resources", {json::object{{"uri", id + ":1"}, {"name", "n"}}});
        list("resources/templates/list", "resourceTemplates", json::array());
    }
    // What a modern client is told of that list.
    std::string told_of(const std::string& method) {
        const auto answer = ask_modern(++id_, method);
        EXPECT_EQ(at(answer, "/result/resultType"), "complete");
        const auto ttl = at(answer, "/result/ttlMs"), scope = at(answer, "/result/cacheScope");
        return json::serialize(ttl) + " " + json::serialize(scope);
    }
    int id_ = 0;
};

TEST_F(ListCaching, IsTheLeastThatServersSayAndForAllWhereEveryOneSaysSo) {
    be_modern("git", {60000, "public"});
    be_modern("github", {90000, "public"});
    for (const char* list : {"tools/list", "resources/list", "resources/templates/list"})
        EXPECT_EQ(told_of(list), R"(60000 "public")") << list;
    EXPECT_EQ(told_of("prompts/list"), R"(0 "private")") << "no server has any";
}

TEST_F(ListCaching, OfToolsIsWhatIsLeftSinceTheirServerWasAsked) {
    be_modern("git", {60000, "public"});
    be_modern("github", {90000, "private"});
    EXPECT_EQ(told_of("tools/list"), R"(60000 "private")");
    loop.pass(50s);
    EXPECT_EQ(told_of("tools/list"), R"(10000 "private")");
    EXPECT_EQ(told_of("resources/list"), R"(60000 "private")") << "which was asked anew";
}

TEST_F(ListCaching, ToolsThatWereListedTooLongAgoAreListedAgainBeforeTheyAreTold) {
    be_modern("git", {60000, "public"});
    view.only = "git";
    EXPECT_EQ(told_of("tools/list"), R"(60000 "public")");
    loop.pass(59s);
    told_of("tools/list");
    EXPECT_EQ(servers.at("git").requests("tools/list").size(), 1u);
    offer("git", "tools/list", {{"tools", {test::tool_named("new")}}, {"ttlMs", 5000}});
    loop.pass(1s);
    const auto answer = ask_modern(++id_, "tools/list");
    EXPECT_EQ(at(answer, "/result/tools/0/name"), "new");
    EXPECT_EQ(at(answer, "/result/ttlMs"), 5000);
    EXPECT_EQ(servers.at("git").requests("tools/list").size(), 2u);
}

TEST_F(ListCaching, ToolsThatAreStaleAtOnceAreListedAgainOnceASecondAtMost) {
    be_modern("git", {0, "public"});
    view.only = "git";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(told_of("tools/list"), R"(0 "public")");
    EXPECT_EQ(servers.at("git").requests("tools/list").size(), 1u);
    loop.pass(1s);
    for (int i = 0; i < 3; ++i) told_of("tools/list");
    EXPECT_EQ(servers.at("git").requests("tools/list").size(), 2u);
}

TEST_F(ListCaching, AServerThatDoesNotListThemAgainIsWaitedForNoLongerThanForTheFirstList) {
    be_modern("git", {60000, "public"});
    view.only = "git";
    told_of("tools/list");
    servers.at("git").results.erase("tools/list");
    servers.at("git").errors.erase("tools/list");
    loop.pass(60s);
    say_modern(++id_, "tools/list");
    loop.pass(999ms);
    EXPECT_THAT(json::serialize(sent.back()), Not(HasSubstr("\"id\":2")));
    loop.pass(1ms);
    const auto answer = answer_to(id_);
    EXPECT_EQ(at(answer, "/result/tools/0/name"), "log");
    EXPECT_EQ(at(answer, "/result/ttlMs"), 0);
}

TEST_F(ListCaching, IsNoneWhereAServerSaysNothing) {
    be_modern("git", {60000, "public"});
    EXPECT_EQ(told_of("tools/list"), R"(0 "private")") << "github is of the legacy era";
    EXPECT_EQ(told_of("resources/list"), R"(0 "private")");
}

TEST_F(ListCaching, OfOneServerAloneIsItsOwn) {
    be_modern("git", {60000, "public"});
    view.only = "git";
    EXPECT_EQ(told_of("tools/list"), R"(60000 "public")");
    EXPECT_EQ(told_of("resources/list"), R"(60000 "public")");
}

TEST_F(ListCaching, IsNotForAllWhereNotAllAreShownTheSame) {
    be_modern("git", {60000, "public"});
    view.picked = {"git"};
    EXPECT_EQ(told_of("tools/list"), R"(60000 "private")");
    EXPECT_EQ(told_of("resources/list"), R"(60000 "private")");
}

TEST_F(ListCaching, IsNotSaidToALegacyClient) {
    be_modern("git", {60000, "public"});
    greet();
    EXPECT_FALSE(ask(2, "tools/list").at("result").as_object().contains("ttlMs"));
    EXPECT_FALSE(ask(3, "resources/list").at("result").as_object().contains("ttlMs"));
}

}  // namespace
}  // namespace patchbay::gateway
