#include "app/catalogue_folder.hpp"

#include "core/digest.hpp"
#include "support/killed_at.hpp"
#include "support/turned_loop.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <vector>

namespace patchbay::app {
namespace {

namespace fs = std::filesystem;
core::Loop loop;
const core::Limits kLimits;

std::shared_ptr<const catalogue::Listing> listing(const std::string& definition,
                                                  const std::string& tool, bool whole = true) {
    return std::make_shared<const catalogue::Listing>(catalogue::Listing{
        definition, {{tool, R"("inputSchema":{"type":"object"})", {}}}, whole, "Hello."});
}

std::vector<registry::ServerSpec> specs(const std::string& definition) {
    registry::ServerSpec a, b;
    a.config.id = "a";
    b.config.id = "b";
    a.definition_key = b.definition_key = definition;
    return {a, b};
}

class CatalogueFolderTest : public ::testing::Test {
protected:
    std::string recalled(const std::string& server, const std::string& definition = "1") {
        catalogue::Catalogue catalogue;
        CatalogueFolder(loop, catalogue, path, kLimits).recall(specs(definition));
        const auto found = catalogue.listings().find(server);
        return found == catalogue.listings().end() ? "" : found->second->tools.at(0).name;
    }
    void keep(const std::string& server, std::shared_ptr<const catalogue::Listing> listed) {
        catalogue::Catalogue catalogue;
        const CatalogueFolder keeper(loop, catalogue, path, kLimits);
        catalogue.publish(server, std::move(listed));
    }
    fs::path only_file() {
        std::vector<fs::path> files;
        for (const auto& each : fs::directory_iterator(path)) files.push_back(each.path());
        EXPECT_EQ(files.size(), 1u);
        return files.at(0);
    }
    const test::PluginFolder folder;
    const std::string path = folder.path() + "/state/catalogue";
};

TEST_F(CatalogueFolderTest, KeepsWhatAServerListedForTheNextHost) {
    EXPECT_EQ(recalled("a"), "");
    keep("a", listing("1", "old"));
    keep("a", listing("1", "new"));
    EXPECT_EQ(recalled("a"), "new");
    EXPECT_EQ(recalled("b"), "") << "another program of the same definition";
    EXPECT_EQ(recalled("a", "2"), "");
    struct stat file {};
    ASSERT_EQ(::stat(only_file().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(CatalogueFolderTest, TheFirstOfSeveralListsIsKeptAtOnceAndTheLastBehindAPause) {
    test::TurnedLoop turned;
    turned.stand_still();
    catalogue::Catalogue catalogue;
    const CatalogueFolder keeper(turned, catalogue, path, kLimits);
    catalogue.publish("a", listing("1", "first"));
    EXPECT_TRUE(turned.run_until([&] { return recalled("a") == "first"; }));
    for (const char* tool : {"second", "third"}) catalogue.publish("a", listing("1", tool));
    turned.turn(CatalogueFolder::kPause);
    EXPECT_TRUE(turned.run_until([&] { return recalled("a") != "first"; }));
    EXPECT_EQ(recalled("a"), "third");
}

TEST_F(CatalogueFolderTest, KeepsOtherListsBesideTheToolsUntilSomebodyAsksForThem) {
    using catalogue::List;
    const auto prompts = [&](const catalogue::Origin& origin, List list = List::Prompts) {
        catalogue::Catalogue catalogue;
        const CatalogueFolder keeper(loop, catalogue, path, kLimits);
        const auto* kept = catalogue.items("a", origin, list);
        EXPECT_TRUE(!kept || kept->standing.recalled);
        return kept ? kept->items->texts : std::vector<std::string>();
    };
    const auto put = [&](const catalogue::Origin& origin, const std::string& text) {
        catalogue::Catalogue catalogue;
        const CatalogueFolder keeper(loop, catalogue, path, kLimits);
        catalogue.publish("a", List::Prompts,
                          std::make_shared<const catalogue::Items>(
                              catalogue::Items{origin, {text, R"({"name":"q"})"}}));
    };
    EXPECT_TRUE(prompts({"1", ""}).empty());
    keep("a", listing("1", "tool"));
    put({"1", "/here"}, R"({"name":"p","of":"here"})");
    put({"1", "/there"}, R"({"name":"p","of":"there"})");
    EXPECT_EQ(prompts({"1", "/here"}),
              (std::vector<std::string>{R"({"name":"p","of":"here"})", R"({"name":"q"})"}));
    EXPECT_EQ(prompts({"1", "/there"}).at(0), R"({"name":"p","of":"there"})");
    EXPECT_TRUE(prompts({"2", "/here"}).empty()) << "it is another server by now";
    EXPECT_TRUE(prompts({"1", "/here"}, List::Resources).empty());
    EXPECT_EQ(recalled("a"), "tool");
    for (const auto& each : fs::directory_iterator(path)) std::ofstream(each.path()) << "{";
    EXPECT_TRUE(prompts({"1", "/here"}).empty());
    put({"1", "/here"}, R"({"name":"new"})");
    EXPECT_EQ(prompts({"1", "/here"}).at(0), R"({"name":"new"})");
}

TEST_F(CatalogueFolderTest, SaysWhenAServerWasHeardLast) {
    const auto then = std::chrono::system_clock::from_time_t(1'790'000'000);
    const auto later = then + std::chrono::hours(1);
    for (const auto when : {then, later}) {
        catalogue::Catalogue catalogue;
        CatalogueFolder keeper(loop, catalogue, path, kLimits);
        keeper.recall(specs("1"));
        if (when == later) {
            ASSERT_NE(catalogue.standing("a"), nullptr);
            EXPECT_EQ(catalogue.standing("a")->listed, then);
            EXPECT_TRUE(catalogue.standing("a")->recalled);
        }
        catalogue.publish("a", listing("1", "tool"), when);
    }
    catalogue::Catalogue catalogue;
    CatalogueFolder(loop, catalogue, path, kLimits).recall(specs("1"));
    EXPECT_EQ(catalogue.standing("a")->listed, later) << "though it listed the same";
    fs::last_write_time(only_file(), fs::file_time_type::clock::now() + std::chrono::hours(99));
    catalogue::Catalogue another;
    CatalogueFolder(loop, another, path, kLimits).recall(specs("1"));
    EXPECT_LE(another.standing("a")->listed, std::chrono::system_clock::now());
}

TEST_F(CatalogueFolderTest, WhatAnotherHostHasHeardSinceStays) {
    const auto then = std::chrono::system_clock::from_time_t(1'790'000'000);
    const auto at = [&](int minutes) { return then + std::chrono::minutes(minutes); };
    {
        catalogue::Catalogue running, other;
        const CatalogueFolder slow(loop, running, path, kLimits);
        running.publish("a", listing("1", "old"), at(0));
        {
            const CatalogueFolder quick(loop, other, path, kLimits);
            other.publish("a", listing("1", "new"), at(1));
        }
    }  // the one that heard it first writes last
    EXPECT_EQ(recalled("a"), "new");
    {
        catalogue::Catalogue running, other;
        CatalogueFolder slow(loop, running, path, kLimits);
        slow.recall(specs("1"));
        {
            const CatalogueFolder quick(loop, other, path, kLimits);
            other.publish("a", listing("1", "newest"), at(2));
        }
        running.publish("a", listing("1", "new"), at(10));  // that is as it was
    }
    catalogue::Catalogue next;
    CatalogueFolder(loop, next, path, kLimits).recall(specs("1"));
    EXPECT_EQ(next.listings().at("a")->tools.at(0).name, "newest");
    EXPECT_EQ(next.standing("a")->listed, at(2)) << "what was heard again is another list";
}

TEST_F(CatalogueFolderTest, WhatIsTooLargeToBeKeptLeavesNothingOlderBehind) {
    keep("a", listing("1", "tool"));
    auto huge = *listing("1", "tool");
    huge.instructions = std::string(CatalogueFolder::kMostBytes, 'x');
    keep("a", std::make_shared<const catalogue::Listing>(std::move(huge)));
    EXPECT_EQ(recalled("a"), "");
    EXPECT_TRUE(fs::is_empty(path));
}

TEST_F(CatalogueFolderTest, WhatSomebodyElseCouldHavePutThereIsNotBelieved) {
    keep("a", listing("1", "tool"));
    const auto file = only_file();
    const auto elsewhere = folder.path() + "/file";
    fs::rename(file, elsewhere);
    fs::create_symlink(elsewhere, file);
    EXPECT_EQ(recalled("a"), "") << "a link";
    fs::remove(file);
    fs::rename(elsewhere, file);
    EXPECT_EQ(recalled("a"), "tool");
    // What belongs to b may not be told of a, whatever its file is called.
    fs::rename(file, path + "/" + core::sha256_hex("a\n2") + ".json");
    EXPECT_EQ(recalled("a", "2"), "");
}

TEST_F(CatalogueFolderTest, WhatNobodyCanTellAnotherTimeWhoseItIsIsNotKept) {
    keep("b", listing("1", "tool"));
    catalogue::Catalogue catalogue;
    {
        CatalogueFolder keeper(
            loop, catalogue, path, kLimits, core::log::Level::Warn, [](const std::string& server) {
                return server == "a" ? std::nullopt : std::optional<std::string>("");
            });
        keeper.recall(specs("1"));
        catalogue.publish("a", listing("1", "new"));
    }
    EXPECT_EQ(catalogue.listings().at("b")->tools.at(0).name, "tool");
    only_file();
}

TEST_F(CatalogueFolderTest, AListThatBrokeOffIsNotKept) {
    keep("a", listing("1", "whole"));
    keep("a", listing("1", "part", false));
    EXPECT_EQ(recalled("a"), "whole");
}

TEST_F(CatalogueFolderTest, AFileThatMakesNoSenseIsPassedOverAndWrittenAnew) {
    keep("a", listing("1", "tool"));
    const auto file = only_file();
    for (const std::string text : {"", "{", R"({"jsonrpc":"2.0","id":0,"result":{}})"}) {
        std::ofstream(file) << text;
        EXPECT_EQ(recalled("a"), "") << text;
    }
    keep("a", listing("1", "tool"));
    EXPECT_EQ(recalled("a"), "tool");
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    EXPECT_EQ(recalled("a"), "") << "anybody may have written it";
}

TEST_F(CatalogueFolderTest, TheOldestOfTooManyFilesGo) {
    fs::create_directories(path);
    fs::permissions(folder.path() + "/state", fs::perms::owner_all);
    fs::permissions(path, fs::perms::owner_all);
    const auto put = [](const std::string& each, std::size_t hours) {
        std::ofstream(each).put('x');
        fs::last_write_time(each, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    const auto name = [&](std::size_t i) {
        return path + "/" + core::sha256_hex(std::to_string(i)) + ".json";
    };
    const auto most = CatalogueFolder::kMostFiles;
    for (std::size_t i = 0; i < most; ++i) put(name(i), i + 1);
    put(path + "/notes.txt", 2 * most);
    keep("a", listing("1", "tool"));
    EXPECT_EQ(recalled("a"), "tool");
    EXPECT_TRUE(fs::exists(name(0)));
    EXPECT_FALSE(fs::exists(name(most - 1)));
    EXPECT_TRUE(fs::exists(path + "/notes.txt")) << "of somebody else";
}

TEST_F(CatalogueFolderTest, NothingIsWrittenBehindALink) {
    const auto elsewhere = folder.path() + "/elsewhere";
    fs::create_directories(elsewhere);
    fs::create_directories(folder.path() + "/state");
    fs::create_directory_symlink(elsewhere, path);
    keep("a", listing("1", "tool"));
    EXPECT_TRUE(fs::is_empty(elsewhere));
}

// No file may grow beyond so many bytes for as long as it lives: to who writes that is a full disk.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        handler_ = ::signal(SIGXFSZ, SIG_IGN);
        rlimit less = before_;
        less.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &less);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, handler_);
    }
    FullDisk(const FullDisk&) = delete;

private:
    rlimit before_{};
    sighandler_t handler_ = SIG_DFL;
};

TEST_F(CatalogueFolderTest, AFullDiskIsToldOnceAndLeavesWhatWasThere) {
    keep("a", listing("1", "old"));
    testing::internal::CaptureStderr();
    {
        const FullDisk full(10'000);
        catalogue::Catalogue catalogue;
        const CatalogueFolder keeper(loop, catalogue, path, kLimits);
        for (const char* tool : {"new", "newer"}) {
            auto large = *listing("1", tool);
            large.instructions = std::string(20'000, 'x');
            catalogue.publish("a", std::make_shared<const catalogue::Listing>(std::move(large)));
            const auto until = core::Clock::now() + 10 * CatalogueFolder::kPause;
            loop.run_until([] { return false; }, until);
        }
        catalogue.publish("b", listing("1", "small"));
    }
    const auto told = testing::internal::GetCapturedStderr();
    const std::string words = "what servers list is not kept for the next start: cannot write";
    EXPECT_NE(told.find(words), std::string::npos) << told;
    EXPECT_EQ(told.find(words), told.rfind(words)) << told;
    EXPECT_EQ(recalled("a"), "old");
    EXPECT_EQ(recalled("b"), "small") << "the others are kept";
}

TEST_F(CatalogueFolderTest, WhoIsKilledWhileItWritesLeavesTheOldListOrTheNewOne) {
    int killed = 0;
    for (int nth = 1;; ++nth) {
        keep("a", listing("1", "old"));
        const auto outcome = test::killed_at(nth, folder.path(), [&] {
            keep("a", listing("1", "new"));
            return 0;
        });
        const auto found = recalled("a");
        if (!outcome.killed) {
            EXPECT_EQ(found, "new");
            break;
        }
        ++killed;
        EXPECT_TRUE(found == "old" || found == "new")
            << "killed before " << outcome.last_call << " (" << nth << "): " << found;
    }
    EXPECT_GE(killed, 3);
}

// Two hosts of one process have one number, and each has a thread that writes.
TEST_F(CatalogueFolderTest, HostsThatWriteTheSameFileLeaveTheListOfOneOfThem) {
    for (int round = 0; round < 50; ++round) {
        {
            catalogue::Catalogue one, other;
            const CatalogueFolder first(loop, one, path, kLimits);
            const CatalogueFolder second(loop, other, path, kLimits);
            auto large = *listing("1", "large");
            large.instructions = std::string(200'000, 'x');
            one.publish("a", std::make_shared<const catalogue::Listing>(std::move(large)));
            other.publish("a", listing("1", "small"));
        }
        testing::internal::CaptureStderr();
        const auto found = recalled("a");
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "in round " << round;
        ASSERT_TRUE(found == "large" || found == "small") << found;
    }
    only_file();
}

TEST_F(CatalogueFolderTest, WhereNothingCanBeKeptTheHostGoesOn) {
    std::ofstream(folder.path() + "/state") << "a file";
    keep("a", listing("1", "tool"));
    EXPECT_EQ(recalled("a"), "");
}

}  // namespace
}  // namespace patchbay::app
