// A whole host with several callers at real servers: whose process is whose, and how many there are.
#include "app/host.hpp"
#include "app/local_caller.hpp"
#include "support/bare_environment.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

using namespace patchbay;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

class Sharing : public testing::Test {
protected:
    app::Host& host() {
        if (!host_) {
            app::HostOptions options;
            options.environment = test::bare_environment();
            options.environment.sets = settings;
            options.environment.sets.push_back("servers.one.command=" + command);
            host_.emplace(std::move(options));
        }
        return *host_;
    }
    app::LocalCaller& add_caller() {
        const auto number = std::to_string(callers.size() + 1);
        return *callers.emplace_back(std::make_unique<app::LocalCaller>(
            host().callers(),
            core::Principal{core::Principal::Kind::Embedder, number, {}, core::Trust::Approves},
            connection::Responder(host().config().client, {})));
    }
    std::string call(app::LocalCaller& caller, const std::string& tool,
                     const std::string& arguments = "{}") {
        const auto answer = std::make_shared<std::optional<std::string>>();
        router::Call asked;
        asked.name = "mcp__one__" + tool;
        asked.arguments = arguments;
        host().router().call(caller, std::move(asked), [answer](const auto& reply) {
            *answer = reply ? std::string(reply->result) : reply.error().message;
        });
        EXPECT_TRUE(until([&] { return answer->has_value(); }));
        return answer->value_or("(none)");
    }
    // The process that answers this caller; what it says of itself is true in a namespace of its own.
    pid_t pid_for(app::LocalCaller& caller) {
        const auto answer = call(caller, "echo", R"({"message":"hello"})");
        EXPECT_THAT(answer, HasSubstr("hello"));
        // The supervisor tells it by a way of its own, on which the answer may overtake it.
        std::string pid;
        EXPECT_TRUE(until([&] {
            const auto* held = host().connections().held("one", caller.number());
            if (!held) return false;
            const auto facts = held->status().facts;
            if (const auto told = facts.find("pid"); told != facts.end()) pid = told->second;
            return !pid.empty();
        }));
        return pid.empty() ? -1 : static_cast<pid_t>(std::stol(pid));
    }
    bool until(const std::function<bool()>& done) {
        return host().run_until(done, core::Clock::now() + 30s);
    }
    static bool lives(pid_t pid) { return pid > 0 && ::kill(pid, 0) == 0; }
    connection::Status status() { return host().servers().statuses().at(0); }

    std::string command = PATCHBAY_BUILD_DIR "/bin/patchbay-example-server";
    std::vector<std::string> settings;
    std::optional<app::Host> host_;
    std::vector<std::unique_ptr<app::LocalCaller>> callers;
};

TEST_F(Sharing, GivesEachCallerAProcessOfItsOwnWhichGoesWithIt) {
    auto& first = add_caller();
    auto& second = add_caller();
    const auto one = pid_for(first), other = pid_for(second);
    EXPECT_NE(one, other);
    EXPECT_EQ(pid_for(first), one);
    EXPECT_EQ(status().connections.size(), 2u);
    callers.pop_back();
    EXPECT_TRUE(until([&] { return !lives(other); }));
    EXPECT_EQ(pid_for(first), one);
}

TEST_F(Sharing, IsOneProcessWhereTheUserSaysSo) {
    settings = {"servers.one.mode=shared", "host.stdio_sharing=true"};
    auto& first = add_caller();
    auto& second = add_caller();
    EXPECT_EQ(pid_for(first), pid_for(second));
    EXPECT_TRUE(status().connections.empty());
    EXPECT_TRUE(host().config().diagnostics.empty());
}

TEST_F(Sharing, IsNotDoneByTheWordOfTheServerAlone) {
    settings = {"servers.one.mode=shared"};
    auto& first = add_caller();
    auto& second = add_caller();
    ASSERT_EQ(host().config().diagnostics.size(), 1u);
    EXPECT_THAT(host().config().diagnostics[0].message,
                HasSubstr("only with [host] stdio_sharing = true"));
    EXPECT_NE(pid_for(first), pid_for(second));
}

TEST_F(Sharing, EndsWhenNobodyHoldsTheProcessAndBeginsAnewWithTheNext) {
    settings = {"servers.one.mode=shared", "host.stdio_sharing=true",
                "servers.one.idle_timeout_sec=0.01"};
    const auto before = pid_for(add_caller());
    callers.clear();
    ASSERT_TRUE(until([&] { return !lives(before); }));
    EXPECT_EQ(status().state, connection::State::Idle);
    EXPECT_NE(pid_for(add_caller()), before);
}

TEST_F(Sharing, LetsOneProcessCrashWithoutTheOthers) {
    auto& first = add_caller();
    auto& second = add_caller();
    const auto one = pid_for(first), other = pid_for(second);
    ASSERT_GT(one, 2);
    ASSERT_EQ(::kill(one, SIGKILL), 0);
    ASSERT_TRUE(until([&] { return status().restarts == 1; }));
    EXPECT_EQ(pid_for(second), other);
    EXPECT_NE(pid_for(first), one) << "its own comes back";
    EXPECT_EQ(pid_for(second), other);
}

TEST_F(Sharing, KeepsAProcessReadyForTheNextCaller) {
    settings = {"servers.one.warm=1"};
    pid_for(add_caller());
    std::string spare;
    ASSERT_TRUE(until([&] {
        for (const auto& one : status().connections)
            // It may speak before it is told which process it is.
            if (one.use == "spare" && one.state == connection::State::Ready &&
                one.facts.contains("pid"))
                spare = one.facts.at("pid");
        return !spare.empty();
    }));
    EXPECT_EQ(std::to_string(pid_for(add_caller())), spare) << "it was there before its caller";
}

TEST_F(Sharing, DoesNotStartASpareOverAndOverWhoseProgramEndsAtOnce) {
    const test::ScratchFolder folder;
    const auto starts = [&, file = folder / "starts"] {
        std::ifstream lines(file);
        return std::count(std::istreambuf_iterator<char>(lines), {}, '\n');
    };
    command = R"(["/bin/sh", "-c", "echo >> )" + (folder / "starts") + R"("])";
    settings = {"servers.one.warm=1", "health.reconnect_first_ms=1", "health.reconnect_attempts=1"};
    ASSERT_TRUE(until([&] { return status().state == connection::State::Failed; }));
    const auto before = starts();
    EXPECT_GE(before, 2) << "the first and one more";
    EXPECT_LE(before, 4) << "each with a probe and without";
    EXPECT_THAT(call(add_caller(), "pid"), HasSubstr("server \"one\""));
    ASSERT_TRUE(until([&] { return status().state == connection::State::Failed; }));
    const auto after = starts();
    EXPECT_LE(after, before + 4);
    bool passed = false;
    host().loop().after(100ms, [&] { passed = true; });
    ASSERT_TRUE(until([&] { return passed; }));
    EXPECT_EQ(starts(), after);
    host_->close(core::Clock::now() + 10s);
}

TEST_F(Sharing, HasALimitThatIsNamed) {
    settings = {"limits.connections_per_server=1"};
    const auto one = pid_for(add_caller());
    EXPECT_EQ(call(add_caller(), "pid"),
              "server \"one\": 1 connections are open (limit connections_per_server)");
    EXPECT_EQ(pid_for(*callers[0]), one);
}

}  // namespace
