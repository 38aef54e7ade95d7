// The program that prints headers, with a host that is turned by hand.
#include "header_command.hpp"

#include "unit/plugins_common/program_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace patchbay::bearer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Outcomes final : HeaderCommand::Listener {
    std::vector<std::string> told;
    void headers_came(std::map<std::string, std::string> headers) override {
        for (const auto& [name, value] : headers) told.push_back(name + ": " + value);
    }
    void command_failed(patchbay_status code, const std::string& why) override {
        told.push_back(std::to_string(code) + " " + why);
    }
};

class HeaderCommandTest : public test::ProgramTest {
protected:
    using Turn = transport::ChannelCore::Turn;

    ~HeaderCommandTest() override {
        if (command_->running()) exit(0);
        command_.reset();
    }
    void start() {
        open_ends();
        const Turn turn(core_);
        command_->start({"get-headers", "--fast"});
    }
    std::string refusal() {
        const Turn turn(core_);
        try {
            command_->start({"get-headers"});
        } catch (const sdk::Failure& failure) {
            return std::to_string(failure.code()) + " " + failure.what();
        }
        return "started";
    }
    void stop() {
        const Turn turn(core_);
        command_->stop();
    }
    bool read(int which) {
        return host_.ready(host_.child_fds[which], transport::ChannelCore::kReadable);
    }
    bool is_open(int which) const { return ::fcntl(host_.child_fds[which], F_GETFD) != -1; }

    transport::ChannelCore core_{host_.params()};
    Outcomes outcomes_;
    std::optional<HeaderCommand> command_{std::in_place, core_, outcomes_};
};

TEST_F(HeaderCommandTest, RunsTheProgramWithItsArgumentsAndNothingToRead) {
    start();
    EXPECT_THAT(host_.child.argv, ElementsAre("get-headers", "--fast"));
    EXPECT_THAT(host_.child.env, IsEmpty());
    EXPECT_EQ(host_.child.flags, 0u);
    char byte;
    EXPECT_EQ(::read(input_, &byte, 1), 0);
    EXPECT_TRUE(command_->running());
    EXPECT_THAT(outcomes_.told, IsEmpty());
}

TEST_F(HeaderCommandTest, IsStillRunningUntilItsEndIsTold) {
    start();
    write(output_, R"({"A":"b"})");
    host_.child.exited(host_.child.ctx, 0);
    EXPECT_TRUE(command_->running()) << "it may not be started anew yet";
    EXPECT_THAT(outcomes_.told, IsEmpty()) << "on the reactor's thread";
    host_.run_posted();
    EXPECT_THAT(outcomes_.told, ElementsAre("A: b"));
    EXPECT_FALSE(command_->running());
}

TEST_F(HeaderCommandTest, HasTenSecondsAndNoMore) {
    start();
    ASSERT_EQ(host_.timers(), 1u);
    for (const auto& [op, each] : host_.operations) {
        if (each.fd < 0) {
            EXPECT_EQ(each.delay_ns, 10'000'000'000u);
        }
    }
    write(output_, R"({"A":"b"})");
    ASSERT_TRUE(host_.fire_timer());
    ASSERT_EQ(host_.stops.size(), 1u);
    EXPECT_THAT(host_.stops[0], ::testing::EndsWith(" 0")) << "without a grace";
    EXPECT_THAT(outcomes_.told, IsEmpty()) << "it is not gone yet";
    EXPECT_TRUE(command_->running());
    exit(256 + 9);
    EXPECT_THAT(outcomes_.told, ElementsAre(std::to_string(PATCHBAY_E_TIMEOUT) +
                                            " command \"get-headers\" did not end within 10 s"));
}

TEST_F(HeaderCommandTest, IsTimedNoLongerThanItRuns) {
    start();
    exit(0);
    EXPECT_EQ(host_.timers(), 0u);
    EXPECT_THAT(host_.operations, IsEmpty()) << "nothing is waited for any more";
    EXPECT_FALSE(is_open(1) || is_open(2));
    EXPECT_THAT(host_.stops, IsEmpty());
}

TEST_F(HeaderCommandTest, IsTimedAnewWhenItRunsAnew) {
    start();
    host_.fire_timer();
    exit(256 + 15);
    start();
    EXPECT_EQ(host_.timers(), 1u);
    write(output_, R"({"A":"second"})");
    exit(0);
    ASSERT_EQ(outcomes_.told.size(), 2u);
    EXPECT_EQ(outcomes_.told[1], "A: second") << "neither the time-out nor the output of the first";
}

TEST_F(HeaderCommandTest, IsEndedWhereTheHostTakesNoTimer) {
    host_.refuses = true;
    start();
    EXPECT_EQ(host_.stops.size(), 1u);
    EXPECT_FALSE(is_open(1) || is_open(2)) << "nobody would read them";
    host_.child.exited(host_.child.ctx, 256 + 15);
    EXPECT_THAT(outcomes_.told, ElementsAre(HasSubstr("the host takes no timer")))
        << "at once: the host posts nothing";
    EXPECT_FALSE(command_->running());
}

TEST_F(HeaderCommandTest, TellsTheFirstReasonOfItsEnd) {
    start();
    stop();
    ASSERT_TRUE(host_.fire_timer());
    exit(256 + 15);
    EXPECT_THAT(outcomes_.told, ElementsAre(std::to_string(PATCHBAY_E_CANCELLED) +
                                            " command \"get-headers\" cancelled"));
}

TEST_F(HeaderCommandTest, IsNotStoppedOnceItIsGone) {
    start();
    host_.child.exited(host_.child.ctx, 0);
    stop();
    EXPECT_THAT(host_.stops, IsEmpty());
    host_.run_posted();
    EXPECT_THAT(outcomes_.told, ElementsAre(HasSubstr("cancelled")));
}

TEST_F(HeaderCommandTest, ReadsWhatItPrintsAsItComes) {
    start();
    write(output_, R"({"A":)");
    ASSERT_TRUE(read(1));
    ASSERT_TRUE(read(1)) << "there is nothing more for now";
    write(output_, R"("b"})");
    ASSERT_TRUE(read(1));
    ::close(std::exchange(output_, -1));
    ASSERT_TRUE(read(1));
    EXPECT_FALSE(read(1)) << "it has ended";
    EXPECT_FALSE(is_open(1));
    exit(0);
    EXPECT_THAT(outcomes_.told, ElementsAre("A: b"));
}

TEST_F(HeaderCommandTest, ReadsItsComplaintToTheEndOfItsLife) {
    start();
    write(errors_, "no ");
    ASSERT_TRUE(read(2));
    write(errors_, "ticket\n");
    exit(2);
    EXPECT_THAT(outcomes_.told, ElementsAre(std::to_string(PATCHBAY_E_IO) +
                                            " command \"get-headers\" ended with exit code 2; "
                                            "stderr: no ticket"));
}

TEST_F(HeaderCommandTest, KeepsOnlyTheEndOfAnEndlessComplaint) {
    start();
    const std::string noise(60'000, 'x');
    write(errors_, noise);
    ASSERT_TRUE(read(2));
    write(errors_, noise);
    ASSERT_TRUE(read(2));
    EXPECT_THAT(host_.stops, IsEmpty()) << "complaining is no reason to end it";
    write(errors_, "\nthe end\n");
    write(output_, R"({"A":"b"})");
    exit(0);
    EXPECT_THAT(outcomes_.told, ElementsAre("A: b"));
}

TEST_F(HeaderCommandTest, IsEndedWhenItPrintsTooMuch) {
    start();
    const std::string most(64u << 10, ' ');
    write(output_, most);
    ASSERT_TRUE(read(1));
    EXPECT_THAT(host_.stops, IsEmpty());
    write(output_, "x");
    ASSERT_TRUE(read(1));
    EXPECT_EQ(host_.stops.size(), 1u);
    EXPECT_FALSE(is_open(1)) << "no more is read";
    exit(256 + 15);
    EXPECT_THAT(outcomes_.told, ElementsAre(std::to_string(PATCHBAY_E_LIMIT) +
                                            " command \"get-headers\" printed more than 64 KiB"));
}

TEST_F(HeaderCommandTest, SaysWhyItIsNotStarted) {
    host_.spawn_status = PATCHBAY_E_IO;
    EXPECT_EQ(refusal(), std::to_string(PATCHBAY_E_IO) + " not here");
    EXPECT_FALSE(command_->running());
    host_.has_process = false;
    command_.emplace(core_, outcomes_);
    EXPECT_THAT(refusal(), HasSubstr("the host grants no " PATCHBAY_HOST_PROCESS));
}

TEST_F(HeaderCommandTest, ClosesWhatItHoldsWhenItGoes) {
    start();
    command_.reset();
    EXPECT_FALSE(is_open(1) || is_open(2));
    command_.emplace(core_, outcomes_);
}

}  // namespace
}  // namespace patchbay::bearer
