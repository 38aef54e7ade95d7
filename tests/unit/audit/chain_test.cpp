// A chain takes what follows in it, and nothing else.
#include "audit/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace patchbay::audit {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> lines_of(int count, const std::string& key = "key") {
    Chain chain(key);
    std::vector<std::string> lines;
    for (int i = 1; i <= count; ++i) {
        std::string line;
        chain.append("\"kind\":\"call\",\"server\":\"s" + std::to_string(i) + "\"", line);
        line.pop_back();
        lines.push_back(line);
    }
    return lines;
}

TEST(AChain, TakesItsOwnRecordsInTheirOrder) {
    Chain chain("key");
    for (const auto& line : lines_of(3)) EXPECT_EQ(chain.take(line), "");
    EXPECT_EQ(chain.number(), 3u);
}

TEST(AChain, RefusesARecordOfWhichAnyByteIsAnother) {
    const auto line = lines_of(1).front();
    for (std::size_t i = 0; i < line.size(); ++i) {
        auto changed = line;
        changed[i] = changed[i] == '7' ? '8' : '7';
        EXPECT_NE(Chain("key").take(changed), "") << i << " " << changed;
    }
    for (std::size_t i = 0; i < line.size(); ++i)
        EXPECT_NE(Chain("key").take(line.substr(0, i)), "") << i;
    EXPECT_NE(Chain("key").take(line + " "), "");
    EXPECT_EQ(Chain("key").take(line), "");
}

TEST(AChain, SaysWhatIsWrong) {
    const auto lines = lines_of(3);
    Chain chain("key");
    EXPECT_THAT(chain.take("not json"), HasSubstr("is no record"));
    EXPECT_THAT(chain.take(lines[1]), HasSubstr("is record 2 where 1 was expected"));
    EXPECT_EQ(chain.take(lines[0]), "");
    EXPECT_THAT(chain.take(lines[0]), HasSubstr("is record 1 where 2 was expected"));
    EXPECT_THAT(chain.take(lines_of(2, "another")[1]), HasSubstr("does not have the key"));
    // Signed by who has the key, in another trail.
    Chain other("key");
    std::string first, second;
    other.append("\"kind\":\"x\"", first);
    other.append("\"kind\":\"x\"", second);
    second.pop_back();
    EXPECT_THAT(chain.take(second), HasSubstr("does not follow record 1"));
    EXPECT_EQ(chain.take(lines[1]), "") << "a line that was refused has changed nothing";
}

TEST(ALink, IsFoundByItsFormAlone) {
    EXPECT_FALSE(link_of(""));
    EXPECT_FALSE(link_of("{}"));
    EXPECT_FALSE(link_of("{\"n\":0,\"prev\":\"" + std::string(64, 'a') + "\",\"mac\":\"" +
                         std::string(64, 'a') + "\"}"));
    EXPECT_FALSE(link_of("{\"n\":99999999999999999999,\"prev\":\"" + std::string(64, 'a') +
                         "\",\"mac\":\"" + std::string(64, 'a') + "\"}"));
    EXPECT_FALSE(link_of("{\"n\":1,\"prev\":\"" + std::string(64, 'A') + "\",\"mac\":\"" +
                         std::string(64, 'a') + "\"}"));
    const auto line = "{\"n\":7,\"x\":1,\"prev\":\"" + std::string(64, 'a') + "\",\"mac\":\"" +
                      std::string(64, 'b') + "\"}";
    const auto link = link_of(line);
    ASSERT_TRUE(link);
    EXPECT_EQ(link->number, 7u);
    EXPECT_EQ(link->signed_text, "{\"n\":7,\"x\":1,\"prev\":\"" + std::string(64, 'a') + "\"");
}

}  // namespace
}  // namespace patchbay::audit
