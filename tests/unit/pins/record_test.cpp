// What is kept of what somebody approved: its text, and what becomes of it with each use and approval.
#include "pins/record.hpp"

#include "pins/approval.hpp"
#include "unit/pins/support.hpp"

namespace patchbay::pins {
namespace {

using ::testing::HasSubstr;

const json::object kEcho{{"name", "echo"}, {"description", "Echoes\nall."}};
const json::object kAdd{{"name", "add"}, {"inputSchema", {{"type", "object"}}}};
const Name kOfEcho{Part::Tools, "echo"}, kOfAdd{Part::Tools, "add"};

Record used(const Listed& listed, const Name& name, Record before = {}) {
    auto record = with_items(std::move(before), listed, {name}, Basis::Used, 1'000);
    EXPECT_TRUE(record);
    return record ? std::move(*record) : Record();
}

TEST(Record, IsReadAsItWasWritten) {
    auto record = used(listed_of({kEcho, kAdd}, "Be kind."), kOfEcho);
    record.server = "x";
    const auto text = to_text(record);
    const auto whole = from_text(text, Texts::Read);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(*whole, record);
    const auto head = from_text(text, Texts::LeftOut);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->find(kOfEcho)->digest, record.find(kOfEcho)->digest);
    EXPECT_EQ(head->find(kOfEcho)->text, "");
}

TEST(Record, ThatIsCutOrChangedIsNone) {
    const auto text = to_text(used(listed_of({kEcho}), kOfEcho));
    const auto head = text.substr(0, text.find('\n'));
    for (std::size_t cut = 0; cut < head.size(); ++cut)
        EXPECT_FALSE(from_text(head.substr(0, cut), Texts::LeftOut)) << head.substr(0, cut);
    for (
        const auto* spoilt :
        {"", "[]", "{}", R"({"version":1})", R"({"version":1,"whole":["x"],"pins":[]})",
         R"({"version":1,"whole":[],"pins":[{"part":"tools","name":"a"}]})",
         R"({"version":1,"whole":[],"pins":[{"part":"tools","name":"a","digest":"12","basis":"used"}]})"})
        EXPECT_FALSE(from_text(spoilt, Texts::LeftOut)) << spoilt;
}

TEST(Record, OfAnotherVersionSaysSo) {
    for (const auto* version : {"0", "2", "999"}) {
        const auto other = from_text(
            "{\"version\":" + std::string(version) + ",\"whole\":[],\"pins\":[]}\n", Texts::Read);
        ASSERT_FALSE(other);
        EXPECT_THAT(other.error().message,
                    HasSubstr("is of another patchbay (version " + std::string(version)));
    }
}

TEST(Record, KeepsTheDigestOfATextThatIsTooLong) {
    Record record;
    record.server = "x";
    const std::string long_text(Record::kMostTextBytes, 'x');
    record.pins[kOfEcho] = {digest_of(long_text), Basis::Used, 1, "mcp__x__echo", long_text};
    record.pins[kOfAdd] = {digest_of("short"), Basis::Used, 1, "mcp__x__add", "short"};
    const auto read = from_text(to_text(record), Texts::Read);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->find(kOfAdd)->text, "short");
    EXPECT_EQ(read->find(kOfEcho)->text, "") << "beyond what all texts may take";
    EXPECT_EQ(read->find(kOfEcho)->digest, digest_of(long_text));
}

TEST(Record, OfAFirstUseHasAllThatWasThereAsSeen) {
    const auto record = used(listed_of({kEcho, kAdd}, "Be kind."), kOfEcho);
    EXPECT_EQ(record.find(kOfEcho)->basis, Basis::Used);
    EXPECT_EQ(record.find(kOfAdd)->basis, Basis::Seen);
    EXPECT_EQ(record.whole, (std::set<Part>{Part::Tools, Part::Instructions}));
    EXPECT_NE(record.find({Part::Instructions, ""}), nullptr);
}

TEST(Record, IsNotChangedByAnotherUse) {
    const auto first = used(listed_of({kEcho, kAdd}), kOfEcho);
    auto changed = kEcho;
    changed["description"] = "Echoes, and more.";
    const auto again = used(listed_of({changed, kAdd}), kOfEcho, first);
    EXPECT_EQ(again, first) << "what somebody stands behind is taken back by nobody's use";
    const auto other = used(listed_of({changed, kAdd}), kOfAdd, first);
    EXPECT_EQ(other.find(kOfAdd)->basis, Basis::Used);
    EXPECT_EQ(other.find(kOfEcho)->digest, first.find(kOfEcho)->digest);
}

TEST(Record, OfAThingThatIsUsedFirstWhenItHasChangedHasItAsItIsThen) {
    const auto first = used(listed_of({kEcho, kAdd}), kOfEcho);
    auto changed = kAdd;
    changed["title"] = "Add";
    const auto now = listed_of({kEcho, changed});
    EXPECT_EQ(used(now, kOfAdd, first).find(kOfAdd)->digest, now.items.at(kOfAdd).digest);
}

TEST(Record, OfAnApprovalIsOfWhatIsThereAndForgetsTheRest) {
    const auto first = used(listed_of({kEcho, kAdd}), kOfEcho);
    auto changed = kEcho;
    changed["description"] = "Echoes, and more.";
    const auto now = listed_of({changed});
    const auto approved = with_all(first, now, 2'000);
    ASSERT_TRUE(approved);
    EXPECT_EQ(approved->find(kOfAdd), nullptr);
    EXPECT_EQ(approved->find(kOfEcho)->digest, now.items.at(kOfEcho).digest);
    EXPECT_EQ(approved->find(kOfEcho)->basis, Basis::Approved);
    EXPECT_EQ(approved->find(kOfEcho)->at, 2'000);
}

TEST(Record, HasAsManyPinsAsItMay) {
    Listed many;
    many.whole = {Part::Tools};
    for (std::size_t i = 0; i <= Record::kMostPins; ++i)
        many.items[{Part::Tools, "t" + std::to_string(i)}] = {digest_of("x"), "x", "x"};
    const auto record = with_all({}, many, 1);
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().code, ErrorCode::Limit);
}

}  // namespace
}  // namespace patchbay::pins
