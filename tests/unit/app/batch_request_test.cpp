#include "app/batch_request.hpp"

#include "core/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
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
    EXPECT_EQ(core::string_in(good, "server"), "x");
    EXPECT_EQ(trouble_with({}), "");
    EXPECT_EQ(timeout_of({}).count(), 0);
    EXPECT_EQ(core::string_in({}, "server"), "");
}

TEST(BatchRequest, MayTakeAYearAndADayAtMost) {
    for (const auto* most : {"1", "31622400000"}) {
        const auto taken = request((R"({"timeout_ms":)" + std::string(most) + "}").c_str());
        EXPECT_EQ(trouble_with(taken), "");
        EXPECT_EQ(std::to_string(timeout_of(taken).count()), most);
    }
    EXPECT_EQ(trouble_with(request(R"({"timeout_ms":31622400001})")),
              "\"timeout_ms\" must be a whole number from 1 to 31622400000");
}

TEST(BatchRequest, NamesWhatItsOpCannotDoWithout) {
    struct Case {
        const char *text, *trouble;
    };
    const Case cases[] = {
        {R"({"op":"tools/call"})", "tools/call needs a \"name\" like mcp__server__tool"},
        {R"({"op":"tools/call","name":""})", "tools/call needs a \"name\" like mcp__server__tool"},
        {R"({"op":"tools/call","params":{}})",
         "tools/call needs a \"name\" like mcp__server__tool"},
        {R"({"op":"tools/call","params":{"name":"a"},"arguments":{"b":1}})",
         "\"arguments\" stands beside \"params\" and would be lost; write it into \"params\""},
        {R"({"op":"request","method":"x/y","params":{},"arguments":{}})",
         "\"arguments\" stands beside \"params\" and would be lost; write it into \"params\""},
        {R"({"op":"request","method":"x/y","arguments":{}})", ""},
        {R"({"op":"request","method":"x/y","server":"s","params":{"arguments":{}}})", ""},
        {R"({"op":"tools/call","name":"a"})", ""},
        {R"({"op":"tools/call","name":"a","arguments":1})", "\"arguments\" must be an object"},
        {R"({"op":"tools/call","params":{"name":"a","_meta":1}})", "\"_meta\" must be an object"},
        {R"({"op":"resources/read"})", "resources/read needs a \"uri\""},
        {R"({"op":"resources/read","uri":null})", "\"uri\" must be a string"},
        {R"({"op":"resources/read","uri":"a:b"})", ""},
        {R"({"op":"resources/subscribe"})", "resources/subscribe needs a \"uri\""},
        {R"({"op":"resources/unsubscribe"})", "resources/unsubscribe needs a \"uri\""},
        {R"({"op":"prompts/get"})", "prompts/get needs a \"name\""},
        {R"({"op":"completion/complete","argument":{}})", "completion/complete needs a \"ref\""},
        {R"({"op":"completion/complete","ref":{}})", "completion/complete needs an \"argument\""},
        {R"({"op":"completion/complete","ref":"x"})", "\"ref\" must be an object"},
        {R"({"op":"completion/complete","ref":{},"argument":{}})", ""},
        {R"({"op":"completion/complete","ref":{},"argument":{},"context":1})",
         "\"context\" must be an object"},
        {R"({"op":"logging/setLevel"})", "logging/setLevel needs a \"level\""},
        {R"({"op":"subscriptions/listen"})", "subscriptions/listen needs a \"notifications\""},
        {R"({"op":"request","method":"resources/read","arguments":1})", ""},
        {R"({"op":"ping"})", ""},
    };
    for (const auto& c : cases)
        EXPECT_EQ(trouble_with_params(request(c.text)), c.trouble) << c.text;
}

TEST(BatchRequest, RefusesWhatItsOpWouldNotLookAt) {
    struct Case {
        const char *text, *known;
    };
    const Case cases[] = {
        {R"({"op":"status","server":"a"})", "id, op"},
        {R"({"op":"barrier","timeout_ms":1})", "id, op"},
        {R"({"op":"barrier","progress":true})", "id, op"},
        {R"({"op":"tools/call","name":"mcp__a__b","server":"b"})",
         "id, op, timeout_ms, progress, params, name, arguments, _meta"},
        {R"({"op":"prompts/get","server":"a","name":"b","method":"c"})",
         "id, op, server, timeout_ms, progress, params, name, arguments, _meta"},
        {R"({"op":"ping","server":"a","method":"c","params":{}})",
         "id, op, server, timeout_ms, progress, params"},
        {R"({"op":"resources/list","timeout_ms":1})", "id, op, server, refresh"},
        {R"({"op":"resources/list","params":{"cursor":"a"}})", "id, op, server, refresh"},
        {R"({"op":"tools/list","_meta":{}})", "id, op, server, refresh"},
        {R"({"op":"tools/call","name":"mcp__a__b","refresh":true})",
         "id, op, timeout_ms, progress, params, name, arguments, _meta"},
        {R"({"op":"cancel","target":1,"server":"a"})", "id, op, target, reason"},
        {R"({"op":"cancel","params":{"target":1}})", "id, op, target, reason"},
        {R"({"op":"wait","method":"a","progress":true})", "id, op, method, server, timeout_ms"},
    };
    for (const auto& c : cases)
        EXPECT_THAT(
            trouble_with_params(request(c.text)),
            AllOf(HasSubstr(" has no member \""), EndsWith("; known: " + std::string(c.known))))
            << c.text;
}

TEST(BatchRequest, TakesItsOtherMembersForParamsWhenThereAreNone) {
    EXPECT_EQ(raw_params_of(
                  R"({"id":1,"op":"resources/read","server":"x","uri":"a://b","_meta":{"k":1}})"),
              R"({"uri":"a://b","_meta":{"k":1}})");
    EXPECT_EQ(raw_params_of(R"({"id":1,"uri":"c","params":{"uri":"a"}})"), R"({"uri":"a"})");
}

TEST(BatchRequest, PassesOnWhatItHoldsAsItWasWritten) {
    const auto line =
        R"( {"\u0069d" : 1.0 , "a":[1e0, "}\",{"],"params": {"id":{"b":2},"\u0063":0.10}} )";
    EXPECT_EQ(raw_member_of(line, "id"), "1.0");
    EXPECT_EQ(raw_member_of(line, "a"), R"([1e0, "}\",{"])");
    EXPECT_EQ(raw_member_of(line, "b"), "");
    EXPECT_EQ(raw_param_of(line, "id"), R"({"b":2})");
    EXPECT_EQ(raw_params_of(line), R"({"id":{"b":2},"c":0.10})");
    EXPECT_EQ(raw_params_of("{}"), "{}");
}

}  // namespace
}  // namespace patchbay::app
