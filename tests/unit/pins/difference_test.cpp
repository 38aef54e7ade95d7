// What is different is found, whatever it is and wherever it stands: any member of a tool, any value below it.
#include "pins/difference.hpp"

#include "core/json.hpp"
#include "pins/approval.hpp"
#include "unit/pins/support.hpp"

#include <functional>
#include <random>

namespace patchbay::pins {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Record approved(const Listed& listed) {
    auto record = with_all({}, listed, 1'000);
    EXPECT_TRUE(record);
    return record ? std::move(*record) : Record();
}

const json::object kTool{
    {"name", "echo"},
    {"title", "Echo"},
    {"description", "Says it again."},
    {"inputSchema",
     {{"type", "object"},
      {"properties", {{"text", {{"type", "string"}, {"description", "what"}}}}},
      {"required", {"text"}}}},
    {"outputSchema", {{"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}}},
    {"annotations", {{"readOnlyHint", true}, {"title", "E"}}},
    {"icons", {{{"src", "https://example.com/a.png"}, {"sizes", {"48x48"}}}}},
    {"execution", {{"taskSupport", "optional"}}},
    {"_meta", {{"example.com/x", {1, 2.5, nullptr, "s"}}}},
    {"x-unknown", {{"deep", {{"er", {true, {{"a", 1}}}}}}}}};

std::vector<Difference> after(const json::object& change) {
    return differences(approved(listed_of({kTool})), listed_of({change}));
}

TEST(Differences, AreNoneWhereTheSameIsWrittenOtherwise) {
    auto reversed = json::object();
    std::vector<std::pair<std::string, json::value>> members;
    for (const auto& member : kTool) members.emplace_back(member.key(), member.value());
    for (auto each = members.rbegin(); each != members.rend(); ++each)
        reversed[each->first] = each->second;
    EXPECT_THAT(after(reversed), IsEmpty());
    const auto spaced = protocol::parse_tool_page(
        R"({"tools": [ {"na\u006de" : "e" , "description":"\u0041 b"} ]})", {});
    const auto plain =
        protocol::parse_tool_page(R"({"tools":[{"description":"A b","name":"e"}]})", {});
    ASSERT_TRUE(spaced && plain);
    EXPECT_EQ(canonical_form(spaced->tools.at(0)), canonical_form(plain->tools.at(0)));
}

// Every value that can be reached, by a pointer.
void all_places(const json::value& value, const std::string& at, std::vector<std::string>& places) {
    if (!at.empty()) places.push_back(at);
    if (const auto* object = value.if_object())
        for (const auto& member : *object)
            all_places(member.value(), at + core::pointer_token(member.key()), places);
    if (const auto* array = value.if_array())
        for (std::size_t i = 0; i < array->size(); ++i)
            all_places((*array)[i], at + "/" + std::to_string(i), places);
}

// Another value of some kind.
json::value mutated(const json::value& value, std::mt19937& random) {
    switch (random() % 4) {
        case 0:
            return value.is_string() ? json::value(std::string(value.get_string()) + "!")
                                     : json::value("x");
        case 1:
            return value.is_bool() ? json::value(!value.get_bool()) : json::value(true);
        case 2:
            return value.is_int64() ? json::value(value.get_int64() + 1) : json::value(7);
        default:
            return json::array{value, "more"};
    }
}

// A tool of random members, of those that are known and of others.
json::object random_tool(std::mt19937& random) {
    const char* const names[] = {"title",       "description", "inputSchema", "outputSchema",
                                 "annotations", "icons",       "_meta",       "execution",
                                 "x",           "y",           "z",           "naïve key"};
    const std::function<json::value(int)> any = [&](int depth) -> json::value {
        switch (depth > 3 ? random() % 4 : random() % 6) {
            case 0:
                return static_cast<std::int64_t>(random());
            case 1:
                return random() % 2 == 0;
            case 2:
                return nullptr;
            case 3: {
                std::string text;
                for (auto left = random() % 12; left > 0; --left)
                    text += static_cast<char>(' ' + random() % 90);
                return json::value(text + "\n\u202e");
            }
            case 4: {
                json::array list;
                for (auto left = random() % 4; left > 0; --left) list.push_back(any(depth + 1));
                return list;
            }
            default: {
                json::object table;
                for (auto left = random() % 4; left > 0; --left)
                    table["k" + std::to_string(random() % 9)] = any(depth + 1);
                return table;
            }
        }
    };
    json::object tool{{"name", "t"}};
    for (const auto* name : names) {
        if (random() % 2 == 0) continue;
        const bool schema = std::string_view(name).ends_with("Schema");
        // What stands in the place of a schema that cannot be used is not the server's.
        tool[name] =
            schema ? json::value{{"type", "object"}, {"properties", {{"p", any(1)}}}} : any(0);
    }
    return tool;
}

TEST(Differences, AreFoundWhateverOneMemberAnywhereBecomes) {
    std::mt19937 random(51);
    std::size_t tried = 0;
    for (int round = 0; round < 400; ++round) {
        const auto tool = round == 0 ? kTool : random_tool(random);
        const auto record = approved(listed_of({tool}));
        ASSERT_THAT(differences(record, listed_of({tool})), IsEmpty());
        std::vector<std::string> places;
        all_places(tool, "", places);
        for (const auto& place : places) {
            if (place == "/name") continue;
            json::value changed = tool;
            json::error_code none;
            auto* const there = changed.find_pointer(place, none);
            ASSERT_TRUE(there) << place;
            const auto before = *there;
            *there = mutated(before, random);
            if (*there == before) continue;
            ++tried;
            const auto found = differences(record, listed_of({changed.get_object()}));
            ASSERT_THAT(found, ElementsAre(Field(&Difference::kind, Difference::Kind::Changed)))
                << place << " of " << json::serialize(tool) << " is " << json::serialize(changed);
            ASSERT_FALSE(found.front().fields.empty()) << place;
        }
    }
    EXPECT_GT(tried, 4'000u);
}

TEST(Differences, AreFoundWhereAMemberComesOrGoes) {
    for (const auto& member : kTool) {
        if (member.key() == "name") continue;
        auto fewer = kTool;
        fewer.erase(member.key());
        // A tool without an inputSchema has one that takes anything, which is another one.
        EXPECT_THAT(after(fewer), SizeIs(1)) << member.key();
        EXPECT_THAT(differences(approved(listed_of({fewer})), listed_of({kTool})), SizeIs(1));
    }
    auto more = kTool;
    more["priority"] = 0;
    const auto found = after(more);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].fields, ElementsAre(Field(&pins::Field::at, "/priority")));
    EXPECT_EQ(found[0].fields[0].before, "");
    EXPECT_EQ(found[0].fields[0].now, "0");
}

TEST(Differences, NameThePlaceAndBothValues) {
    auto changed = kTool;
    changed["inputSchema"].as_object()["properties"].as_object()["text"].as_object()["type"] =
        "number";
    const auto found = after(changed);
    ASSERT_THAT(found, SizeIs(1));
    ASSERT_THAT(found[0].fields, SizeIs(1));
    EXPECT_EQ(found[0].fields[0].at, "/inputSchema/properties/text/type");
    EXPECT_EQ(found[0].fields[0].before, "\"string\"");
    EXPECT_EQ(found[0].fields[0].now, "\"number\"");
    EXPECT_EQ(found[0].basis, Basis::Approved);
}

TEST(Differences, TellWhatIsNewAndWhatIsGone) {
    const json::object other{{"name", "wipe"}};
    const auto record = approved(listed_of({kTool}, "Be kind."));
    const auto found = differences(record, listed_of({other}, "Be kind."));
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].name, "echo");
    EXPECT_EQ(found[0].kind, Difference::Kind::Removed);
    EXPECT_EQ(found[1].name, "wipe");
    EXPECT_EQ(found[1].kind, Difference::Kind::New);
}

TEST(Differences, OfInstructionsAreFoundAsWell) {
    const auto record = approved(listed_of({kTool}, "Be kind."));
    const auto found = differences(record, listed_of({kTool}, "Obey."));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].part, Part::Instructions);
    EXPECT_EQ(found[0].fields[0].now, "\"Obey.\"");
    EXPECT_THAT(differences(approved(listed_of({kTool})), listed_of({kTool}, "Obey.")), SizeIs(1));
}

TEST(Differences, ATwinThatTakesANameOfThisOneIsARenaming) {
    auto now = listed_of({kTool});
    now.items.at({Part::Tools, "echo"}).known_as = "mcp__x__echo_12345678";
    const auto found = differences(approved(listed_of({kTool})), now);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].kind, Difference::Kind::Renamed);
    EXPECT_EQ(found[0].fields[0].now, "\"mcp__x__echo_12345678\"");
}

TEST(Differences, ShowNothingThatSomebodyWroteOverInTheRecord) {
    auto record = approved(listed_of({kTool}));
    record.pins.begin()->second.text = R"({"name":"echo","description":"Always was so."})";
    auto changed = kTool;
    changed["title"] = "Other";
    const auto found = differences(record, listed_of({changed}));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_TRUE(found[0].text_lost);
    EXPECT_EQ(found[0].fields[0].before, "");
}

TEST(Differences, OfOneItemAreAsManyAsPeopleRead) {
    json::object before{{"name", "t"}}, now{{"name", "t"}};
    for (std::size_t i = 0; i < kMostFields + 5; ++i) {
        before["m" + std::to_string(i)] = 1;
        now["m" + std::to_string(i)] = 2;
    }
    const auto found = differences(approved(listed_of({before})), listed_of({now}));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].fields, SizeIs(kMostFields));
    EXPECT_EQ(found[0].more_fields, 5u);
}

}  // namespace
}  // namespace patchbay::pins
