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

TEST(SdkConfig, NamesTheKeyThatHasTheWrongKind) {
    const Config config(R"({"port":"x","size":5})");
    try {
        config.number("port", 0, 1, 10);
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_STREQ(failure.what(), "\"port\" must be a number");
    }
    try {
        config.number("size", 0, 10, 20);
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_STREQ(failure.what(), "\"size\" must be from 10 to 20");
    }
}

TEST(SdkError, CutsItsTextAtACodePoint) {
    patchbay_error error;
    std::string text(494, 'x');
    text += "\xc3\xa9 and more";
    patchbay::sdk::fill(error, PATCHBAY_E_IO, text);
    EXPECT_EQ(std::string(error.message), std::string(494, 'x'));
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
