// How much a client wants logged, on its way to servers of both eras.
#include "session_fixture.hpp"

namespace patchbay::gateway {
namespace {

constexpr const char* kLevel = "io.modelcontextprotocol/logLevel";

class LogLevels : public SessionTest {
protected:
    void be_modern(const std::string& id) {
        auto& server = servers.at(id);
        server.errors.erase("server/discover");
        server.errors["initialize"] = {-32601, "Method not found"};
        server.be_modern({test::tool_named("log")});
        server.results["server/discover"] = [](const auto&) -> json::value {
            return {{"resultType", "complete"},
                    {"supportedVersions", {"2026-07-28"}},
                    {"capabilities",
                     {{"tools", json::object()},
                      {"resources", json::object()},
                      {"logging", json::object()}}}};
        };
    }
    // Of the last request of that method that "git" got; null: it has none.
    json::value level_at_git(const std::string& method) {
        const auto requests = servers.at("git").requests(method);
        if (requests.empty()) return json::value(method + " has not come");
        const auto* meta = requests.back().at("params").as_object().if_contains("_meta");
        const auto* level = meta ? meta->as_object().if_contains(kLevel) : nullptr;
        return level ? *level : json::value();
    }
    json::object ask_with_level(int id, const std::string& method, json::object params,
                                const std::string& level) {
        say_modern(id, method, std::move(params), {{kLevel, level}});
        return answer_to(id);
    }
};

TEST_F(LogLevels, AModernRequestsLevelGoesOnWithItToAModernServer) {
    be_modern("git");
    offer("git", "resources/list", {{"resources", {{{"uri", "git:1"}, {"name", "n"}}}}});
    offer("git", "resources/read", {{"contents", json::array()}});
    ask_with_level(1, "tools/call", kCall, "warning");
    EXPECT_EQ(level_at_git("tools/call"), "warning");
    ask_with_level(2, "resources/read", {{"uri", "git:1"}}, "debug");
    EXPECT_EQ(level_at_git("resources/read"), "debug");
    ask_with_level(4, "resources/list", {}, "info");
    EXPECT_EQ(level_at_git("resources/list"), "info") << "also where several servers are asked";
    ask_modern(3, "tools/call", kCall);
    EXPECT_EQ(level_at_git("tools/call"), json::value()) << "nothing is logged for it";
}

TEST_F(LogLevels, AModernRequestsLevelGoesOnWithItWhereItsServerIsShownAlone) {
    be_modern("git");
    view.only = "git";
    ask_with_level(1, "tools/call", {{"name", "log"}}, "notice");
    EXPECT_EQ(level_at_git("tools/call"), "notice");
}

TEST_F(LogLevels, ALegacyServerIsToldOfAModernRequestsLevelBeforeTheRequest) {
    ask_with_level(1, "tools/call", kCall, "warning");
    ask_with_level(2, "tools/call", kCall, "error");
    const auto told = servers.at("git").requests("logging/setLevel");
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].at("params").at("level"), "warning");
    EXPECT_LT(told[0].at("id").as_int64(),
              servers.at("git").requests("tools/call").front().at("id").as_int64());
}

TEST_F(LogLevels, ALegacyClientsLevelGoesWithEachOfItsRequestsToAModernServer) {
    be_modern("git");
    greet();
    ask(2, "tools/list");
    ask(3, "logging/setLevel", {{"level", "error"}});
    ask(4, "tools/call", kCall);
    EXPECT_EQ(level_at_git("tools/call"), "error");
    EXPECT_THAT(servers.at("git").requests("logging/setLevel"), IsEmpty());
}

TEST_F(LogLevels, BothErasAreToldThatThereIsLogging) {
    EXPECT_TRUE(at(ask_modern(1, "server/discover"), "/result/capabilities/logging").is_object());
}

}  // namespace
}  // namespace patchbay::gateway
