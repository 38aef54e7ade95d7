#include "service/decisions.hpp"

#include "support/killed_at.hpp"
#include "support/scratch_folder.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace patchbay::service {
namespace {

using config::Level;
using connection::Approvable;
using core::Principal;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Approvable calling(const std::string& tool, const std::string& definition = "d 1") {
    Approvable wanted;
    wanted.server = "git";
    wanted.tool = tool;
    wanted.public_name = "mcp__git__" + tool;
    wanted.definition = definition;
    return wanted;
}
Approvable asking(const std::string& method) {
    auto wanted = calling("");
    wanted.method = method;
    return wanted;
}

const Principal kPerson{Principal::Kind::Person, {}, {}, core::Trust::Approves};
const Principal kBatch{Principal::Kind::Batch, "7", {}, core::Trust::Approves};
const Principal kClient{Principal::Kind::Client, {}, "stdio", core::Trust::Approves};
const Principal kToken{Principal::Kind::Client, "ada", "http", core::Trust::Approves};

class DecisionsTest : public ::testing::Test {
protected:
    Decisions decisions(const std::string& project = "/p") const { return {state, project}; }
    std::string file() const { return state + "/decisions.json"; }
    void write(const std::string& text) const {
        std::filesystem::create_directory(state);
        ASSERT_EQ(::chmod(state.c_str(), 0700), 0);
        std::ofstream(file()) << text;
        ASSERT_EQ(::chmod(file().c_str(), 0600), 0);
    }
    std::string record() const { return test::read_file(file()); }

    const test::ScratchFolder folder;
    const std::string state = folder / "state";
};

TEST_F(DecisionsTest, CountForThatToolAsItWasDescribedAndForNothingElse) {
    auto kept = decisions();
    EXPECT_FALSE(kept.allow(calling("push"), kPerson));
    ASSERT_TRUE(kept.keep(calling("push"), Level::AllowAlways, kPerson));
    auto next = decisions("/elsewhere");
    for (auto* each : {&kept, &next}) {
        EXPECT_TRUE(each->allow(calling("push"), kPerson));
        EXPECT_TRUE(each->allow(calling("push"), kBatch)) << "what is typed, and what a batch says";
        EXPECT_FALSE(each->allow(calling("push", "d 2"), kPerson)) << "described otherwise";
        EXPECT_FALSE(each->allow(calling("pull"), kPerson));
        EXPECT_FALSE(each->allow(asking("push"), kPerson)) << "a request by the name of a tool";
    }
}

TEST_F(DecisionsTest, OfAProjectCountInItsFolder) {
    auto here = decisions("/p");
    ASSERT_TRUE(here.keep(calling("push"), Level::AllowProject, kPerson));
    EXPECT_TRUE(decisions("/p").allow(calling("push"), kPerson));
    EXPECT_FALSE(decisions("/q").allow(calling("push"), kPerson));
    EXPECT_FALSE(decisions("").allow(calling("push"), kPerson));
}

TEST_F(DecisionsTest, CountForWhomTheyWereGiven) {
    auto kept = decisions();
    ASSERT_TRUE(kept.keep(calling("push"), Level::AllowAlways, kClient));
    EXPECT_TRUE(kept.allow(calling("push"), kClient));
    EXPECT_FALSE(kept.allow(calling("push"), kPerson)) << "a client answers for clients";
    EXPECT_FALSE(kept.allow(calling("push"), kToken)) << "and not for one of a token";
    ASSERT_TRUE(kept.keep(asking("resources/read"), Level::AllowAlways, kToken));
    EXPECT_TRUE(kept.allow(asking("resources/read"), kToken));
    EXPECT_FALSE(kept.allow(asking("resources/subscribe"), kToken));
}

TEST_F(DecisionsTest, SayWhoGaveThemAndWhen) {
    auto kept = decisions();
    ASSERT_TRUE(kept.keep(calling("push"), Level::AllowProject, kToken));
    EXPECT_THAT(
        record(),
        AllOf(HasSubstr(R"("version":1)"), HasSubstr(R"("level":"allow-project")"),
              HasSubstr(R"("project":"/p")"), HasSubstr(R"("for":"client ada")"),
              HasSubstr(R"~("by":"client \"ada\" (http)")~"), HasSubstr(R"("definition":"d 1")")));
    struct stat info {};
    ASSERT_EQ(::stat(file().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST_F(DecisionsTest, TakeThePlaceOfTheOneForTheSame) {
    auto kept = decisions();
    ASSERT_TRUE(kept.keep(calling("push", "old"), Level::AllowAlways, kPerson));
    ASSERT_TRUE(kept.keep(calling("push", "new"), Level::AllowAlways, kPerson));
    EXPECT_EQ((*kept.file().all())->size(), 1u);
    EXPECT_TRUE(kept.allow(calling("push", "new"), kPerson));
    EXPECT_FALSE(kept.allow(calling("push", "old"), kPerson));
}

TEST_F(DecisionsTest, AreSeenByAHostThatRunsAsSoonAsAnotherProcessKeepsThem) {
    auto running = decisions(), command = decisions();
    EXPECT_FALSE(running.allow(calling("push"), kPerson));
    ASSERT_TRUE(command.keep(calling("push"), Level::AllowAlways, kPerson));
    EXPECT_TRUE(running.allow(calling("push"), kPerson));
    const auto gone = command.file().forget([](const Decision&) { return true; });
    ASSERT_TRUE(gone);
    EXPECT_EQ(*gone, 1u);
    EXPECT_FALSE(running.allow(calling("push"), kPerson));
}

TEST_F(DecisionsTest, OfARecordThatMakesNoSenseAreNoneAndItStaysAsItIs) {
    const std::string bad[] = {
        "", "x", "[]", "{}", R"({"version":1})", R"({"version":"1","decisions":[]})",
        R"({"version":2,"decisions":[]})", R"({"version":0,"decisions":[]})",
        R"({"version":1,"decisions":[1]})",
        // Each lacks something, or says what no answer sets.
        R"({"version":1,"decisions":[{"server":"git","tool":"push","level":"allow-always"}]})",
        R"({"version":1,"decisions":[{"server":"git","tool":"push","level":"deny","for":"terminal","by":"","when":"","definition":"d 1"}]})",
        R"({"version":1,"decisions":[{"server":"git","tool":"push","level":"allow-session","for":"terminal","by":"","when":"","definition":"d 1"}]})",
        R"({"version":1,"decisions":[{"server":"git","tool":"push","level":"allow-project","for":"terminal","by":"","when":"","definition":"d 1"}]})"};
    for (const auto& text : bad) {
        write(text);
        auto kept = decisions();
        EXPECT_FALSE(kept.allow(calling("push"), kPerson)) << text;
        EXPECT_FALSE(kept.file().all()) << text;
        EXPECT_FALSE(kept.keep(calling("pull"), Level::AllowAlways, kPerson)) << text;
        EXPECT_FALSE(kept.file().forget([](const Decision&) { return true; })) << text;
        EXPECT_EQ(record(), text);
    }
}

TEST_F(DecisionsTest, ThatOthersMayHaveWrittenAreNone) {
    auto kept = decisions();
    ASSERT_TRUE(kept.keep(calling("push"), Level::AllowAlways, kPerson));
    ASSERT_EQ(::chmod(file().c_str(), 0602), 0);
    EXPECT_FALSE(decisions().allow(calling("push"), kPerson));
    ASSERT_EQ(::chmod(file().c_str(), 0600), 0);
    EXPECT_TRUE(decisions().allow(calling("push"), kPerson));
}

TEST_F(DecisionsTest, AreNotOfferedWhereNothingCanBeKept) {
    EXPECT_THAT(Decisions("", "/p").levels(kPerson), IsEmpty());
    EXPECT_THAT(Decisions(state, "").levels(kPerson), ElementsAre(Level::AllowAlways));
    EXPECT_THAT(Decisions(state, "/p").levels(kPerson),
                ElementsAre(Level::AllowProject, Level::AllowAlways));
    EXPECT_FALSE(Decisions("", "/p").keep(calling("push"), Level::AllowAlways, kPerson));
}

// Writers take turns, whatever process they are of.
TEST_F(DecisionsTest, OfSeveralWritersAtOnceAreAllKept) {
    constexpr int kWriters = 4, kEach = 8;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer)
        writers.emplace_back([this, writer] {
            auto kept = decisions();
            for (int i = 0; i < kEach; ++i)
                EXPECT_TRUE(kept.keep(calling(std::to_string(writer) + "_" + std::to_string(i)),
                                      Level::AllowAlways, kPerson));
        });
    for (auto& each : writers) each.join();
    auto all = decisions();
    EXPECT_EQ((*all.file().all())->size(), static_cast<std::size_t>(kWriters * kEach));
}

TEST_F(DecisionsTest, WhoeverIsKilledLeavesTheOldOnesOrAlsoTheNewOne) {
    auto before = decisions();
    ASSERT_TRUE(before.keep(calling("old"), Level::AllowAlways, kPerson));
    const auto old = record();
    int killed = 0;
    for (int nth = 1; nth < 100; ++nth) {
        write(old);
        const auto outcome = test::killed_at(nth, folder.path(), [&] {
            return decisions().keep(calling("new"), Level::AllowAlways, kPerson) ? 0 : 1;
        });
        SCOPED_TRACE("killed before " + outcome.last_call + " (" + std::to_string(nth) + ")");
        auto next = decisions();
        ASSERT_TRUE(next.file().all());
        EXPECT_TRUE(next.allow(calling("old"), kPerson));
        ASSERT_TRUE(next.keep(calling("other"), Level::AllowAlways, kPerson))
            << "what the killed one left is in nobody's way";
        EXPECT_TRUE(next.allow(calling("old"), kPerson));
        if (!outcome.killed) {
            EXPECT_EQ(outcome.exit_code, 0);
            EXPECT_TRUE(next.allow(calling("new"), kPerson));
            break;
        }
        ++killed;
    }
    EXPECT_GE(killed, 3);
}

TEST_F(DecisionsTest, StayWhatTheyAreWhereTheDiskTakesNoMore) {
    auto kept = decisions();
    ASSERT_TRUE(kept.keep(calling("old"), Level::AllowAlways, kPerson));
    const auto old = record();
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{old.size() + 8, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto refused = kept.keep(calling("new"), Level::AllowAlways, kPerson);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Io);
    EXPECT_THAT(refused.error().message, HasSubstr("decisions.json"));
    EXPECT_EQ(record(), old);
    EXPECT_TRUE(kept.allow(calling("old"), kPerson));
    EXPECT_FALSE(kept.allow(calling("new"), kPerson));
    EXPECT_TRUE(kept.keep(calling("new"), Level::AllowAlways, kPerson)) << "there is room again";
    EXPECT_TRUE(kept.allow(calling("old"), kPerson));
}

TEST_F(DecisionsTest, AreNoMoreThanTheirLimit) {
    std::string text = R"({"version":1,"decisions":[)";
    for (std::size_t i = 0; i < DecisionFile::kMost; ++i)
        text +=
            std::string(i ? "," : "") + R"({"server":"git","tool":"t)" + std::to_string(i) +
            R"(","level":"allow-always","for":"terminal","by":"","when":"","definition":"d 1"})";
    write(text + "]}");
    auto kept = decisions();
    EXPECT_TRUE(kept.allow(calling("t9999"), kPerson));
    const auto more = kept.keep(calling("more"), Level::AllowAlways, kPerson);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::Limit);
    EXPECT_THAT(more.error().message, HasSubstr("policy reset"));
    EXPECT_TRUE(kept.keep(calling("t3", "d 2"), Level::AllowAlways, kPerson)) << "in its place";
}

}  // namespace
}  // namespace patchbay::service
