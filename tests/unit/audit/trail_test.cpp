// The files of a trail: one chain through all of them, whoever writes, whatever is found.
#include "audit/trail.hpp"

#include "audit/verify.hpp"
#include "core/private_file.hpp"
#include "support/killed_at.hpp"
#include "support/scratch_folder.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

namespace patchbay::audit {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string record(int number) {
    return "\"at\":\"2026-07-28T09:00:00.000Z\",\"kind\":\"call\",\"number\":" +
           std::to_string(number) + "\n";
}

std::string slurp(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}
void put(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
}

struct ATrail : testing::Test {
    test::ScratchFolder state;
    test::HandTime time;
    config::AuditSettings settings;

    Trail trail() const { return {state.path(), settings, time}; }
    Result<void> append(int from, int to) const {
        std::string records;
        for (int i = from; i <= to; ++i) records += record(i);
        return trail().append(records, 5s);
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& each : fs::directory_iterator(state / "audit"))
            if (each.path().extension() == ".jsonl") found.push_back(each.path());
        std::sort(found.begin(), found.end());
        return found;
    }
    Verdict verdict() const {
        auto judged = verify(state.path());
        EXPECT_TRUE(judged) << judged.error().message;
        return judged ? *judged : Verdict();
    }
    std::vector<std::string> faults() const {
        std::vector<std::string> all;
        for (const auto& fault : verdict().faults)
            all.push_back(fs::path(fault.file).filename().string() + ":" +
                          std::to_string(fault.line) + ": " + fault.what);
        return all;
    }
    std::vector<std::string> kinds() const {
        std::vector<std::string> all;
        EXPECT_TRUE(each_line(state / "audit", [&](const Line& line) {
            const auto at = line.text.find("\"kind\":\"");
            if (at == line.text.npos) return true;
            const auto rest = line.text.substr(at + 8);
            all.emplace_back(rest.substr(0, rest.find('"')));
            return true;
        }));
        return all;
    }
};

TEST_F(ATrail, IsOneChainWhoeverAppends) {
    auto first = trail(), second = trail();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(first.append(record(2 * i), 5s));
        ASSERT_TRUE(second.append(record(2 * i + 1), 5s));
    }
    const auto judged = verdict();
    EXPECT_TRUE(judged.sound()) << to_string(judged.faults.front());
    EXPECT_EQ(judged.records, 10u);
    EXPECT_EQ(judged.last, 10u);
    EXPECT_THAT(files(), SizeIs(1));
}

TEST_F(ATrail, IsOneChainOfManyThreads) {
    settings.file_bytes = 20'000;
    settings.files = 100;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            auto mine = trail();
            for (int i = 0; i < 50; ++i) EXPECT_TRUE(mine.append(record(i), 60s));
        });
    for (auto& each : threads) each.join();
    const auto judged = verdict();
    EXPECT_THAT(judged.faults, IsEmpty());
    EXPECT_EQ(judged.records, 200u);
    EXPECT_GT(judged.files, 1u);
}

TEST_F(ATrail, IsItsUsersAlone) {
    ASSERT_TRUE(append(1, 1));
    struct stat info {};
    ASSERT_EQ(::stat(files().front().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat((state / "audit").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    ASSERT_EQ(::stat((state / "audit.key").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(ATrail, BeginsAnotherFileBySizeAndByAge) {
    settings.file_bytes = 800;
    ASSERT_TRUE(append(1, 4));
    ASSERT_TRUE(append(5, 5));
    EXPECT_THAT(files(), SizeIs(2));
    settings.file_bytes = 1u << 20;
    settings.file_age = 1h;
    time.turn(59min);
    ASSERT_TRUE(append(6, 6));
    EXPECT_THAT(files(), SizeIs(2));
    time.turn(2min);
    ASSERT_TRUE(append(7, 7));
    EXPECT_THAT(files(), SizeIs(3));
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(ATrail, TellsWhichRecordsItHasPutAway) {
    settings.file_bytes = 500;
    settings.files = 2;
    for (int i = 1; i <= 8; ++i) ASSERT_TRUE(append(i, i));
    EXPECT_THAT(files(), SizeIs(2));
    const auto judged = verdict();
    EXPECT_THAT(judged.faults, IsEmpty());
    ASSERT_THAT(judged.notes, SizeIs(1));
    EXPECT_THAT(judged.notes.front().what, HasSubstr("were put away"));
    fs::remove(files().front());
    EXPECT_THAT(faults(), ElementsAre(HasSubstr("those before it are missing")))
        << "what somebody else takes away is not told by the trail";
}

TEST_F(ATrail, MendsALineThatAKilledProcessLeft) {
    ASSERT_TRUE(append(1, 2));
    const auto file = files().front();
    put(file, slurp(file) + "{\"n\":3,\"at\":\"20");
    auto judged = verdict();
    EXPECT_THAT(judged.faults, IsEmpty()) << "nothing is missing that was there";
    ASSERT_THAT(judged.notes, SizeIs(1));
    EXPECT_EQ(judged.notes.front().line, 3u);
    ASSERT_TRUE(append(3, 3));
    EXPECT_THAT(kinds(), ElementsAre("call", "call", "mended", "call"));
    judged = verdict();
    EXPECT_THAT(judged.faults, IsEmpty()) << to_string(judged.faults.front());
    ASSERT_THAT(judged.notes, SizeIs(1));
    EXPECT_THAT(judged.notes.front().what, HasSubstr("as record 3 tells"));
    // Another torn line than the one that was mended is none that the trail knows of.
    auto text = slurp(file);
    text.replace(text.find("\"at\":\"20\n"), 9, "\"at\":\"21\n");
    put(file, text);
    EXPECT_THAT(faults(), ElementsAre(HasSubstr(":3: is no record")));
}

TEST_F(ATrail, IsMendedWhereverItsLastBatchWasCutOff) {
    ASSERT_TRUE(append(1, 2));
    const auto before = slurp(files().front()), head = slurp(state / "audit/head");
    ASSERT_TRUE(append(3, 5));
    const auto after = slurp(files().front());
    for (auto size = before.size(); size <= after.size(); ++size) {
        // As a process leaves it that is killed in the middle of writing, before it has told the head.
        put(files().front(), after.substr(0, size));
        put(state / "audit/head", head);
        ASSERT_TRUE(append(6, 6)) << size;
        EXPECT_THAT(faults(), IsEmpty()) << size;
    }
}

TEST_F(ATrail, TellsThatItsEndIsMissing) {
    ASSERT_TRUE(append(1, 3));
    const auto file = files().front();
    const auto text = slurp(file);
    put(file, text.substr(0, text.rfind('\n', text.size() - 2) + 1));
    EXPECT_THAT(faults(),
                ElementsAre(HasSubstr("names record 3, and the last one that is there is 2")));
    ASSERT_TRUE(append(4, 4));
    EXPECT_THAT(kinds(), ElementsAre("call", "call", "cut", "call"));
    EXPECT_THAT(faults(), ElementsAre(HasSubstr("is record 4 where 3 was expected")))
        << "what is missing stays so";
    fs::remove(files().back());
    EXPECT_THAT(faults(), ElementsAre(HasSubstr("names record 5")));
    ASSERT_TRUE(append(5, 5));
    EXPECT_THAT(faults(), SizeIs(1));
}

TEST_F(ATrail, GoesOnWithoutItsHeadAndTellsThatItWasMissing) {
    ASSERT_TRUE(append(1, 3));
    fs::remove(state / "audit/head");
    EXPECT_THAT(faults(), ElementsAre(HasSubstr("is missing or was changed")));
    ASSERT_TRUE(append(4, 4));
    EXPECT_THAT(kinds(), ElementsAre("call", "call", "call", "cut", "call"));
    EXPECT_THAT(faults(), IsEmpty());
    put(state / "audit/head",
        "{\"file\":1,\"bytes\":9,\"n\":1,\"since\":1,\"last\":\"x\",\"mac\":\"y\"}");
    EXPECT_THAT(faults(), SizeIs(1)) << "nobody who has the key wrote that";
    ASSERT_TRUE(append(5, 5));
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(ATrail, KeepsWhatStrangersWroteForVerifyToName) {
    ASSERT_TRUE(append(1, 2));
    put(files().front(), slurp(files().front()) + "{\"n\":3,\"kind\":\"call\",\"forged\":true}\n");
    ASSERT_TRUE(append(3, 3));
    EXPECT_THAT(kinds(), ElementsAre("call", "call", "call", "strange", "call"));
    EXPECT_THAT(faults(), ElementsAre(HasSubstr(":3: is no record")));
}

TEST_F(ATrail, LeavesNothingOfABatchThatTheDiskDidNotTake) {
    ASSERT_TRUE(append(1, 2));
    const auto before = slurp(files().front());
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const rlimit small{before.size() + 100, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto refused = append(3, 3);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("cannot write " + files().front().string()));
    EXPECT_EQ(slurp(files().front()), before);
    ASSERT_TRUE(append(3, 3));
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(ATrail, IsSoundWhereTheDiskIsFullAsAnotherFileIsBegun) {
    settings.file_bytes = 800;
    ASSERT_TRUE(append(1, 4));
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    // Nothing at all, and what the head has room in but not the records. (The head has its room already on a disk.)
    for (const rlim_t bytes : {0, 1'000}) {
        const rlimit small{bytes, old.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto refused = append(5, 24);
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
        ASSERT_FALSE(refused) << bytes;
        EXPECT_THAT(refused.error().message, HasSubstr("cannot write ")) << bytes;
        EXPECT_THAT(faults(), IsEmpty()) << bytes;
    }
    ASSERT_TRUE(append(25, 25));
    EXPECT_THAT(faults(), IsEmpty());
    EXPECT_THAT(files(), SizeIs(::testing::Ge(2)));
}

TEST_F(ATrail, IsSoundWhereverAProcessIsKilledAsAnotherFileIsBegun) {
    settings.file_bytes = 800;
    settings.files = 2;
    int killed = 0;
    for (int nth = 1; nth < 100; ++nth) {
        fs::remove_all(state / "audit");
        ASSERT_TRUE(append(1, 4));
        ASSERT_TRUE(append(5, 8));
        const auto outcome =
            test::killed_at(nth, state.path(), [&] { return append(9, 9) ? 0 : 1; });
        SCOPED_TRACE("killed before " + outcome.last_call + " (" + std::to_string(nth) + ")");
        ASSERT_TRUE(append(10, 10));
        EXPECT_THAT(faults(), IsEmpty());
        if (!outcome.killed) {
            EXPECT_EQ(outcome.exit_code, 0);
            break;
        }
        ++killed;
    }
    EXPECT_GE(killed, 3);
}

TEST_F(ATrail, IsNotWrittenThroughALinkNorBesideAProcessThatHoldsIt) {
    ASSERT_TRUE(append(1, 1));
    const auto file = files().front();
    fs::rename(file, state / "elsewhere");
    fs::create_symlink(state / "elsewhere", file);
    const auto linked = append(2, 2);
    EXPECT_FALSE(linked);
    fs::remove(file);
    fs::rename(state / "elsewhere", file);
    const auto folder =
        core::open_private_directory(state / "audit", core::Others::MayNothing, core::Make::No);
    ASSERT_TRUE(folder);
    {
        const auto turn = core::take_turn(*folder, state / "audit", "head", 1s);
        ASSERT_TRUE(turn);
        const auto late = trail().append(record(2), 10ms);
        ASSERT_FALSE(late);
        EXPECT_EQ(late.error().code, ErrorCode::Timeout);
    }
    EXPECT_TRUE(append(2, 2));
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(ATrail, IsNotBelievedWhereOthersMayWriteIt) {
    ASSERT_TRUE(append(1, 1));
    fs::permissions(state / "audit", fs::perms::all);
    const auto refused = append(2, 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Denied);
}

}  // namespace
}  // namespace patchbay::audit
