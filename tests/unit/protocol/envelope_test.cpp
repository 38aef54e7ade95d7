#include "protocol/envelope.hpp"

#include "protocol/compose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Envelope, CutsARequestIntoItsRawParts) {
    const std::string text =
        R"( {"jsonrpc":"2.0", "id" : 7 ,"method":"tools/call","params":{"name":"a","x":[1,{"id":9}]} } )";
    const auto envelope = parse_envelope(text);
    ASSERT_TRUE(envelope) << envelope.error().message;
    EXPECT_EQ(envelope->kind, MessageKind::Request);
    EXPECT_EQ(envelope->id, "7");
    EXPECT_EQ(envelope->number_id, 7);
    EXPECT_EQ(envelope->method, "tools/call");
    EXPECT_EQ(envelope->params, R"({"name":"a","x":[1,{"id":9}]})");
}

TEST(Envelope, TakesAnySpaceOfJsonAroundItsParts) {
    const std::string space = " \t\r\n";
    std::string text;
    for (const char* part : {"{", "\"jsonrpc\"", ":", "\"2.0\"", ",", "\"id\"", ":", "\"a b\"", ",",
                             "\"method\"", ":", "\"x\"", ",", "\"params\"", ":", "[ 1\t]", "}"})
        text += space + part + space;
    const auto envelope = parse_envelope(text);
    ASSERT_TRUE(envelope) << envelope.error().message;
    EXPECT_EQ(envelope->id, "\"a b\"");
    EXPECT_EQ(envelope->method, "x");
    EXPECT_EQ(envelope->params, "[ 1\t]");
    const auto batch = "\r\n[" + text + "\t,\n" + text + "]\n";
    const auto items = split_batch(batch, 2);
    ASSERT_TRUE(items) << items.error().message;
    EXPECT_EQ(items->size(), 2u);
}

TEST(Envelope, TellsTheFourKindsApart) {
    struct Case {
        const char* text;
        MessageKind kind;
    };
    const Case cases[] = {
        {R"({"jsonrpc":"2.0","id":"a","method":"ping"})", MessageKind::Request},
        {R"({"method":"notifications/x","jsonrpc":"2.0"})", MessageKind::Notification},
        {R"({"jsonrpc":"2.0","id":1,"result":{}})", MessageKind::Result},
        {R"({"error":{"code":-1,"message":"x"},"jsonrpc":"2.0","id":1})", MessageKind::Error},
        {R"({"error":{"code":-32700,"message":"x"},"jsonrpc":"2.0","id":null})",
         MessageKind::Error}};
    for (const auto& c : cases) {
        SCOPED_TRACE(c.text);
        const auto envelope = parse_envelope(c.text);
        ASSERT_TRUE(envelope) << envelope.error().message;
        EXPECT_EQ(envelope->kind, c.kind);
    }
}

TEST(Envelope, ReadsWhatAResultSaysOfItself) {
    const auto result = [](const std::string& body) {
        return parse_envelope(R"({"jsonrpc":"2.0","id":1,"result":)" + body + "}").value();
    };
    EXPECT_EQ(result(R"({"content":[]})").result_type, ResultType::Complete);
    EXPECT_EQ(result(R"({"resultType":"complete"})").result_type, ResultType::Complete);
    EXPECT_EQ(result(R"({"resultType":"input\u005frequired"})").result_type,
              ResultType::InputRequired);
    EXPECT_EQ(result(R"({"resultType":"later"})").result_type, ResultType::Unknown);
    EXPECT_TRUE(result(R"({"content":[{"isError":false}],"isError":true})").is_error);
    EXPECT_FALSE(result(R"({"structuredContent":{"isError":true}})").is_error);
}

TEST(Envelope, TakesNullAndAListForParams) {
    EXPECT_EQ(parse_envelope(R"({"jsonrpc":"2.0","method":"a","params":null})")->params, "null");
    EXPECT_EQ(parse_envelope(R"({"jsonrpc":"2.0","method":"a","params":[1]})")->params, "[1]");
}

TEST(Envelope, ReadsOnlyItsOwnWordsHoweverDeepOthersUseThem) {
    const std::string text =
        R"({"x":{"method":"no","resultType":"later","isError":true},"jsonrpc":"2.0","id":1,)"
        R"("result":{"list":[{"isError":true}],"deep":{"resultType":"later"},"isError":[true],)"
        R"("resultType":{"a":"later"}},"y":{"isError":true}})";
    const auto envelope = parse_envelope(text);
    ASSERT_TRUE(envelope) << envelope.error().message;
    EXPECT_EQ(envelope->kind, MessageKind::Result);
    EXPECT_EQ(envelope->method, "");
    EXPECT_FALSE(envelope->is_error);
    EXPECT_EQ(envelope->result_type, ResultType::Complete);
}

TEST(Envelope, RefusesWhatTwoReadersCouldReadDifferently) {
    struct Case {
        const char* text;
        const char* message;
    };
    const Case cases[] = {{R"({"jsonrpc":"2.0","id":1,"id":2,"method":"a"})", "repeated"},
                          {R"({"jsonrpc":"2.0","id":1,"method":"a","method":"b"})", "repeated"},
                          {R"({"jsonrpc":"2.0","\u0069d":1,"method":"a"})", "escaped"},
                          {R"({"jsonrpc":"2.0","id":1,"method":"a","result":{}})", "both a method"},
                          {R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})", "exactly one"},
                          {R"({"jsonrpc":"1.0","id":1,"result":{}})", "2.0"},
                          {R"({"jsonrpc":"2.0","id":{},"method":"a"})", "id is neither"},
                          {R"({"jsonrpc":"2.0","id":1,"method":7})", "not a string"},
                          {R"({"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"result":{}})", "repeated"},
                          {R"({"jsonrpc":"2.0","id":1,"result":{},"result":{}})", "repeated"},
                          {R"({"jsonrpc":"2.0","id":1,"error":{},"error":{}})", "repeated"},
                          {R"({"jsonrpc":"2.0","method":"a","params":{},"params":{}})", "repeated"},
                          {R"({"jsonrpc":"2.0","id":[1],"method":"a"})", "id is neither"},
                          {R"({"jsonrpc":"2.0","id":true,"method":"a"})", "id is neither"},
                          {R"({"jsonrpc":"2.0","id":false,"method":"a"})", "id is neither"},
                          {R"({"jsonrpc":"2.0","id":1,"method":"a","error":{}})", "both a method"},
                          {R"({"jsonrpc":"2.0","method":"a","params":"x"})", "params is not an"},
                          {R"({"jsonrpc":"2.0","method":"a","params":7})", "params is not an"},
                          {R"({"jsonrpc":"2.0","id":1})", "neither a method nor exactly one"},
                          {R"({"jsonrpc":"2.0","result":{}})", "a result without an id"},
                          {R"({"jsonrpc":"2.0","id":null,"result":{}})", "a result without an id"},
                          {R"({"id":1,"result":{}})", "\"jsonrpc\" is not"},
                          {R"({"jsonrpc":"2.0","id":1,"method":"a"} x)", "not valid JSON"},
                          {R"({"jsonrpc":"2.0","id":1,"method":"a)", "not valid JSON"},
                          {"{\"jsonrpc\":\"\xff\"}", "not valid UTF-8 at byte 12"},
                          {"{\"jsonrpc\":\"\xc3 \"}", "not valid UTF-8 at byte 12"},
                          {"[]", "not a JSON object"},
                          {"", "not valid JSON"}};
    for (const auto& c : cases) {
        SCOPED_TRACE(c.text);
        const auto envelope = parse_envelope(c.text);
        ASSERT_FALSE(envelope);
        EXPECT_THAT(envelope.error().message, HasSubstr(c.message));
    }
}

TEST(Envelope, RefusesAnEscapedKeyHoweverLongItIs) {
    for (const std::size_t length : {0, 1, 1'000, 5'000, 20'000}) {
        const std::string rest(length, 'x');
        for (const auto& key : {"\\u0069" + rest, rest + "\\u0069", rest + "\\u0069" + rest}) {
            const auto envelope =
                parse_envelope(R"({"jsonrpc":"2.0",")" + key + R"(":1,"id":1,"method":"a"})");
            ASSERT_FALSE(envelope);
            EXPECT_THAT(envelope.error().message, HasSubstr("escaped")) << length;
        }
    }
}

TEST(Envelope, StopsAtTheDepthLimit) {
    const auto nested = [](int depth) {
        return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(depth, '[') +
               std::string(depth, ']') + "}";
    };
    EXPECT_TRUE(parse_envelope(nested(100), 128));
    const auto refused = parse_envelope(nested(1'000'000), 128);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Limit);
    EXPECT_THAT(refused.error().message, HasSubstr("json_depth"));
}

TEST(SplitParams, TakesMetaApartAndKeepsTheRestAsItWas) {
    const auto params =
        split_params(R"({ "name" : "a" , "_meta":{ "progressToken":1 }, "x":[ 1 ] })");
    ASSERT_TRUE(params) << params.error().message;
    EXPECT_EQ(params->members, R"("name":"a","x":[ 1 ])");
    EXPECT_EQ(params->meta, R"("progressToken":1)");
    EXPECT_FALSE(split_params(R"({"_meta":1})"));
    EXPECT_FALSE(split_params(R"({"_meta":{},"_meta":{}})"));
    EXPECT_FALSE(split_params(R"({"_meta":[]})"));
    EXPECT_EQ(split_params(R"({"_meta":{}})")->meta, "");
    EXPECT_EQ(split_params("{}")->members, "");
    EXPECT_FALSE(split_params(R"([1])"));
}

TEST(SplitParams, RefusesAMemberThatIsThereTwiceForTwoReadersTakeTwoValues) {
    for (const char* params :
         {R"({"name":"a","name":"b"})", R"({"name":"a","x":{},"y":1,"name":"a"})",
          R"({"_meta":{},"name":"a","_meta":{}})", R"({"":1,"":2})"})
        EXPECT_FALSE(split_params(params)) << params;
    EXPECT_THAT(split_params(R"({"name":"a","name":"b"})").error().message,
                HasSubstr("name is repeated"));
    EXPECT_TRUE(split_params(R"({"name":"a","arguments":{"name":"b"}})"));
}

// Of each params what split_params() says of them alone, whether the message is read from a copy without
// escapes or as it is.
TEST(ParseWithParams, FindsInOnePassWhatTwoFind) {
    const std::string escapes = R"(,"long":")" + std::string(300, 'x') + R"(\n\u00e9\"")";
    for (const std::string params :
         {R"({ "name" : "a" , "_meta":{ "progressToken":1 }, "x":[ 1 ] })", "{}", "{ }",
          R"({"_meta":1})", R"({"_meta":{},"_meta":{}})", R"([1,{"name":2}])", "null",
          R"({"name":"a","name":"b"})", R"({"n\u0061me":"a"})", R"({"arguments":{"n\u0061me":1}})",
          R"({"arguments":{"params":{"name":1},"name":"b"},"name":"a"})"}) {
        for (const auto& more : {std::string(), escapes}) {
            SCOPED_TRACE(params + more);
            const auto message = R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + params +
                                 R"(,"more":{"name":1})" + more + "}";
            const auto read = parse_with_params(message);
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_EQ(read->envelope.method, "m");
            EXPECT_EQ(read->envelope.params, params);
            const auto alone = split_params(params);
            ASSERT_EQ(read->params.has_value(), alone.has_value());
            if (alone) {
                EXPECT_EQ(read->params->members, alone->members);
                EXPECT_EQ(read->params->meta, alone->meta);
            } else {
                EXPECT_EQ(read->params.error().message, alone.error().message);
            }
        }
    }
    EXPECT_EQ(parse_with_params(R"({"jsonrpc":"2.0","method":"m"})")->params->members, "");
    EXPECT_FALSE(parse_with_params(R"({"jsonrpc":"2.0","method":"m","params":{},"params":{}})"));
    EXPECT_FALSE(parse_with_params(R"({"jsonrpc":"2.0","method":"m","params":{"a":})"));
}

TEST(Compose, JoinsCallerAndEraMeta) {
    EXPECT_EQ(
        request(3, "tools/call", {R"("name":"a")", R"("k":1)"}, R"("v":"2026-07-28")"),
        R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","_meta":{"k":1,"v":"2026-07-28"}}})");
    EXPECT_EQ(request(3, "a", {"", R"("k":1)"}),
              R"({"jsonrpc":"2.0","id":3,"method":"a","params":{"_meta":{"k":1}}})");
    EXPECT_EQ(request(3, "a", {"", ""}, R"("v":1)"),
              R"({"jsonrpc":"2.0","id":3,"method":"a","params":{"_meta":{"v":1}}})");
    EXPECT_EQ(notification("a", R"("x":1)", R"("v":1)"),
              R"({"jsonrpc":"2.0","method":"a","params":{"x":1,"_meta":{"v":1}}})");
    EXPECT_EQ(response("7", "{}"), R"({"jsonrpc":"2.0","id":7,"result":{}})");
    EXPECT_EQ(request(4, "ping", {}), R"({"jsonrpc":"2.0","id":4,"method":"ping"})");
    EXPECT_EQ(notification("notifications/initialized", {}),
              R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    EXPECT_EQ(
        error_response("\"x\"", -32601, "no \"such\" method"),
        R"({"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no \"such\" method"}})");
}

TEST(Compose, SaysNoKeyOfMetaTwice) {
    EXPECT_EQ(request(3, "a", {"", R"("progressToken":"theirs","k":{"v":[1]})"},
                      R"("progressToken":3,"v":1)"),
              R"({"jsonrpc":"2.0","id":3,"method":"a","params":{"_meta":{"k":{"v":[1]},)"
              R"("progressToken":3,"v":1}}})");
    EXPECT_EQ(request(3, "a", {"", R"("v":2)"}, R"("v":1)"),
              R"({"jsonrpc":"2.0","id":3,"method":"a","params":{"_meta":{"v":1}}})");
}

TEST(Compose, WritesEveryTextSoThatItIsReadAgain) {
    EXPECT_EQ(quoted("a b~"), "\"a b~\"");
    EXPECT_EQ(quoted("\x1f"), R"("\u001f")");
    EXPECT_EQ(quoted("a\"\\"), R"("a\"\\")");
    EXPECT_EQ(quoted("\u00e9"), "\"\u00e9\"");
    EXPECT_EQ(members_of({{"a", 1}}), "\"a\":1");
    EXPECT_EQ(members_of({}), "");
    EXPECT_EQ(joined("a", "b"), "a,b");
    EXPECT_EQ(joined("", "b") + joined("a", "") + joined("", ""), "ba");
    std::string lines = "{\r\n\t1}";
    flatten(lines);
    EXPECT_EQ(lines, "{  \t1}");
}

TEST(Envelope, KnowsTheNumberOfAnIdHoweverItIsWritten) {
    struct Case {
        const char* id;
        std::optional<std::int64_t> number;
    };
    const Case cases[] = {{"7", 7},
                          {"-7", -7},
                          {"7.0", 7},
                          {"7e1", 70},
                          {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
                          {"9223372036854775808", std::nullopt},
                          {"1.5", std::nullopt},
                          {"1e308", std::nullopt},
                          {"\"7\"", std::nullopt}};
    for (const auto& c : cases) {
        const auto text = std::string(R"({"jsonrpc":"2.0","id":)") + c.id + R"(,"result":{}})";
        const auto envelope = parse_envelope(text);  // views of the text
        ASSERT_TRUE(envelope) << c.id;
        EXPECT_EQ(envelope->id, c.id);
        EXPECT_EQ(envelope->number_id, c.number) << c.id;
    }
}

TEST(RpcErrors, AreReadWithTheirData) {
    const auto error =
        parse_rpc_error(R"({"code":-32022,"message":"no","data":{"supported":["x"]}})");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, -32022);
    EXPECT_EQ(error->data, R"({"supported":["x"]})");
    EXPECT_EQ(error->message, "no");
    const auto bare = parse_rpc_error(R"({"code":1,"message":7})");
    ASSERT_TRUE(bare);
    EXPECT_EQ(bare->message, "");
    EXPECT_EQ(bare->data, "");
    EXPECT_FALSE(parse_rpc_error(R"({"code":"x"})"));
    EXPECT_FALSE(parse_rpc_error("7"));
    for (const char* code : {"1e308", "-1e308", "1.5", "9223372036854775808", "true", "null"})
        EXPECT_FALSE(parse_rpc_error(std::string(R"({"code":)") + code + "}")) << code;
    EXPECT_EQ(parse_rpc_error(R"({"code":-32000.0})")->code, -32000);
    EXPECT_EQ(parse_rpc_error(R"({"code":-9223372036854775808})")->code,
              std::numeric_limits<std::int64_t>::min());
}

// Long messages are read in another way than short ones.
TEST(Envelope, WhatIsEscapedMeansTheSameInAMessageOfAnyLength) {
    const std::string room(1'000, ' ');
    const auto read = [](const std::string& text) {
        const auto envelope = parse_envelope(text);
        if (!envelope) return std::string("refused");
        return "kind " + std::to_string(static_cast<int>(envelope->kind)) + " " + envelope->method +
               " result " + std::string(envelope->result) + " type " +
               std::to_string(static_cast<int>(envelope->result_type)) +
               (envelope->is_error ? " is error" : "");
    };
    for (const std::string rest :
         {R"("result":{"a":"line\nline \"q\" \\ \/ \u00e9 \ud83d\ude00 ü"}})",
          R"("result":{"a":"\n","isError":true}})",
          R"("result":{"\u0069sError":true,"a":"\n"}})",
          R"("result":{"resultType":"input\u005frequired"}})",
          R"("result":{"resultType":"\n"}})",
          R"("method":"a\u002fb","params":{"\n":1}})",
          R"("\u0072esult":{"a":"\n"}})",
          R"("result":{"a":"\ud83d"}})",
          R"("result":{"a":"\ude00"}})",
          R"("result":{"a":"\x"}})",
          R"("result":{"a":"\u12"}})",
          R"("result":{"a":"\u-123"}})",
          R"("result":{"a":tr\ue}})",
          R"("result":{"a":1\n}})",
          R"("result":[\"a"]})",
          R"("result":{"a":"\"}})",
          R"("result":{"a":"\)",
          "\"result\":{\"a\":\"\x7f\\n\"}}",
          "\"result\":{\"\x7f\":1,\"isError\":true,\"b\":\"\\n\"}}",
          "\"result\":{\"a\":\"\\n\n\"}}"}) {
        const auto text = R"({"jsonrpc":"2.0","id":1,)" + rest;
        EXPECT_EQ(read(text + room), read(text)) << text;
    }
}

TEST(PartsOfAValue, AreTheBytesThatTheyAre) {
    using Parts = std::vector<std::string>;
    const auto items = [](std::string_view array) {
        Parts parts;
        for (auto left = items_in(array); !left.empty();) parts.emplace_back(take_item(left));
        return parts;
    };
    EXPECT_EQ(items(R"( [ 1 , [2,"],"] ,{"a":[3]}, "" ] )"),
              (Parts{"1", R"([2,"],"])", R"({"a":[3]})", R"("")"}));
    for (const auto* none : {"[]", "[ ]", "{}", "7", R"("[1]")", ""})
        EXPECT_EQ(items(none), Parts());
    Parts keys;
    each_member(R"({"a":1,"\u0062":{"c":2},"d":3})", [&](std::string_view key, auto value) {
        keys.push_back(std::string(key) + std::string(value));
        return key != "b";
    });
    EXPECT_EQ(keys, (Parts{"a1", R"(b{"c":2})"}));
    for (const auto* none : {"{}", "[\"a\"]", "\"a:b\"", "7", ""})
        EXPECT_TRUE(members_in(none).empty());
    EXPECT_EQ(without_spaces("{ \"a \\\" b\" :\r\n\t[ 1 , \" \" ] } "), "{\"a \\\" b\":[1,\" \"]}");
}

TEST(SplitBatch, GivesEveryMessageAsItsBytes) {
    const auto items = split_batch(
        " [ {\"jsonrpc\":\"2.0\",\"method\":\"a]},\\\"\"} ,{\"jsonrpc\":\"2.0\",\"id\":1,"
        "\"result\":{\"a\":[{},[]]}}]\n",
        2);
    ASSERT_TRUE(items) << items.error().message;
    EXPECT_THAT(*items, ElementsAre("{\"jsonrpc\":\"2.0\",\"method\":\"a]},\\\"\"}",
                                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[{},[]]}}"));
}

TEST(SplitBatch, RefusesTheWholeAtTheFirstItemThatIsNoMessage) {
    const std::string ping = R"({"jsonrpc":"2.0","method":"ping"})";
    for (const auto& batch :
         {std::string("[]"), std::string("["), std::string("{}"), "[" + ping + ",]", "[" + ping,
          "[" + ping + " " + ping + "]", "[" + ping + "}," + ping + "]", "[" + ping + "]]",
          "[[" + ping + "]]", "[" + ping + ",5]", "[\"" + ping + "]",
          "[" + ping + "],[" + ping + "]"})
        EXPECT_FALSE(split_batch(batch, 10)) << batch;
    EXPECT_THAT(split_batch("[" + ping + ",{}," + ping + "]", 10).error().message,
                HasSubstr("message 2 of a batch: not a JSON-RPC 2.0 message"));
}

TEST(SplitBatch, SaysWhatIsNoBatchAndWhatIsNoMessageInOne) {
    const std::string ping = R"({"jsonrpc":"2.0","method":"ping"})";
    const std::pair<std::string, const char*> cases[] = {
        {"", "not a batch of messages"},
        {"[", "not a batch of messages"},
        {"]", "not a batch of messages"},
        {"{}", "not a batch of messages"},
        {"[" + ping, "not a batch of messages"},
        {"[]", "message 1 of a batch: "},
        {"[" + ping + ",]", "message 2 of a batch: "},
        {"[" + ping + "],[" + ping + "]", "a batch with a bracket too many"},
        {"[" + ping + "}," + ping + "]", "a batch with a bracket too many"}};
    for (const auto& [batch, told] : cases)
        EXPECT_THAT(split_batch(batch, 10).error().message, HasSubstr(told)) << batch;
}

TEST(SplitBatch, CountsNoFurtherThanItsLimit) {
    const std::string ping = R"({"jsonrpc":"2.0","method":"ping"})";
    EXPECT_TRUE(split_batch("[" + ping + "," + ping + "]", 2));
    const auto refused = split_batch("[" + ping + "," + ping + ",no message]", 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Limit);
    EXPECT_EQ(refused.error().message, "a batch of more than 2 messages (limit batch_items)");
}

}  // namespace
}  // namespace patchbay::protocol
