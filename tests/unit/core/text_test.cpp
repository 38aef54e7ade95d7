#include "core/text.hpp"

#include "core/digest.hpp"
#include "core/log.hpp"
#include "core/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace patchbay::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Lower, TurnsAsciiLettersAndNothingElse) {
    EXPECT_EQ(lower("AMZ amz @[`{ 09 \xc3\x84"), "amz amz @[`{ 09 \xc3\x84");
    EXPECT_EQ(lower('Q'), 'q');
}

TEST(Join, PutsTheSeparatorBetweenThePartsOnly) {
    EXPECT_EQ(join({}, ", "), "");
    EXPECT_EQ(join({"a"}, ", "), "a");
    EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
}

TEST(Nearest, LooksAtNoMoreNamesThanAPersonIsWorth) {
    std::vector<std::string> names(100'000, std::string(100, 'a'));
    names.push_back(std::string(100, 'b'));
    EXPECT_THAT(nearest(std::string(99, 'b'), names), ::testing::IsEmpty());
}

TEST(Nearest, OffersWhatIsAFewEditsAway) {
    const std::vector<std::string> names{"stdio", "http", "tcp", "read_file", "read_files"};
    EXPECT_THAT(nearest("stido", names), ElementsAre("stdio"));
    EXPECT_THAT(nearest("read_fil", names), ElementsAre("read_file", "read_files"));
    EXPECT_THAT(nearest("quic", names), IsEmpty());
    EXPECT_EQ(did_you_mean("htpp", names), "; did you mean \"http\"?");
    EXPECT_EQ(did_you_mean("zzzz", names), "");
}

TEST(Nearest, ReachesAThirdOfTheLengthAndNoFurther) {
    struct Case {
        std::string wanted, name;
        bool near;
    };
    const Case cases[] = {{"abcdef", "abcdXY", true},
                          {"abcdef", "abcXYZ", false},
                          {"abcdef", "abcdefgh", true},
                          {"abcdef", "abcdefghi", false},
                          {"abcdef", "cdef", true},
                          {"abcdef", "def", false},
                          {"ab", "ba", true},
                          {"xab", "xba", true},
                          {"ab", "xy", false},
                          {"a", "b", true},
                          {"a", "bc", false},
                          {std::string(512, 'a'), std::string(511, 'a'), true},
                          {std::string(513, 'a'), std::string(512, 'a'), false}};
    for (const auto& c : cases)
        EXPECT_EQ(!nearest(c.wanted, {c.name}).empty(), c.near) << c.wanted << " " << c.name;
}

TEST(Nearest, TakesAnotherCaseForTheSameLetter) {
    EXPECT_THAT(nearest("LIST_DIR", {"list_dri", "list_dir"}), ElementsAre("list_dir", "list_dri"));
    EXPECT_THAT(nearest("d", {"e", "D"}), ElementsAre("D", "e"));
}

TEST(Nearest, OffersTheBestFirstAndThreeAtMost) {
    const std::vector<std::string> names{"twoeXXts", "oneedits", "twoYYits", "twoedit", "twoedits"};
    EXPECT_THAT(nearest("twoedits", names), ElementsAre("twoedits", "twoedit", "twoeXXts"));
    EXPECT_THAT(nearest("twoedits", names, 1), ElementsAre("twoedits"));
    EXPECT_EQ(did_you_mean("aaa", {"aab", "aac"}), "; did you mean \"aab\" or \"aac\"?");
    EXPECT_EQ(did_you_mean("aaa", {"aab", "aac", "aad", "aae"}),
              "; did you mean \"aab\", \"aac\" or \"aad\"?");
}

TEST(Nearest, OfPublicNamesCountsWhatIsBehindTheServer) {
    const std::vector<std::string> names{"mcp__ex__add", "mcp__ex__log", "mcp__ex__echo"};
    EXPECT_THAT(nearest("mcp__ex__nope", names), IsEmpty());
    EXPECT_THAT(nearest("mcp__ex__eco", names), ElementsAre("mcp__ex__echo"));
    EXPECT_THAT(nearest("mcp__exx__echo", names), ElementsAre("mcp__ex__echo"));
}

TEST(Hint, IsFollowedByWhatElseThereIsToSay) {
    EXPECT_EQ(behind_hint("no \"a\"", "known: b"), "no \"a\"; known: b");
    EXPECT_EQ(behind_hint("no \"a\"; did you mean \"b\"?", "known: b"),
              "no \"a\"; did you mean \"b\"? Known: b");
}

TEST(Printable, TakesForeignTextItsPower) {
    EXPECT_EQ(printable("a\x1b[31mb\n", 100), "a\xEF\xBF\xBD[31mb\xE2\x86\xB5");
    EXPECT_EQ(printable("a\nb\tc", 100, true), "a\nb\tc");
    EXPECT_EQ(printable("x\xE2\x80\xAEy", 100), "x\xEF\xBF\xBDy") << "right-to-left override";
    EXPECT_EQ(printable("\xC3\xBC\xFF", 100), "\xC3\xBC\xEF\xBF\xBD");
    const std::string replaced = "\xEF\xBF\xBD";
    EXPECT_EQ(printable("\xED\xA0\x80", 100), replaced + replaced + replaced) << "a surrogate";
    EXPECT_EQ(printable("\xE2\x82(", 100), replaced + replaced + "(") << "one cut short";
    EXPECT_EQ(printable("\xC3\xBC\xC3\xBC", 3), "\xC3\xBC") << "cut at a code point";
    EXPECT_EQ(printable("\xC3\xBC\xC3\xBC", 4), "\xC3\xBC\xC3\xBC");
}

TEST(Utf8, KnowsWhatIsValid) {
    for (const char* good :
         {"", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
          "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
        EXPECT_TRUE(valid_utf8(good)) << good;
    for (const char* overlong : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF"})
        EXPECT_FALSE(valid_utf8(overlong)) << overlong;
    for (const char* surrogate : {"\xED\xA0\x80", "\xED\xBF\xBF"})
        EXPECT_FALSE(valid_utf8(surrogate)) << surrogate;
    for (const char* too_large : {"\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
        EXPECT_FALSE(valid_utf8(too_large)) << too_large;
    for (const char* cut : {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\x80", "\xC3(", "\xE2\x82("})
        EXPECT_FALSE(valid_utf8(cut)) << cut;
}

TEST(Utf8, IsCutBetweenCodePoints) {
    EXPECT_EQ(utf8_prefix("a\xC3\xBC", 3), "a\xC3\xBC");
    EXPECT_EQ(utf8_prefix("a\xC3\xBC", 2), "a");
    EXPECT_EQ(utf8_prefix("a\xC3\xBC", 1), "a");
    EXPECT_EQ(utf8_prefix("\xC3\xBC", 1), "");
    EXPECT_EQ(utf8_prefix("\xBC\xBC\xBC", 2), "") << "of no code point";
}

TEST(Duration, IsToldInWholeSecondsWhereItIsSome) {
    using std::chrono::milliseconds;
    EXPECT_EQ(duration(milliseconds(20'000)), "20 s");
    EXPECT_EQ(duration(milliseconds(1'500)), "1500 ms");
    EXPECT_EQ(duration(milliseconds(999)), "999 ms");
    EXPECT_EQ(duration(milliseconds(0)), "0 ms");
}

TEST(Digest, IsSha256) {
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, ReadsAWholeFileWhereverItsOffsetIs) {
    std::FILE* file = std::tmpfile();
    ASSERT_TRUE(file);
    ASSERT_EQ(std::fputs("abc", file), 1);
    std::fflush(file);
    EXPECT_EQ(sha256_hex_of_descriptor(::fileno(file)).value(), sha256_hex("abc"));
    EXPECT_EQ(std::ftell(file), 3) << "offset unchanged";
    std::fclose(file);
    EXPECT_EQ(sha256_hex_of_descriptor(-1).error().code, ErrorCode::Io);
}

TEST(Digest, ReadsEveryBlockOfAFile) {
    const std::string text(200'000, 'x');
    std::FILE* file = std::tmpfile();
    ASSERT_TRUE(file);
    ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
    std::fflush(file);
    EXPECT_EQ(sha256_hex_of_descriptor(::fileno(file)).value(), sha256_hex(text));
    std::fclose(file);
}

TEST(Printable, ShowsWhereSomethingIsThatNobodySees) {
    for (const char* hidden :
         {"\u200b", "\u200d", "\u2028", "\u2029", "\u202e", "\u2060", "\u2066", "\u00ad", "\u061c",
          "\ufeff", "\u180e", "\u3164", "\U000e0041", "\U000e0100", "\u0085", "\u007f"})
        EXPECT_EQ(printable(std::string("a") + hidden + "b", 100), "a\ufffdb") << hidden;
    const std::string plain = "gr\u00fc\u00df \u4f60\u597d \U0001f600\ufe0f \u05d0";
    EXPECT_EQ(printable(plain, 100), plain);
}

TEST(Printable, KeepsJoinersWhereTheyAreSeen) {
    const std::string persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645";
    const std::string family =
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525";
    const std::string hindi = "\u0915\u094d\u200d\u0937";
    for (const auto& text : {persian, family, hindi}) {
        EXPECT_EQ(printable(text, 100), text);
        EXPECT_EQ(printable_json("\"" + text + "\""), "\"" + text + "\"");
        for (std::size_t most = 0; most < text.size(); ++most) {
            const auto cut = printable(text, most);
            EXPECT_EQ(printable(cut, 100), cut) << "no joiner is left at an end";
        }
    }
    EXPECT_EQ(printable("\u0645\u200c", 100), "\u0645\ufffd");
    EXPECT_EQ(printable("\u200c\u0645", 100), "\ufffd\u0645");
    EXPECT_EQ(printable("\u0645\u200c\u200d\u0645", 100), "\u0645\ufffd\ufffd\u0645");
    EXPECT_EQ(printable("\u0440\u200d\u0430", 100), "\u0440\ufffd\u0430")
        << "Cyrillic joins nothing";
    EXPECT_EQ(printable_json("\"\u0645\u200da\""), "\"\u0645\\u200da\"");
}

TEST(PrintableJson, SaysTheSameInEscapes) {
    EXPECT_EQ(printable_json("{\"a\":\"x\u009b2J\u202ey\U000e0041\u2028\"}"),
              R"({"a":"x\u009b2J\u202ey\udb40\udc41\u2028"})");
    EXPECT_EQ(printable_json("\"caf\u00e9 \U0001f600\""), "\"caf\u00e9 \U0001f600\"");
    EXPECT_EQ(printable_json("\"a\xff\""), R"("a\ufffd")");
}

TEST(PrintableJson, KeepsSpaceBetweenValuesButNotWhatMovesTheCursor) {
    EXPECT_EQ(printable_json("{\n\t\"a\": 1,\r\"b\":\x1b 2}"), "{\n\t\"a\": 1, \"b\":  2}");
    EXPECT_EQ(printable_json("\"a\tb\\\"c\td\""), R"("a\u0009b\"c\u0009d")")
        << "an escaped quote does not end the string";
    EXPECT_EQ(printable_json("\"a\\\\\"\t1"), "\"a\\\\\"\t1");
}

TEST(Log, KnowsItsLevelsByName) {
    bool known = false;
    EXPECT_EQ(log::level_from("debug", &known), log::Level::Debug);
    EXPECT_TRUE(known);
    EXPECT_EQ(log::level_from("loud", &known), log::Level::Info);
    EXPECT_FALSE(known);
    log::set_level(log::Level::Off);
    EXPECT_FALSE(log::enabled(log::Level::Fatal));
    EXPECT_FALSE(log::enabled(log::Level::Off)) << "no line is of that level";
    log::set_level(log::Level::Warn);
    EXPECT_FALSE(log::enabled(log::Level::Info));
    EXPECT_TRUE(log::enabled(log::Level::Warn));
}

TEST(Log, BoundsItsLines) {
    log::set_level(log::Level::Warn);
    ::testing::internal::CaptureStderr();
    log::warn(std::string(20'000, '#'));
    const auto written = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(written.begin(), written.end(), '#'), 16'384);
}

TEST(Secrets, AreMaskedLongestFirst) {
    Secrets secrets;
    secrets.add("hunter2");
    secrets.add("hunter2-and-more");
    secrets.add("short");
    EXPECT_EQ(masked("key=hunter2-and-more, hunter2; short"), "key=***, ***; short")
        << "too short to be one";
    EXPECT_EQ(masked("hunter2"), "***");
    EXPECT_EQ(masked("hunter"), "hunter");
}

TEST(Secrets, AreForgottenWithTheirLastOwner) {
    Secrets first;
    {
        Secrets second;
        first.add("shared-secret");
        second.add("shared-secret");
        second.add("another-secret");
        EXPECT_EQ(masked("shared-secret another-secret"), "*** ***");
    }
    EXPECT_EQ(masked("shared-secret another-secret"), "*** another-secret");
    first = Secrets();
    EXPECT_EQ(masked("shared-secret"), "shared-secret");
}

TEST(Secrets, AreMaskedThroughoutAMove) {
    Secrets old_ones, new_ones;
    old_ones.add("the-old-secret");
    new_ones.add("the-new-secret");
    old_ones = std::move(new_ones);
    EXPECT_EQ(masked("the-old-secret the-new-secret"), "the-old-secret ***");
    const Secrets moved = std::move(old_ones);
    EXPECT_EQ(masked("the-new-secret"), "***");
}

TEST(Secrets, ThatOverlapAreMaskedWhole) {
    Secrets secrets;
    secrets.add("abcdefgh");
    secrets.add("defghijkl");
    EXPECT_EQ(masked("-abcdefghijkl-abcdefghabcdefgh-"), "-***-******-");
}

TEST(Secrets, OfSeveralLinesAreMaskedLineByLine) {
    Secrets secrets;
    secrets.add("-----BEGIN KEY-----\nAAAABBBBCCCCDDDDEEEE\nFFFF\n-----END KEY-----\n");
    EXPECT_EQ(masked("AAAABBBBCCCCDDDDEEEE"), "***");
    EXPECT_EQ(masked("FFFF -----BEGIN KEY-----"), "FFFF -----BEGIN KEY-----");
    secrets.add("0123456\n01234567\r\nlast-line-of-it-");
    EXPECT_EQ(masked("0123456! 01234567 last-line-of-it-"), "0123456! *** ***")
        << "from 8 letters on";
}

TEST(Secrets, AreMaskedAsAProgramPrintsThemLineByLine) {
    for (const std::string_view value :
         {"s3cr3t!\n", "s3cr3t!\r\n", "\ns3cr3t!", "\t s3cr3t! ", "s3cr3t!\n\n"}) {
        Secrets secrets;
        secrets.add(value);
        EXPECT_EQ(masked("it is s3cr3t!, they say"), "it is ***, they say") << value;
    }
    Secrets secrets;
    secrets.add("firstline\r\n  second77\nthe third\n");
    EXPECT_EQ(masked("a firstline b"), "a *** b");
    EXPECT_EQ(masked("a second77 b"), "a *** b");
    EXPECT_EQ(masked("a the third b"), "a *** b");
}

TEST(Secrets, AreMaskedBeforeALetterOfThemIsReplaced) {
    for (const std::string_view letter :
         {"\x1b", "\x7f", "\n", "\u0085", "\u200b", "\u202e", "\xff", "\u00ad", "\U000e0041"}) {
        Secrets secrets;
        const auto value = "esc" + std::string(letter) + "in77";
        secrets.add(value);
        EXPECT_EQ(printable("it is " + value + ".", 1000), "it is ***.");
        EXPECT_EQ(printable("\x01 it is " + value + ".", 1000), "\uFFFD it is ***.");
        EXPECT_EQ(
            printable("it is " + value + " " + std::string(100, 'x'), 20),
            "it is *** " + std::string(value.size() > 20 - 6 ? 0 : 20 - 7 - value.size(), 'x'));
    }
}

TEST(Secrets, OfAHeaderAreItsValueAndWhatStandsBehindTheScheme) {
    Secrets secrets;
    secrets.add_header("Bearer token-of-mine");
    EXPECT_EQ(masked("Bearer token-of-mine"), "***");
    EXPECT_EQ(masked("it was token-of-mine"), "it was ***");
}

TEST(Secrets, AreBoundedAndTheOldestIsForgottenFirst) {
    Secrets secrets;
    const auto name = [](std::size_t number) {
        return "secret-number-" + std::to_string(number) + ".";
    };
    for (std::size_t i = 0; i < Secrets::kMost; ++i) secrets.add(name(i));
    secrets.add(name(0));  // used again
    secrets.add(name(Secrets::kMost));
    EXPECT_EQ(secrets.size(), Secrets::kMost);
    EXPECT_EQ(masked(name(0) + " " + name(1) + " " + name(2)), "*** " + name(1) + " ***");
}

TEST(Secrets, WithoutAnOwnerAreMaskedInTheLog) {
    log::mask("without-an-owner");
    EXPECT_EQ(log::masked("x without-an-owner"), "x ***");
}

TEST(Log, WritesToStderrFromItsLevelUp) {
    log::mask("hunter2");
    log::set_level(log::Level::Warn);
    ::testing::internal::CaptureStderr();
    log::info("quiet");
    log::warn("two\nlines with hunter2");
    const auto written = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(written, ::testing::HasSubstr("warning two lines with ***"));
    EXPECT_THAT(written, ::testing::ContainsRegex("^[0-9]+:[0-9]+:[0-9]+.[0-9]+ warning "));
    EXPECT_THAT(written, ::testing::Not(::testing::HasSubstr("quiet")));
}

TEST(Text, WhatNobodySeesIsTakenOut) {
    EXPECT_EQ(seen("plain.toml ~"), "plain.toml ~");
    EXPECT_EQ(seen("\357\273\277a\342\200\213b\302\255c\357\270\217\n"), "abc");
    EXPECT_EQ(seen("\xD0\xB5\xC3\xA9\xE6\x97\xA5"), "\xD0\xB5\xC3\xA9\xE6\x97\xA5");
    EXPECT_EQ(seen("\377a\342\200"), "\377a\342\200") << "what is no letter is seen";
    EXPECT_EQ(seen(""), "");
}

}  // namespace
}  // namespace patchbay::core
