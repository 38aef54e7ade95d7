#include "app/batch_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

json::object request(const char* text) {
    return json::parse(text).as_object();
}

TEST(BatchRequest, MembersOfTheWrongTypeAreNamed) {
    struct Case {
        const char *text, *trouble;
    };
    const Case cases[] = {
        {R"({"op":1})", "\"op\" must be a string"},
        {R"({"server":null})", "\"server\" must be a string"},
        {R"({"method":[]})", "\"method\" must be a string"},
        {R"({"reason":{}})", "\"reason\" must be a string"},
        {R"({"params":"x"})", "\"params\" must be an object"},
        {R"({"_meta":[]})", "\"_meta\" must be an object"},
        {R"({"progress":1})", "\"progress\" must be true or false"},
        {R"({"timeout_ms":0})", "\"timeout_ms\" must be a whole number from 1"},
        {R"({"timeout_ms":-5})", "\"timeout_ms\" must be"},
        {R"({"timeout_ms":1.5})", "\"timeout_ms\" must be"},
        {R"({"timeout_ms":9223372036854775807})", "\"timeout_ms\" must be"},
        {R"({"timeout_ms":18446744073709551615})", "\"timeout_ms\" must be"},
    };
    for (const auto& c : cases)
        EXPECT_THAT(trouble_with(request(c.text)), HasSubstr(c.trouble)) << c.text;
}

TEST(BatchRequest, OfTheRightTypesIsTaken) {
    const auto good = request(
        R"({"id":1,"op":"ping","server":"x","timeout_ms":5,"progress":true,"params":{},"_meta":{}})");
    EXPECT_EQ(trouble_with(good), "");
    EXPECT_EQ(timeout_of(good).count(), 5);
    EXPECT_EQ(text_of(good, "server"), "x");
    EXPECT_EQ(trouble_with({}), "");
    EXPECT_EQ(timeout_of({}).count(), 0);
    EXPECT_EQ(text_of({}, "server"), "");
}

TEST(BatchRequest, TakesItsOtherMembersForParamsWhenThereAreNone) {
    EXPECT_EQ(json::serialize(params_of(request(
                  R"({"id":1,"op":"resources/read","server":"x","uri":"a://b","_meta":{"k":1}})"))),
              R"({"uri":"a://b","_meta":{"k":1}})");
    EXPECT_EQ(json::serialize(params_of(request(R"({"id":1,"uri":"c","params":{"uri":"a"}})"))),
              R"({"uri":"a"})");
}

}  // namespace
}  // namespace patchbay::app
