#include "protocol/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> told(const json::value& schema, const json::value& instance) {
    std::vector<std::string> messages;
    for (const auto& error : Schema::compile(schema)->validate(instance))
        messages.push_back(error.message);
    return messages;
}

const auto kUnchecked = HasSubstr("asks for too many steps or goes too deep");

TEST(SchemaLimits, EndsInBoundedTimeWhateverTheSchema) {
    EXPECT_THAT(told(json::parse(R"({"$ref":"#"})"), 1), Contains(kUnchecked));
    std::string doubling = R"({"$defs":{"a0":{"not":{}})";
    for (int i = 1; i < 60; ++i) {
        const auto below = std::to_string(i - 1);
        doubling += ",\"a" + std::to_string(i) + R"(":{"anyOf":[{"$ref":"#/$defs/a)" + below +
                    R"("},{"$ref":"#/$defs/a)" + below + "\"}]}";
    }
    doubling += R"(},"$ref":"#/$defs/a59"})";
    EXPECT_THAT(told(json::parse(doubling), 1), Contains(kUnchecked));
}

TEST(SchemaLimits, BoundsItsOwnSize) {
    const auto nested = [](int levels) {
        json::value schema = json::object();
        for (int i = 0; i < levels; ++i) schema = json::object{{"not", std::move(schema)}};
        return Schema::compile(schema);
    };
    EXPECT_TRUE(nested(128));
    EXPECT_EQ(nested(129).error().code, ErrorCode::Limit);
    const auto wide = [](std::size_t nodes) {
        return Schema::compile(json::object{{"allOf", json::array(nodes - 1, json::object())}});
    };
    EXPECT_TRUE(wide(20'000));
    EXPECT_EQ(wide(20'001).error().code, ErrorCode::Limit);
}

TEST(SchemaLimits, EndsAnEvaluationAtItsLastStep) {
    // One step for the whole, one for each item, one for each choice up to the one that it is.
    json::array choices;
    for (int i = 1; i < 1'000; ++i) choices.emplace_back(i);
    const auto schema = *Schema::compile(json::object{{"items", {{"enum", std::move(choices)}}}});
    json::array items(Schema::kSteps / 1'000, 999);
    items.back() = 998;
    EXPECT_TRUE(schema.validate(items).empty());
    items.back() = 999;
    EXPECT_THAT(schema.validate(items).back().message, kUnchecked);
}

TEST(SchemaLimits, ChecksLargeListsForDuplicatesInLinearTime) {
    const auto schema = *Schema::compile(json::parse(R"({"uniqueItems":true})"));
    json::array many;
    for (int i = 0; i < 100'000; ++i) many.emplace_back(i);
    EXPECT_TRUE(schema.validate(many).empty());
    many.emplace_back(7.0);
    EXPECT_EQ(schema.validate(many).front().message, "items 7 and 100000 are the same");
}

TEST(SchemaLimits, TellsSoMuchAndNoMore) {
    const auto schema = *Schema::compile(json::parse(R"({"items":false})"));
    EXPECT_EQ(schema.validate(json::array(1000, 1)).size(), Schema::kErrors);
}

// A chain of references, each one subschema deeper than the one before.
TEST(SchemaLimits, GoesSoDeepAndNoDeeper) {
    const auto chain = [](int length) {
        json::object places;
        for (int i = 1; i < length; ++i)
            places["a" + std::to_string(i)] = {{"$ref", "#/$defs/a" + std::to_string(i + 1)}};
        places["a" + std::to_string(length)] = {{"type", "integer"}};
        return json::object{{"$ref", "#/$defs/a1"}, {"$defs", std::move(places)}};
    };
    EXPECT_THAT(told(chain(Schema::kEvaluationDepth - 1), 1), IsEmpty());
    EXPECT_THAT(told(chain(Schema::kEvaluationDepth - 1), "x"),
                ElementsAre("expected integer, got string"));
    EXPECT_THAT(told(chain(Schema::kEvaluationDepth), 1), ElementsAre(kUnchecked));
    auto negated = chain(Schema::kEvaluationDepth);
    negated["not"] = {{"$ref", "#/$defs/a1"}};
    negated.erase("$ref");
    EXPECT_THAT(told(negated, "x"), ElementsAre(kUnchecked))
        << "what was not looked at is not what it must not be";
}

// A long text costs a pattern more steps than a short one.
TEST(SchemaLimits, CountsTheBytesThatAPatternReads) {
    const json::object instance{{std::string(256 * 1'001, 'x'), 1}};
    const auto patterns = [](int many) {
        json::object each;
        for (int i = 0; i < many; ++i) each["^a" + std::to_string(i)] = true;
        return json::value{{"patternProperties", std::move(each)}};
    };
    EXPECT_THAT(told(patterns(499), instance), IsEmpty());
    EXPECT_THAT(told(patterns(500), instance), Contains(kUnchecked));
}

// So does what keeps account of the members or items that no keyword has judged.
TEST(SchemaLimits, CountsTheItemsThatAreKeptAccountOf) {
    const json::array instance(256 * 100, 1);
    const auto alternatives = [](std::size_t many) {
        json::array each(many, json::object{{"type", "string"}});
        each.push_back(json::object());
        return json::value{{"anyOf", std::move(each)}, {"unevaluatedItems", true}};
    };
    EXPECT_THAT(told(alternatives(4'690), instance), IsEmpty());
    EXPECT_THAT(told(alternatives(4'975), instance), Contains(kUnchecked));
}

TEST(SchemaLimits, TellsTheNeedsOfTheFirstAlternativesOnly) {
    const auto needs = [](int many) {
        json::array each;
        for (int i = 0; i < many; ++i)
            each.push_back(json::object{{"required", json::array{"p" + std::to_string(i)}}});
        return told({{"anyOf", std::move(each)}}, json::object()).at(0);
    };
    EXPECT_THAT(needs(8), HasSubstr(", or lacks \"p7\""));
    EXPECT_THAT(needs(9), HasSubstr(", or lacks \"p7\""));
    EXPECT_THAT(needs(9), ::testing::Not(HasSubstr("p8")));
}

TEST(SchemaLimits, APatternMayTakeSoMuchMemory) {
    const auto notes = [](int many) {
        std::string pattern;
        for (int i = 0; i < many; ++i) pattern += "(?:abcdefghi){100}";
        return Schema::compile(json::object{{"pattern", pattern}})->notes();
    };
    EXPECT_THAT(notes(60), IsEmpty());
    EXPECT_THAT(notes(140), ElementsAre(HasSubstr("pattern too large")));
}

}  // namespace
}  // namespace patchbay::protocol
