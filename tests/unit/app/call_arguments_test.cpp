#include "app/call_arguments.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

json::value schema() {
    return json::parse(R"({"type":"object","required":["path"],"properties":{
        "path":{"type":"string"},"head":{"type":"integer"},"deep":{"type":"boolean"},
        "tags":{"type":"array","items":{"type":"string"}},"sizes":{"type":"array","items":{"type":"integer"}},"place":{"type":"object"}}})");
}

std::string message_of(const Result<Arguments>& result) {
    return result ? "no error" : result.error().message;
}

TEST(PairsOfACall, TakeTheirTypesFromTheSchema) {
    const auto made = with_pairs({}, {"path=12", "head=12", "deep=true"}, schema());
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_EQ(made->text, R"({"path":"12","head":12,"deep":true})");
}

TEST(PairsOfACall, KeepWhatFollowsTheFirstEqualsSign) {
    const auto made = with_pairs({}, {"path=a=b:=c"}, schema());
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_EQ(made->values.at("path"), "a=b:=c");
    const auto empty = with_pairs({}, {"path="}, schema());
    ASSERT_TRUE(empty) << message_of(empty);
    EXPECT_EQ(empty->values.at("path"), "");
}

TEST(PairsOfACall, ReplaceWhatArgsSaid) {
    const auto made =
        with_pairs(*read_arguments(R"({"path":"old","head":1})"), {"path=new"}, schema());
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_EQ(made->values.at("path"), "new");
    EXPECT_EQ(made->values.at("head"), 1);
}

TEST(PairsOfACall, WithAColonAreJsonAsItStands) {
    const auto made = with_pairs({}, {"path=x", "tags:=[\"a\",\"b\"]"}, schema());
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_EQ(made->values.at("tags").as_array().size(), 2u);
}

TEST(PairsOfACall, ThatMakeNoSenseAreNamed) {
    struct Case {
        std::vector<std::string> pairs;
        std::string message;
    };
    const Case cases[] = {
        {{"path"}, "\"path\" is not key=value"},
        {{"=x"}, "\"=x\" is not key=value"},
        {{"path=x", "head=many"}, "argument \"head\""},
        {{"pth=x"}, "unknown argument \"pth\"; did you mean \"path\""},
        {{"head=1"}, "path"},
        {{"path=x", "tags:=[1,"},
         "argument \"tags\": the value after := is not valid JSON at byte 4"},
        {{"path:=7"}, "path"},
        {{"path=x", "tags=a b"},
         "argument \"tags\": \"a b\" is not an array; write 'tags:=[\"a b\"]'"},
        {{"path=x", "tags=1, b"}, "write 'tags:=[\"1\",\"b\"]'"},
        {{"path=x", "sizes=1,2"}, "write 'sizes:=[1,2]'"},
        {{"path=x", "sizes=7"}, "write 'sizes:=[7]'"},
        {{"path=x", "place=here"},
         "argument \"place\": \"here\" is not an object; write 'place:={\"key\": \"value\"}'"},
    };
    for (const auto& c : cases) {
        const auto made = with_pairs({}, c.pairs, schema());
        EXPECT_THAT(message_of(made), HasSubstr(c.message)) << c.pairs.back();
        if (!made) {
            EXPECT_EQ(made.error().code, ErrorCode::Invalid);
        }
    }
}

// More than a double holds, or in another spelling than ours: the server gets what was typed.
TEST(PairsOfACall, GoOutAsTheyWereTyped) {
    const auto args = read_arguments("{\"a\":[18446744073709551616,1.0],\n \"head\":1}");
    ASSERT_TRUE(args);
    EXPECT_EQ(args->text, "{\"a\":[18446744073709551616,1.0],\n \"head\":1}");
    const auto made =
        with_pairs(*args, {"path=12", "head=99999999999999999999", "o:={\"n\":0.10}"}, schema());
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_EQ(
        made->text,
        R"({"a":[18446744073709551616,1.0],"path":"12","head":99999999999999999999,"o":{"n":0.10}})");
    EXPECT_EQ(with_pairs({}, {"path=x", "head=2.0"}, schema())->text, R"({"path":"x","head":2})");
}

TEST(PairsOfACall, GivenTwiceAreRefusedInWhicheverForm) {
    for (const std::vector<std::string>& pairs :
         {std::vector<std::string>{"path=a", "path=a"}, {"path=a", "path:=\"b\""}}) {
        const auto made = with_pairs({}, pairs, schema());
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code, ErrorCode::Invalid);
        EXPECT_EQ(made.error().message, "argument \"path\" is given twice");
    }
}

TEST(ArgumentsOfACall, AreEmptyWhenNoneAreGiven) {
    const auto made = read_arguments("");
    ASSERT_TRUE(made);
    EXPECT_TRUE(made->values.empty());
}

TEST(ArgumentsOfACall, ComeFromAFileToo) {
    const test::ScratchFolder folder;
    const std::string file = folder / "arguments.json";
    std::ofstream(file) << "{\"path\": \"README.md\"}\n";
    const auto made = read_arguments("@" + file);
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_EQ(made->values.at("path"), "README.md");
    EXPECT_EQ(message_of(read_arguments("@" + file + ".none")),
              "--args: cannot read " + file + ".none: No such file or directory");
    EXPECT_EQ(message_of(read_arguments("@/")), "--args: cannot read /: Is a directory");
    EXPECT_THAT(message_of(read_arguments("@")), HasSubstr("--args @ names no file"));
}

TEST(ArgumentsOfACall, MustBeOneJsonObjectWithoutRepeatedKeys) {
    struct Case {
        std::string text, message;
    };
    const Case cases[] = {
        {"{\"a\":", "--args is not valid JSON at byte"},
        {"{\"a\":1} x", "--args is not valid JSON at byte 9: more than one value"},
        {"[1]", "--args must be a JSON object"},
        {"null", "--args must be a JSON object"},
        {"{\"a\":1,\"a\":2}", "--args has the key \"a\" twice in one object"},
        {"{\"o\":[{\"b\":1,\"\\u0062\":2}]}", "--args has the key \"b\" twice in one object"},
    };
    for (const auto& c : cases)
        EXPECT_THAT(message_of(read_arguments(c.text)), HasSubstr(c.message)) << c.text;
    EXPECT_TRUE(read_arguments("{\"a\":{\"k\":1},\"b\":[{\"k\":1},{\"k\":2}]}"));
}

TEST(ArgumentsOfACall, MayNestAsDeepAsAMessageAndNoDeeper) {
    const auto nested = [](std::size_t depth) {
        return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
    };
    EXPECT_TRUE(read_arguments(nested(128)));
    EXPECT_EQ(message_of(read_arguments(nested(129))),
              "--args is nested deeper than 128 levels (limit json_depth)");
}

}  // namespace
}  // namespace patchbay::app
