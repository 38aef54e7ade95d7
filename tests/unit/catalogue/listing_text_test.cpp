#include "catalogue/listing_text.hpp"

#include <gtest/gtest.h>

namespace patchbay::catalogue {
namespace {

const core::Limits kLimits;

Listing listing() {
    Listing listing{"key", {}, true, "Say \"please\".\n"};
    listing.tools.push_back({"a\"b", R"("inputSchema":{"type":"object"})", R"("x":1E400)"});
    listing.tools.push_back({"c",
                             R"("inputSchema":{"type":"object","additionalProperties":true},)"
                             R"("description":"[é]")",
                             "", "is missing"});
    return listing;
}

TEST(ListingText, IsReadAsWhatWasWritten) {
    const auto written = listing();
    const auto read = from_text(to_text(written, kLimits), "key", kLimits);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->instructions, written.instructions);
    EXPECT_EQ(read->tools, written.tools) << "numbers and faults of schemas too";
    const auto empty = from_text(to_text({"key", {}, true}, kLimits), "key", kLimits);
    ASSERT_TRUE(empty);
    EXPECT_TRUE(empty->tools.empty());
}

// The text with another letter in place of each `from`, so that its index is of another text.
std::string altered(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

TEST(ListingText, IsFoundByItsIndexAsItIsReadWithoutOne) {
    auto written = listing();
    written.others = {"prompts", "resources"};
    written.declared = "0a1b";
    const auto text = to_text(written, kLimits);
    ASSERT_TRUE(text.starts_with("{\"index\":\""));
    const auto plain = "{" + text.substr(text.find("\"jsonrpc\""));
    for (const auto& each : {text, plain, altered(text, "index", "other")}) {
        const auto read = from_text(each, "key", kLimits);
        ASSERT_TRUE(read) << each;
        EXPECT_EQ(read->tools, written.tools);
        EXPECT_EQ(read->others, written.others);
        EXPECT_EQ(read->declared, "0a1b");
        EXPECT_EQ(read->instructions, written.instructions);
    }
}

TEST(ListingText, AnIndexOfAnotherTextCountsForNothing) {
    const auto text = to_text(listing(), kLimits);
    const auto read = from_text(altered(text, "\"c\"", "\"d\""), "key", kLimits);
    ASSERT_TRUE(read) << "it is parsed, as it is whole";
    EXPECT_EQ(read->tools.at(1).name, "d");
    EXPECT_FALSE(from_text(altered(text, "\"object\"", "\"object\\"), "key", kLimits));
    const auto longer = from_text(altered(text, "\"c\"", "\"cc\""), "key", kLimits);
    ASSERT_TRUE(longer);
    EXPECT_EQ(longer->tools.at(1).text("description"), "[é]");
}

TEST(ListingText, OfAnotherDefinitionOrThatWasCutOrMixedUpIsNone) {
    const auto text = to_text(listing(), kLimits);
    EXPECT_FALSE(from_text(text, "another", kLimits));
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
        EXPECT_FALSE(from_text(text.substr(0, bytes), "key", kLimits)) << bytes;
    auto mixed = listing();
    std::swap(mixed.tools[0], mixed.tools[1]);
    EXPECT_FALSE(from_text(to_text(mixed, kLimits), "key", kLimits));
    EXPECT_FALSE(from_text(R"({"jsonrpc":"2.0","method":"x"})", "key", kLimits));
    EXPECT_FALSE(
        from_text(R"({"jsonrpc":"2.0","id":0,"result":{"definition":"key"}})", "key", kLimits));
}

TEST(ListingText, IsJudgedAsWhatAServerSays) {
    core::Limits strict;
    strict.schema_bytes = 10;
    const auto read = from_text(to_text(listing(), kLimits), "key", strict);
    ASSERT_TRUE(read);
    EXPECT_NE(read->tools.at(0).schema_fault, "");
}

}  // namespace
}  // namespace patchbay::catalogue
