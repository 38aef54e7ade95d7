// Records that were read, and who wants which of them.
#include "audit/entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace patchbay::audit {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Entry entry(const std::string& more = "") {
    auto parsed = Entry::parse(
        R"({"n":3,"at":"2026-07-28T09:00:00.123Z","kind":"call","caller":{"kind":"client","id":"7","name":"editor"},
        "server":"files","tool":"read","name":"mcp__files__read","decision":"allow","wait_us":5)" +
        more + "}");
    EXPECT_TRUE(parsed);
    return *parsed;
}

TEST(AnEntry, IsWantedWhereAllFits) {
    EXPECT_TRUE(Wanted{}.holds(entry()));
    EXPECT_TRUE((
        Wanted{.server = "files", .tool = "read", .principal = "editor", .decision = "allow"}.holds(
            entry())));
    EXPECT_TRUE(Wanted{.tool = "mcp__files__read"}.holds(entry()));
    for (const char* who : {"client", "7", "editor"})
        EXPECT_TRUE(Wanted{.principal = who}.holds(entry()));
    EXPECT_FALSE(Wanted{.principal = "person"}.holds(entry()));
    EXPECT_FALSE(Wanted{.server = "file"}.holds(entry()));
    EXPECT_FALSE(Wanted{.decision = "deny"}.holds(entry()));
    EXPECT_FALSE(Wanted{.about = "a"}.holds(entry()));
    const auto read = entry(R"(,"about":"file:///notes.txt")");
    EXPECT_TRUE(Wanted{.about = "notes"}.holds(read));
    EXPECT_FALSE(Wanted{.about = "motes"}.holds(read));
    EXPECT_TRUE(Wanted{.since = "2026-07-28"}.holds(entry()));
    EXPECT_TRUE(Wanted{.since = "2026-07-28T09:00:00"}.holds(entry()));
    EXPECT_FALSE(Wanted{.since = "2026-07-28T09:01"}.holds(entry()));
}

TEST(ATime, IsADateOrHowLongAgo) {
    const auto now = core::Calendar::time_point(1785229200s);  // 2026-07-28T09:00:00Z
    const auto text = [&](const char* written) {
        const auto time = time_text(written, now);
        return time ? *time : "error: " + time.error().message;
    };
    EXPECT_EQ(text("2026-07-28"), "2026-07-28");
    EXPECT_EQ(text("2026-07-28T08:30"), "2026-07-28T08:30");
    EXPECT_EQ(text("2026-07-28T08:30:10Z"), "2026-07-28T08:30:10");
    EXPECT_EQ(text("30m"), "2026-07-28T08:30:00");
    EXPECT_EQ(text("2h"), "2026-07-28T07:00:00");
    EXPECT_EQ(text("1d"), "2026-07-27T09:00:00");
    for (const char* odd : {"", "yesterday", "2026-7-28", "2h30m", "-2h", "99999999999d",
                            "2026-07-28 09:00", "2026-13-45", "2026-02-30", "2026-07-28T24:00",
                            "2026-07-28T09:60", "2026-07-28T09:00:60"})
        EXPECT_THAT(text(odd), HasSubstr("error: ")) << odd;
}

TEST(ARow, HasACellForEachColumnAndNoFormula) {
    EXPECT_EQ(csv_header().substr(0, 7), "n,at,ki");
    const auto header = csv_header();
    const auto commas = std::count(header.begin(), header.end(), ',');
    const auto row = csv_row(entry());
    EXPECT_EQ(std::count(row.begin(), row.end(), ','), commas);
    EXPECT_THAT(row, HasSubstr("\"client \"\"7\"\" (editor)\""));
    const auto odd = csv_row(entry(R"(,"reason":"=cmd|x!A1","rule":"a,b")"));
    EXPECT_THAT(odd, HasSubstr("'=cmd|"));
    EXPECT_THAT(odd, HasSubstr("\"a,b\""));
}

TEST(AnEntry, IsNoneOfWhatIsNoRecord) {
    for (const char* line : {"", "x", "[]", "{}", R"({"n":"1","kind":"call"})", R"({"n":1})"})
        EXPECT_FALSE(Entry::parse(line)) << line;
}

}  // namespace
}  // namespace patchbay::audit
