// The small JSON reader that the C++ wrapper gives to transports.
#include "text_lines.hpp"

#include <patchbay/cpp/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using patchbay::sdk::Config;
using patchbay::sdk::Failure;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(SdkConfig, ReadsWhatATransportIsGiven) {
    const Config config(
        R"( {"command":"a\"b\\\/\n\u00e9\ud83d\ude00", "args":["x",""], "env":{"A":"1"},
                            "port":7000, "grace":1.5e2, "on":true, "off":false, "none":null} )");
    EXPECT_EQ(config.text("command"), "a\"b\\/\n\xc3\xa9\xf0\x9f\x98\x80");
    EXPECT_THAT(config.strings("args"), ElementsAre("x", ""));
    EXPECT_THAT(config.object("env"), ElementsAre(Pair("A", "1")));
    EXPECT_EQ(config.number("port", 0, 1, 65535), 7000);
    EXPECT_EQ(config.number("grace", 0, 0, 1000), 150);
    EXPECT_TRUE(config.boolean("on", false));
    EXPECT_FALSE(config.boolean("off", true));
    EXPECT_EQ(config.find("none"), nullptr);
    EXPECT_EQ(config.text("missing", "otherwise"), "otherwise");
}

TEST(SdkConfig, RefusesWhatIsNotOneObject) {
    for (const auto* text : {"", "[]", "{", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\":1",
                             "{\"a\":1}x", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\u12\"}",
                             "{\"a\":[1]}", "{\"a\":{\"b\":1}}", "{\"a\":tru}", "{\"a\":\"x"})
        EXPECT_THROW(Config{text}, Failure) << text;
}

std::string text_of(const std::string& json) {
    return Config("{\"a\":\"" + json + "\"}").text("a");
}

TEST(SdkConfig, ReadsEveryEscapeOfJson) {
    EXPECT_EQ(text_of(R"(\b\f\n\r\t\"\\\/)"), "\b\f\n\r\t\"\\/");
    EXPECT_EQ(text_of(R"(\u0041\u007f)"), "A\x7f");
    EXPECT_EQ(text_of(R"(\u0080\u07FF\u07ff)"), "\xc2\x80\xdf\xbf\xdf\xbf");
    EXPECT_EQ(text_of(R"(\u0800\uD7ff\uE000\uffff)"),
              "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf");
    EXPECT_EQ(text_of(R"(\ud800\udc00\uDBFF\uDFFF)"), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    EXPECT_EQ(text_of(R"(\u1234\u5678\u9aBc\uAbCd)"),
              "\xe1\x88\xb4\xe5\x99\xb8\xe9\xaa\xbc\xea\xaf\x8d");
    for (const char* wrong : {R"(\ud800)", R"(\ud800x)", R"(\ud800\n)", R"(\ud800\ud800)",
                              R"(\ud800\ue000)", R"(\udc00)", R"(\udfff\udc00)", R"(\u00g0)",
                              R"(\u00/0)", R"(\u00:0)", R"(\u00@0)", R"(\u00G0)", R"(\u00`0)"})
        EXPECT_THROW(text_of(wrong), Failure) << wrong;
}

TEST(SdkConfig, TakesSpaceWhereJsonDoes) {
    const std::string space = " \t\r\n";
    std::string text;
    for (const char* part :
         {"{",     "\"s\"", ":",     "[", "\"a\"", ",", "\"b\"", "]", ",", "\"o\"", ":", "{",
          "\"k\"", ":",     "\"v\"", ",", "\"l\"", ":", "\"w\"", "}", ",", "\"n\"", ":", "5",
          ",",     "\"e\"", ":",     "[", "]",     ",", "\"f\"", ":", "{", "}",     "}"})
        text += space + part + space;
    const Config config(text);
    EXPECT_THAT(config.strings("s"), ElementsAre("a", "b"));
    EXPECT_THAT(config.object("o"), ElementsAre(Pair("k", "v"), Pair("l", "w")));
    EXPECT_EQ(config.number("n", 0, 0, 9), 5);
    EXPECT_THAT(config.strings("e"), ElementsAre());
    EXPECT_THAT(config.object("f"), ElementsAre());
    EXPECT_THAT(Config(" { } ").strings("missing"), ElementsAre());
    EXPECT_THAT(Config("{}").object("missing"), ElementsAre());
}

// The settings are no text with an end: what follows them in memory is not theirs.
TEST(SdkConfig, ReadsNoByteBehindItsEnd) {
    const std::string whole = R"({"a":"\ud83d\ude00","b":[""],"c":{"d":""},"e":12,"f":true})";
    EXPECT_EQ(Config(whole).number("e", 0, 0, 99), 12);
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_THROW(Config(std::string_view(whole).substr(0, length)), Failure) << length;
    EXPECT_THROW(Config(std::string_view("{\"a\":\"\\u0041\"}").substr(0, 10)), Failure);
    EXPECT_THROW(Config("{\"a\":\"\\"), Failure);
    EXPECT_THROW(Config("{\"a\":x}"), Failure);
    EXPECT_THROW(Config("{\"a\":nul"), Failure);
}

TEST(SdkConfig, NamesTheKeyThatHasTheWrongKind) {
    const Config config(R"({"port":"x","size":5})");
    const auto trouble = [](const auto& read) -> std::string {
        try {
            read();
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), PATCHBAY_E_INVALID);
            return failure.what();
        }
        return {};
    };
    EXPECT_EQ(trouble([&] { config.number("port", 0, 1, 10); }), "\"port\" must be a number");
    EXPECT_EQ(trouble([&] { config.number("size", 0, 10, 20); }), "\"size\" must be from 10 to 20");
    EXPECT_EQ(trouble([&] { config.text("size"); }), "\"size\" must be a string");
    EXPECT_EQ(trouble([&] { config.boolean("size", true); }), "\"size\" must be true or false");
    EXPECT_EQ(trouble([&] { config.strings("size"); }), "\"size\" must be an array of strings");
    EXPECT_EQ(trouble([&] { config.object("size"); }), "\"size\" must be an object of strings");
    EXPECT_EQ(trouble([] { Config{"[]"}; }).substr(0, 39),
              "the settings must be one JSON object of");
    const auto bounded = [&](double least, double most) {
        return trouble([&] { config.number("size", 0, least, most); });
    };
    EXPECT_EQ(bounded(5, 9), "");
    EXPECT_EQ(bounded(1, 5), "");
    EXPECT_NE(bounded(5.5, 9), "");
    EXPECT_NE(bounded(1, 4.5), "");
    EXPECT_EQ(config.number("missing", 7, 1, 2), 7) << "what is not given is not judged";
    EXPECT_TRUE(config.boolean("missing", true));
}

TEST(SdkError, CutsItsTextAtACodePoint) {
    patchbay_error error;
    std::string text(494, 'x');
    text += "\xc3\xa9 and more";
    patchbay::sdk::fill(error, PATCHBAY_E_IO, text);
    EXPECT_EQ(std::string(error.message), std::string(494, 'x'));
    patchbay::sdk::fill(error, PATCHBAY_E_IO, std::string(600, 'x'), PATCHBAY_ERR_RETRYABLE, 7);
    EXPECT_EQ(std::string(error.message), std::string(495, 'x')) << "and its end";
    EXPECT_EQ(error.code, PATCHBAY_E_IO);
    EXPECT_EQ(error.flags, unsigned{PATCHBAY_ERR_RETRYABLE});
    EXPECT_EQ(error.native_code, 7);
}

TEST(SdkText, IsCutBetweenCodePointsAndSaysSo) {
    using patchbay::sdk::excerpt;
    EXPECT_EQ(excerpt("a\xc3\xa9", 3), "a\xc3\xa9");
    EXPECT_EQ(excerpt("a\xc3\xa9", 2), "a...");
    EXPECT_EQ(excerpt("ab", 1), "a...");
    EXPECT_EQ(excerpt("\xf0\x9f\x98\x80", 3), "...");
    EXPECT_EQ(excerpt("\xbc\xbc\xbc", 2), "...") << "of no code point";
    EXPECT_EQ(excerpt("", 0), "");
}

TEST(TextLines, CutsLongLinesAndKeepsTheNext) {
    patchbay::transport::TextLines lines;
    std::vector<std::string> shown;
    const auto show = [&](std::string_view line) { shown.emplace_back(line); };
    for (int i = 0; i < 3; ++i) lines.take(std::string(5000, 'a'), show);
    lines.take("b\r\nnext\r\n\nbegun", show);
    lines.end(show);
    EXPECT_THAT(shown, ElementsAre(std::string(8192, 'a'), "next", "begun"));
}

}  // namespace
