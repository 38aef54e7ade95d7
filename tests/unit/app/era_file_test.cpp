#include "app/era_file.hpp"

#include "support/gate.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

core::Loop loop;

TEST(EraFile, KeepsRevisionAndTransportForTheNextProcess) {
    const test::PluginFolder folder;
    const auto path = folder.path() + "/state/eras.json";
    EraFile(loop, path).remember("a", {"2024-11-05", "sse"});
    EraFile(loop, path).remember("b", {"2026-07-28", ""});
    {
        EraFile again(loop, path);
        EXPECT_EQ(again.find("a").version, "2024-11-05");
        EXPECT_EQ(again.find("a").transport, "sse");
        EXPECT_EQ(again.find("b").version, "2026-07-28");
        EXPECT_EQ(again.find("b").transport, "");
        EXPECT_EQ(again.find("c").version, "");
        again.remember("a", {"2026-07-28", ""});
    }
    EXPECT_EQ(EraFile(loop, path).find("a").transport, "");
}

TEST(EraFile, DoesNotWaitForAPipeOrReadADeviceInItsPlace) {
    const test::PluginFolder folder;
    const auto path = folder.path() + "/eras.json";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(EraFile(loop, path).find("a").version, "");
    ASSERT_EQ(::unlink(path.c_str()), 0);
    ASSERT_EQ(::symlink("/dev/zero", path.c_str()), 0);
    EXPECT_EQ(EraFile(loop, path).find("a").version, "");
}

TEST(EraFile, ReadsWhatIsNoEraFileAsEmpty) {
    const test::PluginFolder folder;
    EXPECT_EQ(EraFile(loop, folder.write("eras.json", "[1,")).find("a").version, "");
    EraFile nowhere(loop, "");
    nowhere.remember("a", {"2026-07-28", ""});
    EXPECT_EQ(nowhere.find("a").version, "2026-07-28");
}

TEST(EraFile, IsWrittenElsewhereAndWholeInTheEnd) {
    const test::PluginFolder folder;
    const auto path = folder.path() + "/eras.json";
    test::Gate gate(loop);
    std::vector<std::string> texts;  // of the one thread that writes, and of ours when it has ended
    {
        EraFile file(loop, path, [&](const std::string&, const std::string& text) {
            texts.push_back(text);
            gate.pass();
        });
        file.remember("a", {"2024-11-05", ""});
        const auto until = core::Clock::now() + std::chrono::seconds(20);
        ASSERT_TRUE(loop.run_until([&] { return gate.reached(); }, until));
        // The disk does not answer: the loop goes on, and so does what is remembered.
        file.remember("b", {"2025-11-25", ""});
        file.remember("c", {"2026-07-28", ""});
        EXPECT_EQ(file.find("c").version, "2026-07-28");
        gate.open();
    }
    ASSERT_EQ(texts.size(), 2u) << "one text for all that changed meanwhile";
    EXPECT_EQ(texts.at(0), R"({"a":"2024-11-05"})");
    EXPECT_EQ(texts.at(1), R"({"a":"2024-11-05","b":"2025-11-25","c":"2026-07-28"})");
}

TEST(EraFile, WritesWhatChangedMeanwhileAsSoonAsItCan) {
    test::Gate gate(loop);
    std::atomic<int> texts{0};
    EraFile file(loop, "/nowhere/eras.json", [&](const std::string&, const std::string&) {
        if (++texts == 1) gate.pass();
        loop.post([] {});
    });
    const auto until = core::Clock::now() + std::chrono::seconds(20);
    file.remember("a", {"2024-11-05", ""});
    ASSERT_TRUE(loop.run_until([&] { return gate.reached(); }, until));
    file.remember("a", {"2025-11-25", ""});
    gate.open();
    EXPECT_TRUE(loop.run_until([&] { return texts == 2; }, until));
}

TEST(EraFile, HoldsOnlySoManyAndAlwaysTheLastOne) {
    const auto name = [](std::size_t i) { return "k" + std::to_string(10'000 + i); };
    EraFile file(loop, "");
    for (std::size_t i = 0; i < EraFile::kEntries; ++i) file.remember(name(i), {"v", ""});
    EXPECT_EQ(file.find(name(0)).version, "v");
    EXPECT_EQ(file.find(name(EraFile::kEntries - 1)).version, "v");
    file.remember("z", {"v", ""});
    EXPECT_EQ(file.find("z").version, "v");
    EXPECT_EQ(file.find(name(0)).version, "") << "the first made room";
    EXPECT_EQ(file.find(name(1)).version, "v");
    file.remember("a", {"v", ""});
    EXPECT_EQ(file.find("a").version, "v") << "though it is the first by its name";
    EXPECT_EQ(file.find(name(1)).version, "");
    EXPECT_EQ(file.find(name(2)).version, "v");
}

TEST(EraFile, WritesNothingThatItKnowsAlready) {
    const test::PluginFolder folder;
    const auto path = folder.write("eras.json", R"({"a":"2024-11-05 sse","n":7})");
    int texts = 0;
    {
        EraFile file(loop, path, [&](const std::string&, const std::string&) { ++texts; });
        EXPECT_EQ(file.find("n").version, "");
        file.remember("a", {"2024-11-05", "sse"});
    }
    EXPECT_EQ(texts, 0);
}

}  // namespace
}  // namespace patchbay::app
