#include "net/header_list.hpp"

#include "core/json.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

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

TEST(HeaderList, KeepsToItselfWhatTheSchemasCallReserved) {
    std::vector<std::string> kept(kReserved.begin(), kReserved.end());
    kept.emplace_back("mcp-*");
    for (const std::string transport : {"http", "sse", "ws"}) {
        SCOPED_TRACE(transport);
        std::ostringstream text;
        text << std::ifstream(PATCHBAY_SOURCE_DIR "/plugins/" + transport + "/" + transport +
                              ".schema.json")
                    .rdbuf();
        const auto schema = core::parse_json_object(text.str());
        ASSERT_TRUE(schema) << schema.error().message;
        std::vector<std::string> told;
        for (const auto& name :
             schema->at("properties").at("headers").at("x-patchbay-reserved").as_array())
            told.emplace_back(name.as_string());
        EXPECT_THAT(told, UnorderedElementsAreArray(kept));
    }
}

}  // namespace
}  // namespace patchbay::net
