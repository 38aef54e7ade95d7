#include "app/output.hpp"

#include "app/verbs.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(Table, AlignsColumnsByWhatIsSeen) {
    EXPECT_EQ(table_text({{{"ID"}, {"STATE"}, {"N"}},
                          {{"gr\xc3\xbc\xc3\x9f"}, {"ready"}, {"7"}},
                          {{"x"}, {"auth_required"}, {"12"}}},
                         Look::Plain),
              "ID    STATE          N\n"
              "gr\xc3\xbc\xc3\x9f  ready          7\n"
              "x     auth_required  12\n");
}

TEST(Table, IsColouredOnlyWhenAsked) {
    const std::vector<std::vector<Cell>> rows{{{"a"}, {"ready", "green"}, {"1"}}};
    EXPECT_EQ(table_text(rows, Look::Plain), "a  ready  1\n");
    EXPECT_EQ(table_text(rows, Look::Terminal), "a  ready  1\n");
    EXPECT_EQ(table_text(rows, Look::Colours), "a  \x1b[32mready\x1b[0m  1\n");
}

TEST(Table, LetsNoForeignTextMoveTheCursorOfATerminal) {
    const std::vector<std::vector<Cell>> rows{{{"a\x1b[2Jb\r"}, {"c"}}};
    EXPECT_EQ(table_text(rows, Look::Plain), "a\x1b[2Jb\r  c\n");
    EXPECT_EQ(table_text(rows, Look::Terminal), "a\xef\xbf\xbd[2Jb\xef\xbf\xbd  c\n");
}

TEST(Table, OfRowsWithFewerCellsEndsEarly) {
    EXPECT_EQ(table_text({{{"one"}}, {{"1"}, {"2"}}}, Look::Plain), "one\n1  2\n");
    EXPECT_EQ(table_text({}, Look::Plain), "");
}

TEST(SavedFiles, AreNamedByTheirTypeAndNeverReplaceAnother) {
    const test::ScratchFolder folder;
    std::ofstream(folder / "image-1.png") << "mine";
    const auto saved = save_new_file(folder.path(), "image", "image/png", "new");
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_EQ(*saved, folder / "image-2.png");
    std::string kept;
    std::ifstream(folder / "image-1.png") >> kept;
    EXPECT_EQ(kept, "mine");
}

TEST(SavedFiles, TakeNoPathFromTheServer) {
    const test::ScratchFolder folder;
    const auto saved = save_new_file(folder.path(), "audio", "audio/../../../etc/x", "y");
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_EQ(*saved, folder / "audio-1.bin");
}

TEST(SavedFiles, DoNotFollowALinkThatWaitsForThem) {
    const test::ScratchFolder folder;
    fs::create_symlink(folder / "elsewhere", folder / "image-1.png");
    const auto saved = save_new_file(folder.path(), "image", "image/png", "new");
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_EQ(*saved, folder / "image-2.png");
    EXPECT_FALSE(fs::exists(folder / "elsewhere"));
}

TEST(SavedFiles, WithoutAFolderAreAnErrorThatNamesIt) {
    const auto saved = save_new_file("/nonexistent/folder", "image", "image/png", "new");
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message, HasSubstr("/nonexistent/folder/image-1.png"));
}

TEST(SavedFiles, ThatDoNotFitAreAnErrorAndLeaveNothing) {
    const test::ScratchFolder folder;
    rlimit usual{};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit small{10, usual.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto saved = save_new_file(folder.path(), "image", "image/png", "more than ten bytes");
    ::setrlimit(RLIMIT_FSIZE, &usual);
    std::signal(SIGXFSZ, handler);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::Io);
    EXPECT_THAT(saved.error().message, HasSubstr("image-1.png: File too large"));
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ExitCodes, SayTheKindOfTheTrouble) {
    EXPECT_EQ(exit_code_of(ErrorCode::Invalid), 3);
    EXPECT_EQ(exit_code_of(ErrorCode::Unavailable), 5);
    EXPECT_EQ(exit_code_of(ErrorCode::AuthRequired), 5);
    EXPECT_EQ(exit_code_of(ErrorCode::NotFound), 6);
    EXPECT_EQ(exit_code_of(ErrorCode::Denied), 7);
    EXPECT_EQ(exit_code_of(ErrorCode::Timeout), 8);
    EXPECT_EQ(exit_code_of(ErrorCode::Cancelled), 130);
    EXPECT_EQ(exit_code_of(ErrorCode::Protocol), 1);
}

}  // namespace
}  // namespace patchbay::app
