#include "gateway/client_abilities.hpp"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::gateway {
namespace {

namespace json = boost::json;

bool may(const char* capabilities, const char* method, const char* params = "{}") {
    return can_be_asked(json::parse(capabilities).as_object(), method,
                        json::parse(params).as_object());
}

TEST(ClientAbilities, AClientIsAskedForNothingButWhatItSaysThatItCan) {
    EXPECT_TRUE(may(R"({"roots":{}})", "roots/list"));
    EXPECT_FALSE(may(R"({"sampling":{}})", "roots/list"));
    EXPECT_TRUE(may(R"({"elicitation":{}})", "elicitation/create"));
    EXPECT_TRUE(may(R"({"elicitation":{"form":{}}})", "elicitation/create"));
    EXPECT_FALSE(may(R"({"elicitation":{"url":{}}})", "elicitation/create"));
    EXPECT_FALSE(may(R"({"elicitation":{}})", "elicitation/create", R"({"mode":"url"})"));
    EXPECT_FALSE(may(R"({"elicitation":{}})", "sampling/createMessage"));
}

TEST(ClientAbilities, ASampleWithToolsIsAnAbilityOfItsOwn) {
    EXPECT_TRUE(may(R"({"sampling":{}})", "sampling/createMessage"));
    for (const auto* params : {R"({"tools":[]})", R"({"toolChoice":{"mode":"auto"}})"}) {
        EXPECT_FALSE(may(R"({"sampling":{}})", "sampling/createMessage", params));
        EXPECT_TRUE(may(R"({"sampling":{"tools":{}}})", "sampling/createMessage", params));
    }
}

}  // namespace
}  // namespace patchbay::gateway
