// Pages that a server wants a person to visit, between a client and a server of different eras.
#include "gateway/page_visits.hpp"

#include "unit/gateway/session_fixture.hpp"

#include <cstddef>
#include <string>

namespace patchbay::gateway {
namespace {

// -32042 is of 2025-11-25 alone.
class VisitTest : public SessionTest {
protected:
    static constexpr const char* kPage =
        R"({"mode":"url","elicitationId":"e-1","url":"https://a.test/in","message":"m","x":1E400})";

    // The first `times` calls of a tool of "git" are refused until that page has been visited.
    void want_visits(int times) {
        servers.at("git").results.erase("tools/call");
        servers.at("git").on_request = [this, times](const std::string& method) {
            if (method != "tools/call") return;
            const auto calls = servers.at("git").requests("tools/call");
            const auto id = calls.back().at("id").to_number<int>();
            if (calls.size() > static_cast<std::size_t>(times))
                return servers.at("git").answer(id, R"({"content":[]})");
            servers.at("git").say(
                R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                R"(,"error":{"code":-32042,"message":"visit","data":{"elicitations":[)" + kPage +
                "]}}}");
        };
    }
    json::object call(const json::value& id, json::object params,
                      const json::object& elicitation = {{"url", json::object()}}) {
        params["_meta"] = {
            {"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
            {"io.modelcontextprotocol/clientCapabilities", {{"elicitation", elicitation}}}};
        return ask(id, "tools/call", std::move(params));
    }
    json::object answered(const json::object& wanted, const char* action) {
        auto again = kCall;
        again["requestState"] = at(wanted, "/result/requestState");
        again["inputResponses"] = {{"e-1", {{"action", action}}}};
        return again;
    }
};

TEST_F(VisitTest, AModernClientIsAskedForItInTheMiddleAndTheCallGoesOn) {
    want_visits(2);
    auto wanted = call(1, kCall);
    ASSERT_EQ(at(wanted, "/result/resultType"), "input_required") << wanted;
    EXPECT_EQ(at(wanted, "/result/inputRequests/e-1/method"), "elicitation/create");
    EXPECT_EQ(at(wanted, "/result/inputRequests/e-1/params/url"), "https://a.test/in");
    wanted = call(2, answered(wanted, "accept"));
    ASSERT_EQ(at(wanted, "/result/resultType"), "input_required") << "it has to be visited still";
    const auto done = call(3, answered(wanted, "accept"));
    EXPECT_EQ(at(done, "/result/content"), json::array()) << done;
    const auto calls = servers.at("git").requests("tools/call");
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_FALSE(calls[2].at("params").as_object().contains("inputResponses"));
    EXPECT_TRUE(session().idle());
}

TEST_F(VisitTest, WhatIsNotAgreedToEndsTheCallWithoutAnotherOne) {
    want_visits(1);
    const auto refused = call(2, answered(call(1, kCall), "decline"));
    EXPECT_EQ(at(refused, "/result/isError"), true) << refused;
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), 1u);
    EXPECT_TRUE(session().idle());
}

TEST_F(VisitTest, AClientThatCannotIsToldWhatItLacks) {
    want_visits(1);
    const auto refused = call(1, kCall, {{"form", json::object()}});
    EXPECT_EQ(at(refused, "/error/code"), -32021);
    EXPECT_EQ(at(refused, "/error/data/requiredCapabilities"),
              (json::object{{"elicitation", {{"url", json::object()}}}}));
}

TEST_F(VisitTest, AServerThatWantsItWithoutEndIsNotAskedWithoutEnd) {
    want_visits(1'000);
    auto answer = call(0, kCall);
    int rounds = 0;
    while (answer.contains("result") && ++rounds < 100)
        answer = call(rounds, answered(answer, "accept"));
    EXPECT_EQ(at(answer, "/error/code"), -32603);
    EXPECT_EQ(at(answer, "/error/data/elicitations/0/elicitationId"), "e-1");
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), PageVisits::kMostRounds + 1);
}

TEST_F(VisitTest, ALegacyClientGetsTheErrorAsItIs) {
    want_visits(1);
    greet({{"elicitation", {{"url", json::object()}}}});
    const auto refused = ask(2, "tools/call", kCall);
    EXPECT_EQ(at(refused, "/error/code"), -32042);
}

TEST_F(SessionTest, APageThatAModernServerWantsVisitedHasAnIdForALegacyClient) {
    auto& server = servers.at("git");
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}},
                {"capabilities", {{"tools", json::object()}}}};
    };
    server.errors.erase("server/discover");
    server.results["tools/call"] = [](const json::object& params) -> json::value {
        if (params.contains("inputResponses"))
            return {{"resultType", "complete"}, {"content", json::array()}};
        return {
            {"resultType", "input_required"},
            {"inputRequests",
             {{"k",
               {{"method", "elicitation/create"},
                {"params", {{"mode", "url"}, {"message", "m"}, {"url", "https://a.test/"}}}}}}}};
    };
    greet({{"elicitation", {{"url", json::object()}}}});
    say(2, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return !told("elicitation/create").empty(); }));
    const auto asked = told("elicitation/create")[0];
    EXPECT_TRUE(at(asked, "/params/elicitationId").is_string());
    EXPECT_EQ(json::serialize(at(asked, "/params/elicitationId")).size(), 34u) << asked;
    session().take(json::serialize(json::object{
        {"jsonrpc", "2.0"}, {"id", asked.at("id")}, {"result", {{"action", "accept"}}}}));
    EXPECT_EQ(at(answer_to(2), "/result/content"), json::array());
}

// What makes no sense is an error as any.
TEST(PageVisits, AreOfErrorsThatNamePagesAndOfNoOther) {
    const auto pages = [](const std::string& code, const std::string& elicitations) {
        return PageVisits::in(R"({"code":)" + code + R"(,"message":"m","data":{"elicitations":)" +
                              elicitations + "}}")
            .size();
    };
    const std::string page = R"({"mode":"url","elicitationId":"e","url":"u","message":"m"})";
    EXPECT_EQ(pages("-32042", "[" + page + "," + page + "]"), 2u);
    EXPECT_EQ(pages("-32602", "[" + page + "]"), 0u);
    for (const auto* wrong : {"[]", "{}", "7", "[7]", R"([{"mode":"form","url":"u"}])",
                              R"([{"mode":"url"}])", R"([{"url":"u"}])"})
        EXPECT_EQ(pages("-32042", wrong), 0u) << wrong;
    std::string many = page;
    for (std::size_t i = 0; i < PageVisits::kMostPages; ++i) many += "," + page;
    EXPECT_EQ(pages("-32042", "[" + many + "]"), 0u);
    EXPECT_TRUE(PageVisits::in(R"({"code":-32042,"message":"m"})").empty());
}

}  // namespace
}  // namespace patchbay::gateway
