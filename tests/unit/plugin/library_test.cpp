#include "plugin/loading/library.hpp"

#include "plugin/loading/catalogue.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using testing::HasSubstr;

namespace {

SearchOptions only(const PluginFolder& folder) {
    SearchOptions options;
    options.config_directories = {folder.path()};
    options.built_in = false;
    return options;
}

std::string refusal(const PluginFolder& folder, PluginState expected = PluginState::Refused) {
    core::Loop loop;
    Catalogue catalogue(loop, only(folder));
    const auto loaded = catalogue.load("patchbay.test.fake");
    if (loaded) return "loaded";
    EXPECT_EQ(catalogue.list().at(0).state, expected);
    EXPECT_EQ(catalogue.list().at(0).reason.empty(), false);
    return loaded.error().message;
}

TEST(Library, OfAGoodPluginIsLoadedOnFirstUseOnly) {
    const PluginFolder folder;
    install_fixture(folder, "fake");
    core::Loop loop;
    Catalogue catalogue(loop, only(folder));
    EXPECT_EQ(catalogue.list().at(0).state, PluginState::Available);
    EXPECT_THAT(catalogue.transports(), testing::ElementsAre("fake"));
    EXPECT_EQ(*catalogue.schema_of("fake"), schema_text());
    const auto loaded = catalogue.load("fake");
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->state, PluginState::Loaded);
}

TEST(Library, BuiltByPatchbayAddPluginBringsItsOwnManifest) {
    core::Loop loop;
    SearchOptions options;
    options.config_directories = {std::string(PATCHBAY_BUILD_DIR) + "/tests/plugins/fake"};
    Catalogue catalogue(loop, options);
    const auto loaded = catalogue.load("patchbay.test.fake");
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->sha256, core::sha256_hex(read_file(fixture("fake"))));
}

TEST(Library, WithOneByteChangedIsRefused) {
    const PluginFolder folder;
    const auto manifest = install_fixture(folder, "fake");
    auto bytes = read_file(fixture("fake"));
    bytes[bytes.size() / 2] ^= 1;
    folder.write("fake/lib.so", bytes);
    EXPECT_THAT(refusal(folder), HasSubstr("the file is not the one its manifest describes"));
}

TEST(Library, ThatIsNoElfFileIsRefused) {
    const PluginFolder folder;
    install(folder, "fake", "#!/bin/sh\necho hello\n");
    EXPECT_THAT(refusal(folder), HasSubstr("not an ELF shared library"));
}

TEST(Library, OfAnotherMachineIsRefused) {
    auto bytes = read_file(fixture("fake"));
    const auto refused_with = [](const std::string& changed) {
        const PluginFolder folder;
        install(folder, "fake", changed);
        return refusal(folder);
    };
    auto foreign = bytes;
    foreign[18] = 40;  // EM_ARM
    EXPECT_THAT(refused_with(foreign), HasSubstr("built for another processor (ELF machine 40"));
    foreign = bytes;
    foreign[4] = 1;
    EXPECT_THAT(refused_with(foreign), HasSubstr("a 32-bit library"));
    foreign = bytes;
    foreign[16] = 1;
    EXPECT_THAT(refused_with(foreign), HasSubstr("not a shared library"));
    EXPECT_THAT(refused_with(bytes.substr(0, 40)), HasSubstr("cut off"));
    EXPECT_THAT(refused_with(bytes.substr(0, 2000)), HasSubstr("cut off: a segment"));
}

TEST(Library, MayEndWithItsLastSegment) {
    const auto bytes = read_file(fixture("fake"));
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::size_t end = 0;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
        end = std::max<std::size_t>(end, segment.p_offset + segment.p_filesz);
    }
    ASSERT_LT(end, bytes.size()) << "section headers follow, which no loader reads";
    for (const std::size_t missing : {0u, 1u}) {
        const PluginFolder folder;
        install(folder, "fake", bytes.substr(0, end - missing));
        EXPECT_THAT(refusal(folder), HasSubstr(missing == 0 ? "loaded" : "cut off: a segment"));
    }
}

TEST(Library, IsMappedFromItsFileWhereNobodyElseHasItsBytes) {
    const PluginFolder first, second;
    const auto bytes = read_file(fixture("fake")) + "of this test alone";
    install(first, "fake", bytes);
    install(second, "fake", bytes);
    core::Loop loop;
    Catalogue one(loop, only(first)), other(loop, only(second));
    ASSERT_TRUE(one.load("fake"));
    EXPECT_THAT(read_file("/proc/self/maps"), HasSubstr(first / "fake/lib.so"));
    ASSERT_TRUE(other.load("fake"));
    EXPECT_THAT(read_file("/proc/self/maps"), testing::Not(HasSubstr(second / "fake/lib.so")))
        << "two copies share nothing";
}

TEST(Library, WithoutTheEntryPointIsRefused) {
    const PluginFolder next, none;
    install(next, "fake", read_file(fixture("next_generation")));
    EXPECT_THAT(refusal(next),
                HasSubstr("built for another ABI generation: found patchbay_plugin_entry_1, "
                          "this host speaks 0"));
    install(none, "fake", read_file(fixture("no_plugin")));
    EXPECT_THAT(refusal(none), HasSubstr("does not export patchbay_plugin_entry_0"));
}

struct WrongTable {
    const char *fixture, *message;
};
class WrongTables : public testing::TestWithParam<WrongTable> {};

TEST_P(WrongTables, AreRefusedWithTheReason) {
    const PluginFolder folder;
    install_fixture(folder, GetParam().fixture);
    EXPECT_THAT(refusal(folder), HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongTables,
    testing::Values(WrongTable{"small_table",
                               "the transport table is 80 bytes, generation 0 starts at 88"},
                    WrongTable{"other_schema", "config_schema of the library differs"},
                    WrongTable{"no_cancel", "transport \"fake\" has no cancel"},
                    WrongTable{"newer_minor", "built for ABI 0.7, this host speaks 0.0"},
                    WrongTable{"refuses", "needs example.clairvoyance/1 (Patchbay 9 or newer)"},
                    WrongTable{"other_id",
                               "says its id is \"patchbay.test.other\", the manifest says "
                               "\"patchbay.test.fake\""}),
    [](const auto& named) { return std::string(named.param.fixture); });

TEST(Library, MustProvideWhatItsManifestPromises) {
    const PluginFolder folder;
    FakeManifest manifest;
    manifest.transport = "other";
    install_fixture(folder, "fake", manifest);
    EXPECT_THAT(refusal(folder),
                HasSubstr("transport \"fake\" is not in the manifest's [[provides]]"));
}

// glibc knows a library by the name it was mapped with, here a descriptor's: were the number used
// again, the second library would silently be the first.
TEST(Library, IsNotMistakenForAnEarlierOne) {
    const auto open = [](const char* name) {
        return Library::open(fixture(name), core::sha256_hex(read_file(fixture(name))), true);
    };
    const auto first = open("fake");
    const auto second = open("throwing");
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_NE(first->entry(), second->entry());
}

TEST(Library, IsUsedAgainByTheNextCatalogueAndByOneBesideIt) {
    const PluginFolder folder;
    install_fixture(folder, "fake");
    core::Loop loop;
    {
        Catalogue first(loop, only(folder));
        ASSERT_TRUE(first.load("fake"));
        Catalogue second(loop, only(folder));
        const auto loaded = second.load("fake");
        ASSERT_TRUE(loaded) << loaded.error().message;
    }
    Catalogue third(loop, only(folder));
    const auto loaded = third.load("fake");
    EXPECT_TRUE(loaded) << loaded.error().message;
}

TEST(Catalogue, OffersNearNamesAndSaysWhereItLooked) {
    const PluginFolder folder;
    install_fixture(folder, "fake");
    core::Loop loop;
    Catalogue catalogue(loop, only(folder));
    const auto unknown = catalogue.schema_of("fkae");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
    EXPECT_THAT(unknown.error().message, HasSubstr("did you mean \"fake\"?"));
    EXPECT_THAT(unknown.error().message, HasSubstr("Looked in " + folder.path()));
    EXPECT_THAT(catalogue.info("patchbay.test.fak").error().message,
                HasSubstr("did you mean \"patchbay.test.fake\"?"));
}

}  // namespace
