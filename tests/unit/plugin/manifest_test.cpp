#include "plugin/loading/manifest.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using patchbay::ErrorCode;
using patchbay::plugin::parse_manifest;
using patchbay::test::FakeManifest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

namespace {

constexpr auto kPlatform = "linux-x86_64-gnu";

TEST(Manifest, TellsEverythingThatIsNeededBeforeLoading) {
    FakeManifest fake;
    fake.abi =
        "generation = 0\nminor = 0\nrequires = [\"patchbay.host.reactor/1\"]\nwants = [\"x/1\"]\n";
    fake.tail = "[grants]\nspawn = true\n[servers.demo]\ntransport = \"fake\"\n";
    const auto manifest = parse_manifest(fake.text(), "p.toml", kPlatform);
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(manifest->id, "patchbay.test.fake");
    EXPECT_EQ(manifest->version, "0.0.1");
    EXPECT_EQ(manifest->library, "lib.so");
    EXPECT_THAT(manifest->requires_extensions, ElementsAre("patchbay.host.reactor/1"));
    EXPECT_THAT(manifest->wants_extensions, ElementsAre("x/1"));
    EXPECT_THAT(manifest->grants, ElementsAre(Pair("spawn", true)));
    ASSERT_EQ(manifest->provides.size(), 1u);
    EXPECT_EQ(manifest->provides[0].schema_file, "fake.schema.json");
    EXPECT_FALSE(manifest->provides[0].local);
    EXPECT_TRUE(manifest->has_servers);
    EXPECT_TRUE(manifest->warnings.empty());
}

TEST(Manifest, TellsWhoseServersAreProgramsOfThisMachine) {
    auto text = FakeManifest{}.text();
    text.replace(text.find("name = \"fake\""), 0, "local = true\n");
    const auto manifest = parse_manifest(text, "p.toml", kPlatform);
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_TRUE(manifest->provides[0].local);
    EXPECT_TRUE(manifest->warnings.empty());
}

TEST(Manifest, NamesThePlaceAndTheNearestKeyOfAnUnknownOne) {
    const auto manifest =
        parse_manifest("licence = \"MIT\"\n" + FakeManifest{}.text(), "p.toml", kPlatform);
    ASSERT_TRUE(manifest);
    ASSERT_EQ(manifest->warnings.size(), 1u);
    EXPECT_THAT(manifest->warnings[0], HasSubstr("p.toml:1:1: unknown key \"licence\""));
    EXPECT_THAT(manifest->warnings[0], HasSubstr("did you mean \"license\"?"));
}

struct BadManifest {
    std::string from, to, message;
};

class BadManifests : public testing::TestWithParam<BadManifest> {};

TEST_P(BadManifests, AreRefusedWithAPlaceAndAReason) {
    auto text = FakeManifest{}.text();
    const auto at = text.find(GetParam().from);
    ASSERT_NE(at, text.npos);
    text.replace(at, GetParam().from.size(), GetParam().to);
    const auto manifest = parse_manifest(text, "p.toml", kPlatform);
    ASSERT_FALSE(manifest);
    EXPECT_EQ(manifest.error().code, ErrorCode::Invalid);
    EXPECT_THAT(manifest.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadManifests,
    testing::Values(
        BadManifest{"manifest = 1", "manifest = 2", "p.toml:1:12: manifest = 2, this host reads 1"},
        BadManifest{"manifest = 1", "", "\"manifest\" must be a number"},
        BadManifest{"manifest = 1", "manifest = [[[", ": not TOML"},
        BadManifest{"id = \"patchbay.test.fake\"", "id = 7", "p.toml:2:6: \"id\" must be a string"},
        BadManifest{"patchbay.test.fake", "../evil", "must be letters, digits"},
        BadManifest{"version = \"0.0.1\"", "", "\"version\" is missing"},
        BadManifest{"generation = 0", "generation = \"0\"",
                    "p.toml:5:14: \"generation\" must be a number"},
        BadManifest{"generation = 0", "generation = 0\nrequires = \"x\"", "must be a list"},
        BadManifest{"kind = \"transport\"", "kind = \"teapot\"",
                    "must be \"transport\" or \"auth\""},
        BadManifest{"name = \"fake\"", "name = \"Fake\"", "must match [a-z]"},
        BadManifest{"name = \"fake\"", "local = 1\nname = \"fake\"", "must be true or false"},
        BadManifest{"fake.schema.json", "../x.json", "must stay inside"},
        BadManifest{"lib.so", "/lib/libc.so.6", "must stay inside"},
        BadManifest{"lib.so", "a/../../b.so", "must stay inside"},
        BadManifest{"linux-x86_64-gnu", "plan9-mips-none", "there: plan9-mips-none"},
        BadManifest{"sha256 = \"0", "sha256 = \"X", "64 lower-case hex digits"},
        BadManifest{"[[provides]]", "[provides]", "[[provides]] is needed"}));

TEST(Manifest, ThatIsHugeIsNotParsed) {
    const auto manifest = parse_manifest(std::string(1 << 20, '#'), "p.toml", kPlatform);
    ASSERT_FALSE(manifest);
    EXPECT_EQ(manifest.error().code, ErrorCode::Limit);
}

TEST(Manifest, ThatNestsWithoutEndIsRefused) {
    const auto manifest = parse_manifest("x = " + std::string(100'000, '['), "p.toml", kPlatform);
    ASSERT_FALSE(manifest);
    EXPECT_THAT(manifest.error().message, HasSubstr("not TOML"));
}

}  // namespace
