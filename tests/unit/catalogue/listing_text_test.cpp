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
    const auto read = from_text(to_text(written), "key", kLimits);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->instructions, written.instructions);
    EXPECT_EQ(read->tools, written.tools) << "numbers and faults of schemas too";
    const auto empty = from_text(to_text({"key", {}, true}), "key", kLimits);
    ASSERT_TRUE(empty);
    EXPECT_TRUE(empty->tools.empty());
}

TEST(ListingText, OfAnotherDefinitionOrThatWasCutOrMixedUpIsNone) {
    const auto text = to_text(listing());
    EXPECT_FALSE(from_text(text, "another", kLimits));
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
        EXPECT_FALSE(from_text(text.substr(0, bytes), "key", kLimits)) << bytes;
    auto mixed = listing();
    std::swap(mixed.tools[0], mixed.tools[1]);
    EXPECT_FALSE(from_text(to_text(mixed), "key", kLimits));
    EXPECT_FALSE(from_text(R"({"jsonrpc":"2.0","method":"x"})", "key", kLimits));
    EXPECT_FALSE(
        from_text(R"({"jsonrpc":"2.0","id":0,"result":{"definition":"key"}})", "key", kLimits));
}

TEST(ListingText, IsJudgedAsWhatAServerSays) {
    core::Limits strict;
    strict.schema_bytes = 10;
    const auto read = from_text(to_text(listing()), "key", strict);
    ASSERT_TRUE(read);
    EXPECT_NE(read->tools.at(0).schema_fault, "");
}

}  // namespace
}  // namespace patchbay::catalogue
