#include "gateway/http/endpoints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;

Result<View> find_agent(const std::string& name) {
    if (name != "reviewer") return Error{ErrorCode::NotFound, "no agent \"" + name + "\""};
    View view;
    view.agent = name;
    view.picked = {"a", "b"};
    return view;
}

std::string refusal_at(const Endpoints& endpoints, const std::string& target) {
    const auto at = endpoints.at(target);
    const auto* refused = std::get_if<HttpRefusal>(&at);
    return refused ? std::to_string(refused->status) + " " + refused->message : "shown";
}

TEST(Endpoints, OfAnAgentShowNoMoreThanTheGatewayItself) {
    View all;
    all.picked = {"b", "c"};
    const Endpoints endpoints(all, find_agent);
    EXPECT_TRUE(std::get<View>(endpoints.at("/mcp?x=1")).holds("c"));
    const auto at = endpoints.at("/mcp/reviewer");
    const auto& view = std::get<View>(at);
    EXPECT_EQ(view.agent, "reviewer");
    EXPECT_TRUE(view.holds("b"));
    EXPECT_FALSE(view.holds("a"));
    EXPECT_FALSE(view.holds("c"));
}

TEST(Endpoints, WhereThereIsNothingThatIsSaid) {
    const Endpoints endpoints(View(), find_agent);
    for (const auto* target : {"/", "/mcp/", "/mcpx", "/other", "mcp", "", "/mcp//"})
        EXPECT_THAT(refusal_at(endpoints, target), HasSubstr("404")) << target;
    EXPECT_EQ(refusal_at(endpoints, "/mcp/nobody"), "404 no agent \"nobody\"");
    EXPECT_THAT(refusal_at(Endpoints(View{"one"}, find_agent), "/mcp/reviewer"),
                HasSubstr("404 one server alone"));
    EXPECT_THAT(refusal_at(Endpoints(), "/mcp/reviewer"), HasSubstr("404"));
}

TEST(Endpoints, ToStrangersNothingIsToldOfAgentsThatAreNotHere) {
    const Endpoints endpoints(
        View(),
        [](const std::string&) -> Result<View> {
            return Error{ErrorCode::NotFound, "disabled (/home/me/c.toml:3); known: reviewer"};
        },
        Endpoints::Guests::Strangers);
    EXPECT_EQ(refusal_at(endpoints, "/mcp/off"), "404 no agent \"off\" is here");
    EXPECT_EQ(refusal_at(endpoints, "/mcp/bundles/off"), "404 no bundle \"off\" is here");
}

}  // namespace
}  // namespace patchbay::gateway
