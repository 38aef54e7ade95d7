// The file that `patchbay connect` writes: what it may be, whose, and what becomes of it where writing it is
// not possible or is cut off.
#include "integration/connect_fixture.hpp"
#include "support/killed_at.hpp"

#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::test {
namespace {

TEST_F(Connect, ALinkThatCameWithAProjectDoesNotLeadOutOfIt) {
    const auto link = home.work() / ".mcp.json";
    put(".claude.json", "{}");
    for (const auto& target : {file(".claude.json"), file("new/folder/file")}) {
        fs::create_symlink(target, link);
        const auto refused = connect({"claude", "--project"});
        EXPECT_EQ(refused.exit_code, 7) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr("leads out of the project, to " + target));
        fs::remove(link);
    }
    fs::create_directory_symlink(home.root(), home.work() / ".cursor");
    EXPECT_EQ(connect({"cursor", "--project"}).exit_code, 7);
    EXPECT_EQ(text(".claude.json"), "{}");
    EXPECT_FALSE(fs::exists(file("new")) || fs::exists(file("mcp.json")));
    fs::create_symlink("shared.json", link);
    EXPECT_EQ(connect({"claude", "--project"}).exit_code, 0);
    EXPECT_TRUE(fs::exists(home.work() / "shared.json"));
}

TEST_F(Connect, LeavesNumberedFilesBesideItAlone) {
    put(".cursor/mcp.json", "{}");
    for (const auto* mine : {".cursor/mcp.json.1", ".cursor/mcp.json.20251101"})
        fs::last_write_time(put(mine, "mine"),
                            fs::file_time_type::clock::now() - std::chrono::hours(1000));
    ASSERT_EQ(connect({"cursor"}).exit_code, 0);
    ASSERT_EQ(connect({"cursor", "--undo"}).exit_code, 0);
    EXPECT_EQ(text(".cursor/mcp.json.1"), "mine");
    EXPECT_EQ(text(".cursor/mcp.json.20251101"), "mine");
}

TEST_F(Connect, AFileThatDoesNotReadIsNotWritten) {
    struct Case {
        const char *client, *file, *text, *place;
    };
    const Case cases[] = {
        {"cursor", ".cursor/mcp.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n", ":3:3: not JSON: "},
        {"cursor", ".cursor/mcp.json", "{\"mcpServers\": \"none\"}",
         ":1:16: \"mcpServers\" holds text"},
        {"cursor", ".cursor/mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {}}",
         ":1:20: the key"},
        {"cursor", ".cursor/mcp.json", "{\"a\": \"\xff\"}", ":1:1: this line is not valid UTF-8"},
        {"codex", ".codex/config.toml", "a = 1\nb = \n", ":2:"},
        {"goose", "config/goose/config.yaml", "a: [1\n", ": not YAML"},
        {"goose", "config/goose/config.yaml", "extensions: &e {a: {}}\nb: *e\n",
         "--print shows the entry"},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.text);
        put(each.file, each.text);
        const auto before = all();
        const auto refused = connect({each.client});
        EXPECT_THAT(refused.exit_code, ::testing::AnyOf(4, 1));
        EXPECT_THAT(refused.err,
                    AllOf(StartsWith("error: " + file(each.file)), HasSubstr(each.place)));
        EXPECT_EQ(text(each.file), each.text);
        EXPECT_EQ(connect({each.client, "--dry-run"}).exit_code, refused.exit_code);
        fs::remove(file(each.file));
    }
}

TEST_F(Connect, AReadOnlyFileALinkAndWhatIsNoFile) {
    const auto path = put(".cursor/mcp.json", "{}");
    ::chmod(path.c_str(), 0444);
    const auto refused = connect({"cursor"});
    EXPECT_EQ(refused.exit_code, 7);
    EXPECT_THAT(refused.err, HasSubstr("is read-only; to have it written, run: chmod u+w "));
    ::chmod(path.c_str(), 0644);

    // Where dotfiles are kept elsewhere, the link stays a link.
    put("dotfiles/zed.json", "{}\n");
    fs::create_directories(home.root() / "config/zed");
    fs::create_symlink("../../dotfiles/zed.json", home.root() / "config/zed/settings.json");
    ASSERT_EQ(connect({"zed"}).exit_code, 0);
    EXPECT_TRUE(fs::is_symlink(file("config/zed/settings.json")));
    EXPECT_THAT(text("dotfiles/zed.json"), HasSubstr(program));
    ASSERT_EQ(connect({"zed", "--undo"}).exit_code, 0);
    EXPECT_EQ(text("dotfiles/zed.json"), "{}\n");
    fs::create_symlink("zed.json", home.root() / "dotfiles/again.json");
    fs::remove(file("config/zed/settings.json"));
    fs::create_symlink("../../dotfiles/again.json", home.root() / "config/zed/settings.json");
    EXPECT_THAT(connect({"zed"}).err, HasSubstr("which is a link again"));

    fs::create_directories(home.root() / ".kiro/settings");
    ASSERT_EQ(::mkfifo(file(".kiro/settings/mcp.json").c_str(), 0600), 0);
    EXPECT_THAT(connect({"kiro"}).err, HasSubstr("is no regular file"));
    fs::create_hard_link(path, home.root() / "second");
    EXPECT_THAT(connect({"cursor"}).err, HasSubstr("has 2 names"));
}

TEST_F(Connect, AFileOfAnotherUserStays) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    const auto path = put(".cursor/mcp.json", "{}");
    ASSERT_EQ(::chown(path.c_str(), 1234, 1234), 0);
    const auto refused = connect({"cursor"});
    EXPECT_EQ(refused.exit_code, 7);
    EXPECT_THAT(refused.err, HasSubstr("belongs to user 1234, not to you"));
    EXPECT_EQ(text(".cursor/mcp.json"), "{}");
}

TEST_F(Connect, AFullDiskLeavesTheFileAsItWas) {
    const std::string before = "{\"a\": \"" + std::string(40'000, 'x') + "\"}\n";
    put(".cursor/mcp.json", before);
    auto command = home.patchbay({"connect", "cursor"});
    command.argv = {"/bin/sh", "-c", "ulimit -f 8; exec '" + command.argv[0] + "' connect cursor"};
    const auto refused = run(command);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("File too large"));
    EXPECT_EQ(text(".cursor/mcp.json"), before);
    for (const auto& each : fs::directory_iterator(home.root() / ".cursor"))
        EXPECT_EQ(each.path().filename(), "mcp.json");
    EXPECT_EQ(connect({"cursor"}).exit_code, 0);
}

TEST_F(Connect, KilledAtAnyMomentItLeavesTheOldTextOrTheNewOneAndAWayBack) {
    const std::string old = "{\n  // mine\n  \"mcpServers\": {}\n}\n";
    home.environment["ASAN_OPTIONS"] = "detect_leaks=0";  // that does not work under ptrace
    put(".cursor/mcp.json", old);
    ASSERT_EQ(connect({"cursor"}).exit_code, 0);
    const auto connected = text(".cursor/mcp.json");
    ASSERT_EQ(connect({"cursor", "--undo"}).exit_code, 0);
    for (const bool undo : {false, true}) {
        SCOPED_TRACE(undo ? "undo" : "connect");
        const auto command =
            home.patchbay(undo ? Words{"connect", "cursor", "--undo"} : Words{"connect", "cursor"});
        int killed = 0, changed = 0;
        for (int nth = 1;; ++nth) {
            fs::remove_all(home.root() / "state/patchbay");
            fs::remove_all(home.root() / ".cursor");
            put(".cursor/mcp.json", old);
            if (undo) {
                ASSERT_EQ(connect({"cursor"}).exit_code, 0);
            }
            const auto outcome = killed_at(nth, home.root(), [&] { return become(command); });
            const auto now = text(".cursor/mcp.json");
            EXPECT_TRUE(now == old || now == connected) << outcome.last_call << "\n" << now;
            if (!outcome.killed) {
                EXPECT_EQ(outcome.exit_code, 0);
                break;
            }
            ++killed;
            changed += now == (undo ? old : connected);
            // Whatever was left, it can be connected and taken out again.
            EXPECT_EQ(connect({"cursor"}).exit_code, 0);
            EXPECT_EQ(text(".cursor/mcp.json"), connected) << outcome.last_call << " " << nth;
            EXPECT_EQ(connect({"cursor", "--undo"}).exit_code, 0);
            EXPECT_EQ(json::parse(text(".cursor/mcp.json"), {}, {.allow_comments = true}),
                      json::parse(R"({"mcpServers": {}})"))
                << outcome.last_call << " " << nth;
        }
        EXPECT_GE(killed, 8);
        EXPECT_GE(changed, 1);
    }
}

TEST_F(Connect, KilledAsItUndoesItStillHasTheEntryThatItTookThePlaceOf) {
    const std::string old = R"({"mcpServers": {"patchbay": {"command": "mine"}}})";
    home.environment["ASAN_OPTIONS"] = "detect_leaks=0";  // that does not work under ptrace
    const auto command = home.patchbay({"connect", "cursor", "--undo"});
    int killed = 0;
    for (int nth = 1;; ++nth) {
        fs::remove_all(home.root() / "state/patchbay");
        put(".cursor/mcp.json", old);
        ASSERT_EQ(connect({"cursor", "--replace"}).exit_code, 0);
        const auto outcome = killed_at(nth, home.root(), [&] { return become(command); });
        if (text(".cursor/mcp.json") != old) {
            EXPECT_EQ(connect({"cursor", "--undo"}).exit_code, 0);
        }
        EXPECT_EQ(text(".cursor/mcp.json"), old) << outcome.last_call << " " << nth;
        if (!outcome.killed) break;
        ++killed;
    }
    EXPECT_GE(killed, 6);
}

}  // namespace
}  // namespace patchbay::test
