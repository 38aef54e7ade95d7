// Lists that are put together of pages, and the tools that are shown.
#include "core/json.hpp"
#include "unit/router/fixture.hpp"

#include <algorithm>

namespace patchbay::router {
namespace {

using ::testing::HasSubstr;

TEST_F(RouterTest, ListsAllPagesAndStopsAtARepeatedCursor) {
    auto& server = servers.at("git");
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}},
                {"capabilities", {{"resources", json::object()}}}};
    };
    server.results["resources/list"] = [](const json::object& params) -> json::value {
        if (!params.contains("cursor"))
            return {{"resources", {{{"uri", "a:1"}}}}, {"nextCursor", "two"}};
        return {{"resources", {{{"uri", "a:2"}}}}};
    };
    std::optional<Result<ListedItems>> listed;
    auto list = router().list_all(caller, {"git", "resources/list", {}},
                                  [&](auto items) { listed.emplace(std::move(items)); });
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
    ASSERT_TRUE(*listed);
    EXPECT_EQ((*listed)->values.size(), 2u);

    server.results["resources/list"] = [](const auto&) -> json::value {
        return {{"resources", json::array()}, {"nextCursor", "same"}};
    };
    listed.reset();
    list = router().list_all(caller, {"git", "resources/list", {}},
                             [&](auto items) { listed.emplace(std::move(items)); });
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
    EXPECT_THAT(listed->error().message, HasSubstr("repeats the cursor"));
}

// 2026-07-28 server/utilities/pagination: an empty cursor is one. Some servers write it where they mean none.
TEST_F(RouterTest, AnEmptyCursorIsAskedForAndListsNothingTwice) {
    auto& server = servers.at("git");
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}},
                {"capabilities", {{"resources", json::object()}}}};
    };
    json::value first{{"resources", {{{"uri", "a:1"}}}}, {"nextCursor", ""}};
    json::value behind{{"resources", {{{"uri", "a:2"}}}}};
    server.results["resources/list"] = [&](const json::object& params) {
        return params.contains("cursor") ? behind : first;
    };
    const auto count = [&] {
        std::optional<Result<ListedItems>> listed;
        auto list = router().list_all(caller, {"git", "resources/list", {}},
                                      [&](auto items) { listed.emplace(std::move(items)); });
        EXPECT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
        return listed && *listed ? (*listed)->texts.size() : 0;
    };
    EXPECT_EQ(count(), 2u);
    behind = first;
    EXPECT_EQ(count(), 1u) << "the same page again";
}

TEST_F(RouterTest, AListThatNobodyHoldsIsCancelledAtTheServer) {
    auto& server = servers.at("git");
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}},
                {"capabilities", {{"resources", json::object()}}}};
    };
    bool told = false;
    auto list =
        router().list_all(caller, {"git", "resources/list", {}}, [&](auto) { told = true; });
    ASSERT_TRUE(loop.run_until([&] { return !server.requests("resources/list").empty(); },
                               core::Clock::now() + 20s));
    list.reset();
    EXPECT_EQ(server.requests("notifications/cancelled").size(), 1u);
    EXPECT_EQ(connections->find("git").value().get().status().pending, 0u);
    EXPECT_FALSE(told);
}

TEST_F(RouterTest, ShowsToolsInOrderAndWithoutWhatIsHidden) {
    specs[0].config.disabled_tools = {"odd name"};
    EXPECT_TRUE(router().tools(caller).empty()) << "nobody has been asked";
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(call("mcp__github__log").error().code, ErrorCode::Denied);
    bool settled = false;
    connections->connect(caller, {"github"}, [&] { settled = true; });
    ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    std::vector<std::string> names;
    for (const auto& tool : router().tools(caller)) {
        names.push_back(tool.public_name);
        EXPECT_EQ(protocol::public_name(tool.server, tool.tool->name), tool.public_name);
    }
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_THAT(names, testing::IsSupersetOf({std::string("mcp__git__log"),
                                              protocol::public_name("github", "odd name")}));
    EXPECT_THAT(names, testing::Not(testing::Contains(protocol::public_name("git", "odd name"))));
}

TEST_F(RouterTest, FindsOneToolWhoseServerIsNotThereYet) {
    specs[0].config.disabled_tools = {"odd name"};
    add_server("slow");
    servers.at("slow").results.clear();
    const auto find = [&](const std::string& name, std::chrono::milliseconds timeout = 0ms) {
        std::optional<Result<ListedTool>> found;
        router().find_tool(caller, name, timeout, [&](auto outcome) {
            EXPECT_FALSE(found) << "told twice";
            found.emplace(std::move(outcome));
        });
        EXPECT_TRUE(loop.run_until([&] { return found.has_value(); }, core::Clock::now() + 20s));
        return found.value_or(Error{ErrorCode::Internal, "never"});
    };
    const auto found = find("mcp__git__log", 20s);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->server, "git");
    EXPECT_EQ(found->tool->name, "log");
    EXPECT_EQ(find(protocol::public_name("git", "odd name")).error().code, ErrorCode::Denied);
    EXPECT_EQ(find("mcp__git__lgo").error().code, ErrorCode::NotFound);
    const auto late = find("mcp__slow__log", 20ms);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().message, "server \"slow\" is still connecting after 20 ms: starting");
}

TEST_F(RouterTest, AListIsBoundedInPagesItemsAndBytes) {
    struct Case {
        const char* limit;
        std::function<void(core::Limits&)> set;
        std::size_t pages;
    };
    const Case cases[] = {
        {"pages_per_list", [](auto& l) { l.pages_per_list = 3; }, 3},
        {"items_per_list", [](auto& l) { l.items_per_list = 5; }, 3},
        {"list_bytes", [](auto& l) { l.list_bytes = 600; }, 2},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.limit);
        router_.reset();
        limits = {};
        each.set(limits);
        be_endless("git");
        servers.at("git").received.clear();
        const auto listed = list("git", "resources/list");
        ASSERT_FALSE(listed);
        EXPECT_EQ(listed.error().code, ErrorCode::Limit);
        EXPECT_THAT(listed.error().message, HasSubstr("(limit " + std::string(each.limit) + ")"));
        EXPECT_EQ(servers.at("git").requests("resources/list").size(), each.pages);
    }
}

TEST_F(RouterTest, AListIsBoundedInWhatItsValuesTakeNotOnlyInItsText) {
    be_endless("git");
    servers.at("git").results["resources/list"] = [](const auto&) -> json::value {
        return {{"resources", json::array()}, {"x", json::array(1000, json::array())}};
    };
    limits.list_bytes = 20'000;
    const auto listed = list("git", "resources/list");
    ASSERT_FALSE(listed);
    EXPECT_THAT(listed.error().message, HasSubstr("20000 bytes over its pages (limit list_bytes)"));
}

TEST_F(RouterTest, AListWithOneDeepItemIsWhole) {
    be_endless("git");
    json::object nested;
    for (int i = 0; i < 50; ++i) nested = {{"p", std::move(nested)}};
    servers.at("git").results["resources/list"] = [nested](const auto&) -> json::value {
        return {{"resources", {{{"uri", "a:1"}, {"_meta", nested}}, {{"uri", "a:2"}}}}};
    };
    const auto listed = list("git", "resources/list");
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->size(), 2u);
}

TEST_F(RouterTest, AListThatFillsItsLimitsIsWhole) {
    const auto page = [](const json::object& params) -> json::value {
        const auto nth = params.contains("cursor") ? params.at("cursor").as_string() : "1";
        json::object one{{"resources", {{{"uri", "a:1"}}, {{"uri", "a:2"}}}}};
        if (nth == "1") one["nextCursor"] = "2";
        if (nth == "2") one["nextCursor"] = "3";
        return one;
    };
    std::size_t bytes = 0;
    for (const json::object& params :
         {json::object(), json::object{{"cursor", "2"}}, json::object{{"cursor", "3"}}})
        bytes += core::json_cost(json::serialize(page(params)));
    be_endless("git");
    servers.at("git").results["resources/list"] = page;
    limits.pages_per_list = 3;
    limits.items_per_list = 6;
    limits.list_bytes = bytes;
    const auto listed = list("git", "resources/list");
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->size(), 6u);
    router_.reset();
    limits.list_bytes = bytes - 1;
    EXPECT_EQ(list("git", "resources/list").error().code, ErrorCode::Limit);
}

TEST_F(RouterTest, AListOfTemplatesIsUnderItsOwnName) {
    be_endless("git");
    servers.at("git").results["resources/templates/list"] = [](const auto&) -> json::value {
        return {{"resourceTemplates", {{{"uriTemplate", "a:{b}"}}}}};
    };
    const auto listed = list("git", "resources/templates/list");
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->size(), 1u);
}

TEST_F(RouterTest, OnlyAListOfToolsIsReadForWhatIsHidden) {
    be_endless("git");
    specs[0].config.disabled_tools = {"log"};
    servers.at("git").results["resources/read"] = [](const auto&) -> json::value {
        return {{"contents", json::array()}, {"tools", {{{"name", "log"}}}}};
    };
    const auto reply = ask("git", "resources/read", R"("uri":"a:1")");
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(*reply, R"({"contents":[],"tools":[{"name":"log"}]})");
}

TEST_F(RouterTest, AListThatDoesNotComeSaysWhy) {
    EXPECT_EQ(list("nobody", "resources/list").error().code, ErrorCode::NotFound);
    be_endless("git");
    auto& server = servers.at("git");
    for (const json::value& wrong : {json::value{{"resources", 7}}, json::value{{"tools", {}}}}) {
        server.results["resources/list"] = [wrong](const auto&) { return wrong; };
        const auto listed = list("git", "resources/list");
        ASSERT_FALSE(listed);
        EXPECT_EQ(listed.error().code, ErrorCode::Protocol);
        EXPECT_EQ(listed.error().message, "server \"git\": resources/list result has no such list");
    }
    server.errors["resources/list"] = {-32603, "the database is down"};
    EXPECT_EQ(list("git", "resources/list").error().message,
              "server \"git\": resources/list failed: the database is down");
}

}  // namespace
}  // namespace patchbay::router
