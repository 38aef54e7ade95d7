#include "app/era_file.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

TEST(EraFile, KeepsRevisionAndTransportForTheNextProcess) {
    const test::PluginFolder folder;
    const auto path = folder.path() + "/state/eras.json";
    EraFile(path).remember("a", {"2024-11-05", "sse"});
    EraFile(path).remember("b", {"2026-07-28", ""});
    EraFile again(path);
    EXPECT_EQ(again.find("a").version, "2024-11-05");
    EXPECT_EQ(again.find("a").transport, "sse");
    EXPECT_EQ(again.find("b").version, "2026-07-28");
    EXPECT_EQ(again.find("b").transport, "");
    EXPECT_EQ(again.find("c").version, "");
    again.remember("a", {"2026-07-28", ""});
    EXPECT_EQ(EraFile(path).find("a").transport, "");
}

TEST(EraFile, DoesNotWaitForAPipeOrReadADeviceInItsPlace) {
    const test::PluginFolder folder;
    const auto path = folder.path() + "/eras.json";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(EraFile(path).find("a").version, "");
    ASSERT_EQ(::unlink(path.c_str()), 0);
    ASSERT_EQ(::symlink("/dev/zero", path.c_str()), 0);
    EXPECT_EQ(EraFile(path).find("a").version, "");
}

TEST(EraFile, ReadsWhatIsNoEraFileAsEmpty) {
    const test::PluginFolder folder;
    EXPECT_EQ(EraFile(folder.write("eras.json", "[1,")).find("a").version, "");
    EraFile nowhere("");
    nowhere.remember("a", {"2026-07-28", ""});
    EXPECT_EQ(nowhere.find("a").version, "2026-07-28");
}

}  // namespace
}  // namespace patchbay::app
