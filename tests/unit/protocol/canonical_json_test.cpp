#include "protocol/canonical_json.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace patchbay::protocol {
namespace {

TEST(CanonicalJson, IsTheSameHoweverAValueIsWritten) {
    EXPECT_EQ(canonical_json(R"( { "b" : [ 1 , { "y":2,"x":"\u0041" } ] , "a" : null } )"),
              R"({"a":null,"b":[1,{"x":"A","y":2}]})");
    EXPECT_EQ(canonical_json(R"({"\u0062":1,"a":{}})"), canonical_json(R"({"a":{ },"b":1})"));
}

TEST(CanonicalJson, KeepsApartWhatDiffers) {
    for (const auto& [one, other] : {std::pair{"[1,2]", "[2,1]"},
                                     {"1", "1.0"},
                                     {"18446744073709551617", "18446744073709551616"},
                                     {R"({"a":1})", R"({"a":"1"})"},
                                     {R"({"a":1,"b":2})", R"({"a":2,"b":1})"},
                                     {R"("a\"b")", R"("a\\b")"}})
        EXPECT_NE(canonical_json(one), canonical_json(other)) << one << " " << other;
}

// A name that begins another stands before it, and one that is there twice keeps its order.
TEST(CanonicalJson, OrdersNamesAndNothingElse) {
    EXPECT_EQ(canonical_json(R"({"ab":1,"a":2,"a":1})"), R"({"a":2,"a":1,"ab":1})");
    EXPECT_EQ(canonical_json("1E400"), "1E400");
    EXPECT_EQ(canonical_json("[[],[[]], true]"), "[[],[[]],true]");
}

TEST(CanonicalJson, EndsWhereItsInputDoes) {
    for (const auto* broken : {"", "{", "[", "{\"a", "{\"a\":", "[1,", "\"", "]"})
        EXPECT_LE(canonical_json(broken).size(), 16u) << broken;
}

}  // namespace
}  // namespace patchbay::protocol
