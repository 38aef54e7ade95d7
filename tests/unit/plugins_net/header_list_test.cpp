#include "net/header_list.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <gmock/gmock.h>

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& name, const std::string& value) {
    HeaderList headers;
    try {
        headers.set_foreign(name, value);
        return {};
    } catch (const sdk::Failure& failure) {
        return failure.what();
    }
}

TEST(HeaderList, TakesOrdinaryHeaders) {
    EXPECT_EQ(refusal("Authorization", "Bearer abc"), "");
    EXPECT_EQ(refusal("X-Tenant", "caf\xc3\xa9"), "");
    HeaderList headers;
    headers.set("A", "1");
    headers.set("a", "2");
    ASSERT_EQ(std::distance(headers.begin(), headers.end()), 1);
    EXPECT_EQ(headers.begin()->second, "2");
}

TEST(HeaderList, RefusesALineBreakInAnyPlace) {
    for (const char* bad : {"a\r\nX: y", "a\nb", "a\rb", "a\x01", " a", "a "}) {
        EXPECT_THAT(refusal("X-A", bad), HasSubstr("header \"X-A\"")) << bad;
        EXPECT_THAT(refusal("X-A", bad), Not(HasSubstr("X: y"))) << "the value is not repeated";
    }
    EXPECT_NE(refusal("X-A", std::string("a\0b", 3)), "");
    for (const char* bad : {"X A", "X:A", "", "X\r\nA", "caf\xc3\xa9"})
        EXPECT_THAT(refusal(bad, "v"), HasSubstr("must be a token")) << bad;
}

TEST(HeaderList, LeavesToPatchbayWhatIsPatchbays) {
    for (const char* ours :
         {"Host", "cookie", "CONNECTION", "Transfer-Encoding", "content-length", "Mcp-Session-Id",
          "MCP-Protocol-Version", "mcp-param-x", "TE", "Upgrade"})
        EXPECT_THAT(refusal(ours, "v"), HasSubstr("set by Patchbay itself")) << ours;
}

}  // namespace
}  // namespace patchbay::net
