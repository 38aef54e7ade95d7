#include "app/era_file.hpp"

#include "support/gate.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

using protocol::Era;

core::Loop loop;

TEST(EraFile, KeepsRevisionAndTransportForTheNextProcess) {
    const test::PluginFolder folder;
    const auto path = folder.path() + "/state/eras.json";
    EraFile(loop, path).remember("a", Era::Modern, {"2024-11-05", "sse"});
    EraFile(loop, path).remember("b", Era::Modern, {"2026-07-28", ""});
    {
        EraFile again(loop, path);
        EXPECT_EQ(again.find("a", Era::Modern).version, "2024-11-05");
        EXPECT_EQ(again.find("a", Era::Modern).transport, "sse");
        EXPECT_EQ(again.find("b", Era::Modern).version, "2026-07-28");
        EXPECT_EQ(again.find("b", Era::Modern).transport, "");
        EXPECT_EQ(again.find("c", Era::Modern).version, "");
        again.remember("a", Era::Modern, {"2026-07-28", ""});
    }
    EXPECT_EQ(EraFile(loop, path).find("a", Era::Modern).transport, "");
}

TEST(EraFile, DoesNotWaitForAPipeOrReadADeviceInItsPlace) {
    const test::PluginFolder folder;
    const auto path = folder.path() + "/eras.json";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(EraFile(loop, path).find("a", Era::Modern).version, "");
    ASSERT_EQ(::unlink(path.c_str()), 0);
    ASSERT_EQ(::symlink("/dev/zero", path.c_str()), 0);
    EXPECT_EQ(EraFile(loop, path).find("a", Era::Modern).version, "");
}

TEST(EraFile, ReadsWhatIsNoEraFileAsEmpty) {
    const test::PluginFolder folder;
    EXPECT_EQ(EraFile(loop, folder.write("eras.json", "[1,")).find("a", Era::Modern).version, "");
    EraFile nowhere(loop, "");
    nowhere.remember("a", Era::Modern, {"2026-07-28", ""});
    EXPECT_EQ(nowhere.find("a", Era::Modern).version, "2026-07-28");
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
        file.remember("a", Era::Modern, {"2024-11-05", ""});
        const auto until = core::Clock::now() + std::chrono::seconds(20);
        ASSERT_TRUE(loop.run_until([&] { return gate.reached(); }, until));
        // The disk does not answer: the loop goes on, and so does what is remembered.
        file.remember("b", Era::Modern, {"2025-11-25", ""});
        file.remember("c", Era::Modern, {"2026-07-28", ""});
        EXPECT_EQ(file.find("c", Era::Modern).version, "2026-07-28");
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
    file.remember("a", Era::Modern, {"2024-11-05", ""});
    ASSERT_TRUE(loop.run_until([&] { return gate.reached(); }, until));
    file.remember("a", Era::Modern, {"2025-11-25", ""});
    gate.open();
    EXPECT_TRUE(loop.run_until([&] { return texts == 2; }, until));
}

TEST(EraFile, HoldsOnlySoManyAndAlwaysTheLastOne) {
    const auto name = [](std::size_t i) { return "k" + std::to_string(10'000 + i); };
    EraFile file(loop, "");
    for (std::size_t i = 0; i < EraFile::kEntries; ++i)
        file.remember(name(i), Era::Modern, {"v", ""});
    EXPECT_EQ(file.find(name(0), Era::Modern).version, "v");
    EXPECT_EQ(file.find(name(EraFile::kEntries - 1), Era::Modern).version, "v");
    file.remember("z", Era::Modern, {"v", ""});
    EXPECT_EQ(file.find("z", Era::Modern).version, "v");
    EXPECT_EQ(file.find(name(0), Era::Modern).version, "") << "the first made room";
    EXPECT_EQ(file.find(name(1), Era::Modern).version, "v");
    file.remember("a", Era::Modern, {"v", ""});
    EXPECT_EQ(file.find("a", Era::Modern).version, "v") << "though it is the first by its name";
    EXPECT_EQ(file.find(name(1), Era::Modern).version, "");
    EXPECT_EQ(file.find(name(2), Era::Modern).version, "v");
}

TEST(EraFile, WritesNothingThatItKnowsAlready) {
    const test::PluginFolder folder;
    const auto path = folder.write("eras.json", R"({"a":"2024-11-05 sse","n":7})");
    int texts = 0;
    {
        EraFile file(loop, path, [&](const std::string&, const std::string&) { ++texts; });
        EXPECT_EQ(file.find("n", Era::Modern).version, "");
        file.remember("a", Era::Modern, {"2024-11-05", "sse"});
    }
    EXPECT_EQ(texts, 0);
}

}  // namespace
}  // namespace patchbay::app
