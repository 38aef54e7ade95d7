// What is told of requests stands in the trail a second later, or before they are sent where that is required.
#include "audit/audit_log.hpp"

#include "audit/entry.hpp"
#include "audit/verify.hpp"
#include "core/log.hpp"
#include "support/scratch_folder.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <sys/resource.h>

namespace patchbay::audit {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct AnAuditLog : testing::Test {
    test::ScratchFolder state;
    test::TurnedLoop loop;
    config::AuditSettings settings;
    core::Principal person;
    std::optional<AuditLog> log;

    void open() { log.emplace(loop, state.path(), settings); }
    core::AskedRequest asked(std::uint64_t number, std::string_view method = "tools/call") const {
        core::AskedRequest request;
        request.method = method;
        request.server = "files";
        request.tool = "read";
        request.number = number;
        request.caller = &person;
        request.decision = "allow";
        return request;
    }
    Result<void> send(std::uint64_t number, std::string_view method = "tools/call") {
        return log->on_request_sent({asked(number, method), 1ms});
    }
    void end(std::uint64_t number, std::string_view method = "tools/call") {
        core::EndedRequest ended{asked(number, method), "ok", 3ms};
        ended.waited = 1ms;
        log->on_request_ended(ended);
    }
    std::vector<Entry> entries() const {
        std::vector<Entry> all;
        const auto read = each_line(state / "audit", [&](const Line& line) {
            if (auto entry = Entry::parse(line.text)) all.push_back(*entry);
            return true;
        });
        // The folder is being made.
        EXPECT_TRUE(read || read.error().message.ends_with("No such file or directory"))
            << read.error().message;
        return all;
    }
    std::vector<std::string> kinds() const {
        std::vector<std::string> all;
        for (const auto& entry : entries()) all.emplace_back(entry.text("kind"));
        return all;
    }
    bool run_until_there_are(std::size_t count) {
        return loop.run_until([&] { return entries().size() >= count; });
    }
};

TEST_F(AnAuditLog, WritesACallWhenASecondHasPassed) {
    open();
    ASSERT_TRUE(send(1));
    end(1);
    EXPECT_THAT(entries(), IsEmpty()) << "no call waits for a disk";
    ASSERT_TRUE(run_until_there_are(1));
    EXPECT_EQ(entries().front().text("tool"), "read");
    EXPECT_EQ(entries().front().number("wait_us"), 1000);
    EXPECT_EQ(entries().front().number("run_us"), 2000);
    EXPECT_TRUE(verify(state.path())->sound());
}

TEST_F(AnAuditLog, WritesWhatIsLeftAtItsEnd) {
    open();
    for (std::uint64_t i = 1; i <= 100; ++i) {
        ASSERT_TRUE(send(i));
        end(i);
    }
    log.reset();
    EXPECT_THAT(entries(), SizeIs(100));
    EXPECT_TRUE(verify(state.path())->sound());
}

TEST_F(AnAuditLog, TellsOfACallThatLastsThatItHasBegun) {
    open();
    ASSERT_TRUE(send(1));
    ASSERT_TRUE(run_until_there_are(1));
    EXPECT_THAT(kinds(), ElementsAre("begun"));
    loop.pass(10s);
    EXPECT_THAT(kinds(), ElementsAre("begun")) << "once";
    end(1);
    ASSERT_TRUE(run_until_there_are(2));
    EXPECT_THAT(kinds(), ElementsAre("begun", "call"));
    EXPECT_EQ(entries()[0].text("id"), entries()[1].text("id"));
}

TEST_F(AnAuditLog, DoesNotTellOfWhatOnlyLooks) {
    open();
    for (const char* method : {"tools/list", "resources/list", "ping", "logging/setLevel"}) {
        ASSERT_TRUE(send(1, method));
        end(1, method);
    }
    ASSERT_TRUE(send(2, "resources/read"));
    end(2, "resources/read");
    auto denied = core::EndedRequest{asked(3, "prompts/list"), "denied", 1ms};
    denied.asked.decision = "deny";
    log->on_request_ended(denied);
    log.reset();
    ASSERT_THAT(entries(), SizeIs(2));
    EXPECT_EQ(entries()[0].text("method"), "resources/read");
    EXPECT_EQ(entries()[1].text("method"), "prompts/list") << "that was forbidden";
}

TEST_F(AnAuditLog, HasARecordBeforeACallIsSentWhereThatIsRequired) {
    settings.required = true;
    open();
    ASSERT_TRUE(send(1));
    EXPECT_THAT(kinds(), ElementsAre("begun"));
    end(1);
    log.reset();
    EXPECT_THAT(kinds(), ElementsAre("begun", "call"));
}

TEST_F(AnAuditLog, RefusesWhatCannotBeRecordedWhereThatIsRequired) {
    settings.required = true;
    open();
    std::ofstream(state / "audit") << "no folder";
    const auto sent = send(1);
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, ErrorCode::Unavailable);
    EXPECT_THAT(sent.error().message,
                AllOf(HasSubstr("cannot be recorded"), HasSubstr("[audit] required"),
                      HasSubstr(state / "audit")));
    fs::remove(state / "audit");
    loop.turn(2s);
    EXPECT_TRUE(send(2)) << "as soon as it can be";
}

TEST_F(AnAuditLog, SendsNothingThatAFullDiskHasNoRecordOfAndIsSoundBehindIt) {
    settings.required = true;
    settings.file_bytes = 1'500;
    settings.files = 100;
    open();
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    std::size_t sent = 0;
    // Each of these begins other files in between.
    for (std::uint64_t i = 1; i <= 40; ++i) {
        const rlimit small{i % 4 == 0 ? 0 : old.rlim_cur, old.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto outcome = send(i);
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
        EXPECT_EQ(outcome.has_value(), i % 4 != 0) << i;
        sent += outcome.has_value();
        loop.turn(2s);
    }
    log.reset();
    std::size_t begun = 0;
    for (const auto& kind : kinds()) begun += kind == "begun";
    EXPECT_EQ(begun, sent) << "no more and no less";
    EXPECT_TRUE(verify(state.path())->sound());
}

TEST_F(AnAuditLog, WarnsOnceAndGoesOnWhereItCannotWrite) {
    std::ofstream(state / "audit") << "no folder";
    open();
    ::testing::internal::CaptureStderr();
    for (std::uint64_t i = 1; i <= 3; ++i) {
        ASSERT_TRUE(send(i));
        end(i);
        loop.stand_still();
        loop.turn(6s);
        const auto until = core::Clock::now() + 200ms;
        loop.run_until([] { return false; }, until);
    }
    const auto told = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, HasSubstr("the audit cannot be written"));
    EXPECT_EQ(told.find("cannot be written"), told.rfind("cannot be written"));
    fs::remove(state / "audit");
    log.reset();
    EXPECT_THAT(entries(), SizeIs(3)) << "what was told meanwhile was kept";
    EXPECT_TRUE(verify(state.path())->sound());
}

TEST_F(AnAuditLog, CountsWhatItHasNoRoomFor) {
    settings.arguments = true;
    std::ofstream(state / "audit") << "no folder";
    open();
    const std::string arguments = "{\"a\":\"" + std::string(15'000, 'x') + "\"}";
    for (std::uint64_t i = 1; i <= 400; ++i) {
        auto ended = core::EndedRequest{asked(i), "ok", 1ms};
        ended.asked.arguments = arguments;
        log->on_request_ended(ended);
    }
    fs::remove(state / "audit");
    log.reset();
    const auto all = entries();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().text("kind"), "lost");
    EXPECT_EQ(all.front().number("records"), static_cast<std::int64_t>(400 - (all.size() - 1)));
    EXPECT_LT(all.size(), 400u);
}

}  // namespace
}  // namespace patchbay::audit
