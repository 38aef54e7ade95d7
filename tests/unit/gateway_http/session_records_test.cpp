#include "gateway/http/session_records.hpp"

#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

SessionRecord record_of(const std::string& uri) {
    return {false, {"info", {uri}}};
}

TEST(SessionRecord, IsReadAsItWasWritten) {
    const SessionRecord records[] = {
        {}, {true}, record_of("file:///a\"b\n"), {false, {"", {"a", "b"}}}, {false, {"debug", {}}}};
    for (const auto& each : records) {
        const auto text = session_record_text(each);
        const auto read = parse_session_record(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(*read, each) << text;
    }
}

TEST(SessionRecord, WhatIsNoneIsRefused) {
    for (const auto* text : {"", "{", "[]", "\"x\"", R"({"level":"loud"})", R"({"uris":[1]})"})
        EXPECT_FALSE(parse_session_record(text)) << text;
    EXPECT_FALSE(parse_session_record("{\"level\":\"info\"" +
                                      std::string(kMostSessionRecordBytes, ' ') + "}"));
}

TEST(MemoryRecords, HasTheNewestOfEachAndForgetsTheOldest) {
    test::TurnedLoop loop;
    MemoryRecords records(loop);
    const auto read = [&](const std::string& id) {
        std::optional<SessionRecord> found;
        records.read(id, [&](SessionRecord record) { found = std::move(record); });
        EXPECT_FALSE(found) << "in a later turn";
        loop.run_until([&] { return found.has_value(); });
        return *found;
    };
    const auto write = [&](const std::string& id, const SessionRecord& record) {
        bool written = false;
        records.write(id, record, [&] { written = true; });
        loop.run_until([&] { return written; });
    };
    EXPECT_TRUE(read("a").empty());
    write("a", record_of("1"));
    write("a", record_of("2"));
    EXPECT_EQ(read("a"), record_of("2"));
    for (std::size_t i = 1; i < MemoryRecords::kMost; ++i) write(std::to_string(i), {true});
    EXPECT_EQ(read("a"), record_of("2"));
    write("last", {true});
    EXPECT_TRUE(read("a").empty());
    write("last", {});
    EXPECT_TRUE(read("last").empty());
}

}  // namespace
}  // namespace patchbay::gateway
