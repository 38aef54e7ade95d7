// mcp-auth.json: what is kept, what is refused, and that nothing is lost.
#include "auth/store_file.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

namespace patchbay::auth {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

class StoreFileTest : public ::testing::Test {
protected:
    std::string state() const { return folder.path() + "/state/patchbay"; }
    std::string file(const std::string& name = "mcp-auth.json") const {
        return state() + "/" + name;
    }
    json::object record(const std::string& server) const {
        const auto contents = store.read();
        EXPECT_TRUE(contents) << contents.error().message;
        const auto* found =
            contents ? contents->file.at("servers").get_object().if_contains(server) : nullptr;
        return found ? found->get_object() : json::object();
    }
    void put(const std::string& server, const std::string& token) {
        const auto put = store.replace(server, {{"access_token", token}});
        ASSERT_TRUE(put) << put.error().message;
    }
    std::string refusal() const {
        const auto contents = store.read();
        return contents ? "read" : contents.error().message;
    }
    static mode_t mode_of(const std::string& path) {
        struct stat info {};
        EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
        return info.st_mode & 07777;
    }

    const test::PluginFolder folder;
    const StoreFile store{state()};
};

TEST_F(StoreFileTest, IsEmptyBeforeTheFirstSignIn) {
    EXPECT_TRUE(record("a").empty());
    EXPECT_FALSE(std::filesystem::exists(state())) << "reading makes nothing";
}

TEST_F(StoreFileTest, KeepsRecordsWhereOnlyTheirOwnerReaches) {
    put("a", "one");
    put("b", "two");
    EXPECT_EQ(record("a").at("access_token"), "one");
    EXPECT_EQ(record("b").at("access_token"), "two");
    EXPECT_EQ(mode_of(state()), 0700u);
    EXPECT_EQ(mode_of(file()), 0600u);
    EXPECT_EQ(mode_of(file("mcp-auth.json.previous")), 0600u);
    EXPECT_FALSE(std::filesystem::exists(file("mcp-auth.json.new")));
}

TEST_F(StoreFileTest, KeepsWhatItDoesNotKnow) {
    put("a", "one");
    std::ofstream(file()) << R"({"version":1,"note":"mine","servers":{"a":{"x":1}}})";
    put("b", "two");
    const auto contents = store.read();
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->file.at("note"), "mine");
    EXPECT_EQ(record("a").at("x"), 1);
}

TEST_F(StoreFileTest, LeavesNothingOfAnErasedRecord) {
    put("a", "a-secret-token");
    put("b", "two");
    ASSERT_TRUE(store.replace("a", {}));
    EXPECT_TRUE(record("a").empty());
    EXPECT_EQ(record("b").at("access_token"), "two");
    for (const auto& each : std::filesystem::directory_iterator(state()))
        EXPECT_THAT(test::read_file(each.path()), ::testing::Not(HasSubstr("a-secret-token")))
            << each.path();
}

TEST_F(StoreFileTest, GoesOnWithThePreviousCopyOfATruncatedFile) {
    put("a", "one");
    put("b", "two");
    put("c", "three");
    std::filesystem::resize_file(file(), 20);
    const auto contents = store.read();
    ASSERT_TRUE(contents) << contents.error().message;
    EXPECT_THAT(contents->warning, HasSubstr("is damaged"));
    EXPECT_THAT(contents->warning, HasSubstr("previous copy"));
    EXPECT_EQ(record("b").at("access_token"), "two");
    put("d", "four");
    EXPECT_EQ(record("a").at("access_token"), "one");
    EXPECT_EQ(record("d").at("access_token"), "four");
    EXPECT_TRUE(std::filesystem::exists(file("mcp-auth.json.damaged"))) << "nothing is lost";
}

TEST_F(StoreFileTest, TouchesNoFileThatIsDamagedBeyondItsCopy) {
    put("a", "one");
    std::ofstream(file()) << "{\"version\": 1, by hand";
    std::filesystem::remove(file("mcp-auth.json.previous"));
    EXPECT_THAT(refusal(), HasSubstr("mend it, or move it away and sign in again"));
    EXPECT_FALSE(store.replace("b", {{"access_token", "two"}}));
    EXPECT_EQ(test::read_file(file()), "{\"version\": 1, by hand");
}

TEST_F(StoreFileTest, TouchesNoFileOfALaterVersion) {
    put("a", "one");
    std::ofstream(file()) << R"({"version":2,"servers":{}})";
    EXPECT_THAT(refusal(), HasSubstr("has version 2, this patchbay reads version 1"));
    EXPECT_FALSE(store.replace("b", {{"access_token", "two"}}));
    EXPECT_EQ(test::read_file(file()), R"({"version":2,"servers":{}})");
}

TEST_F(StoreFileTest, RefusesWhatOthersCanReach) {
    put("a", "one");
    ::chmod(file().c_str(), 0640);
    EXPECT_THAT(refusal(), HasSubstr("has mode 0640"));
    EXPECT_THAT(refusal(), HasSubstr("chmod 600 " + file()));
    ::chmod(file().c_str(), 0600);
    ::chmod(state().c_str(), 0755);
    EXPECT_THAT(refusal(), HasSubstr("chmod 700 " + state()));
    EXPECT_FALSE(store.replace("a", {{"access_token", "two"}}));
    ::chmod(state().c_str(), 0700);
    EXPECT_EQ(record("a").at("access_token"), "one");
}

TEST_F(StoreFileTest, BelievesNothingWhereOthersCanPutAnotherDirectory) {
    put("a", "one");
    const auto above = folder.path() + "/state";
    ::chmod(above.c_str(), 0777);
    EXPECT_THAT(refusal(), HasSubstr("what is kept in " + state() + " is not believed"));
    EXPECT_THAT(refusal(), HasSubstr("\"" + above + "\": everybody may write it"));
    EXPECT_FALSE(store.replace("a", {{"access_token", "two"}}));
    EXPECT_FALSE(store.lock_file("a"));
    ::chmod(above.c_str(), 0755);
    EXPECT_EQ(record("a").at("access_token"), "one");
}

TEST_F(StoreFileTest, FollowsNoSymbolicLink) {
    put("a", "one");
    const auto elsewhere = folder.write("elsewhere.json", R"({"version":1,"servers":{}})");
    std::filesystem::remove(file());
    std::filesystem::create_symlink(elsewhere, file());
    EXPECT_THAT(refusal(), HasSubstr("is a symbolic link"));
    EXPECT_FALSE(store.replace("a", {{"access_token", "two"}}));
    EXPECT_EQ(test::read_file(elsewhere), R"({"version":1,"servers":{}})");

    const auto linked = folder.path() + "/linked";
    std::filesystem::create_directory_symlink(state(), linked);
    EXPECT_FALSE(StoreFile(linked).read());
}

TEST_F(StoreFileTest, SaysWhatIsFull) {
    put("a", "one");
    const rlimit before = [] {
        rlimit limit{};
        ::getrlimit(RLIMIT_FSIZE, &limit);
        return limit;
    }();
    rlimit tiny = before;
    tiny.rlim_cur = 10;
    const auto handled = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
    const auto put_b = store.replace("b", {{"access_token", "two"}});
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handled);
    ASSERT_FALSE(put_b);
    EXPECT_THAT(put_b.error().message, HasSubstr("cannot write " + file("mcp-auth.json.new")));
    EXPECT_EQ(record("a").at("access_token"), "one") << "the old login is kept";
    EXPECT_FALSE(std::filesystem::exists(file("mcp-auth.json.new")));
}

TEST_F(StoreFileTest, LosesNoRecordWhenManyWriteAtOnce) {
    constexpr int kWriters = 8, kRounds = 10;
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i)
        writers.emplace_back([this, i] {
            for (int round = 0; round < kRounds; ++round)
                EXPECT_TRUE(
                    StoreFile(state()).replace("server" + std::to_string(i), {{"round", round}}));
        });
    for (auto& writer : writers) writer.join();
    for (int i = 0; i < kWriters; ++i)
        EXPECT_EQ(record("server" + std::to_string(i)).at("round"), kRounds - 1);
}

TEST_F(StoreFileTest, TakesNothingForAStoreThatHasNotItsForm) {
    put("a", "one");
    std::filesystem::remove(file("mcp-auth.json.previous"));
    for (const char* text : {"", "[]", "{}", R"({"version":1})", R"({"servers":{}})",
                             R"({"version":"1","servers":{}})", R"({"version":1,"servers":[]})"}) {
        std::ofstream(file()) << text;
        EXPECT_THAT(refusal(), HasSubstr("is damaged")) << text;
    }
    std::ofstream(file()) << R"({"version":0,"servers":{}})";
    EXPECT_THAT(refusal(), HasSubstr("has version 0"));
}

TEST_F(StoreFileTest, HasAnOlderLoginStandInForDamageOnly) {
    put("a", "one");
    put("a", "two");
    ::chmod(file().c_str(), 0640);
    EXPECT_THAT(refusal(), HasSubstr("has mode 0640")) << "the previous copy would hide it";
    ::chmod(file().c_str(), 0600);
    std::ofstream(file()) << "{";
    EXPECT_EQ(record("a").at("access_token"), "one");
    ::chmod(file("mcp-auth.json.previous").c_str(), 0640);
    EXPECT_THAT(refusal(), HasSubstr("there is no previous copy"));
}

TEST_F(StoreFileTest, WritesNothingToEraseWhatIsNotThere) {
    put("a", "one");
    put("a", "two");
    const auto before = test::read_file(file());
    struct stat was {
    }, is{};
    ASSERT_EQ(::stat(file().c_str(), &was), 0);
    ASSERT_TRUE(store.replace("b", {}));
    ASSERT_EQ(::stat(file().c_str(), &is), 0);
    EXPECT_EQ(was.st_ino, is.st_ino);
    EXPECT_EQ(test::read_file(file()), before);
    EXPECT_FALSE(std::filesystem::exists(file("mcp-auth.json.previous")))
        << "one that was killed while erasing may have left it";
}

TEST_F(StoreFileTest, MendsADamagedFileWhenItErases) {
    put("a", "one");
    put("b", "two");
    std::ofstream(file()) << "{";
    ASSERT_TRUE(store.replace("nobody", {}));
    EXPECT_EQ(record("a").at("access_token"), "one");
    EXPECT_EQ(test::read_file(file("mcp-auth.json.damaged")), "{");
    std::ofstream(file()) << "[";
    EXPECT_FALSE(store.read()) << "what was erased does not come back from a copy";
}

TEST_F(StoreFileTest, KeepsTheLastDamageOnly) {
    put("a", "one");
    for (const char* damage : {"{1", "{2"}) {
        put("a", "two");
        std::ofstream(file()) << damage;
        put("b", "three");
        EXPECT_EQ(test::read_file(file("mcp-auth.json.damaged")), damage);
    }
}

TEST_F(StoreFileTest, TakesTheLastLoginForThePreviousCopy) {
    for (const char* token : {"one", "two", "three"}) put("a", token);
    EXPECT_THAT(test::read_file(file("mcp-auth.json.previous")), HasSubstr("two"));
    EXPECT_FALSE(std::filesystem::exists(file("mcp-auth.json.previous.new")));
}

TEST_F(StoreFileTest, WritesThroughNothingThatLiesWhereItsDraftGoes) {
    put("a", "one");
    const auto elsewhere = folder.write("elsewhere", "mine");
    std::filesystem::create_symlink(elsewhere, file("mcp-auth.json.new"));
    std::filesystem::create_symlink(elsewhere, file("mcp-auth.json.previous.new"));
    put("a", "two");
    EXPECT_EQ(test::read_file(elsewhere), "mine");
    EXPECT_EQ(record("a").at("access_token"), "two");
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file())));
}

TEST_F(StoreFileTest, ReadsNoMoreThanItsLimit) {
    put("a", "one");
    const std::string start = R"({"version":1,"servers":{},"x":")", end = "\"}";
    const auto write = [&](std::size_t bytes) {
        std::ofstream(file()) << start << std::string(bytes - start.size() - end.size(), 'x')
                              << end;
    };
    write(StoreFile::kFileBytes);
    EXPECT_EQ(refusal(), "read");
    write(StoreFile::kFileBytes + 1);
    EXPECT_NE(refusal(), "read");
}

TEST_F(StoreFileTest, HasALockForEachServerThatOnlyItsOwnerReaches) {
    const auto a = store.lock_file("a"), again = store.lock_file("a"), b = store.lock_file("b");
    ASSERT_TRUE(a && again && b);
    for (const int fd : {*a, *again, *b}) ::close(fd);
    std::vector<std::string> locks;
    for (const auto& each : std::filesystem::directory_iterator(state()))
        locks.push_back(each.path());
    ASSERT_EQ(locks.size(), 2u);
    for (const auto& lock : locks) {
        EXPECT_EQ(mode_of(lock), 0600u);
        EXPECT_THAT(lock, ::testing::MatchesRegex(file("mcp-auth\\.[0-9a-f]{16}\\.lock")));
        std::filesystem::remove(lock);
        std::filesystem::create_symlink("/dev/null", lock);
    }
    const auto linked = store.lock_file("a");
    ASSERT_FALSE(linked);
    EXPECT_THAT(linked.error().message, HasSubstr("cannot write " + file("mcp-auth.")));
}

}  // namespace
}  // namespace patchbay::auth
