// A whole host whose configuration is edited while its servers are at work.
#include "app/host.hpp"
#include "app/local_caller.hpp"
#include "support/bare_environment.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

using namespace patchbay;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class EditedHost : public testing::Test {
protected:
    EditedHost() {
        write("x", "");
        app::HostOptions options;
        options.environment = test::bare_environment();
        options.environment.config_files = {file};
        host.emplace(std::move(options));
        caller.emplace(host->callers(),
                       core::Principal{core::Principal::Kind::Embedder, "1", "the test",
                                       core::Trust::Approves},
                       connection::Responder(host->config().client, {}));
    }
    ~EditedHost() override { host.reset(); }

    void write(const std::string& token, const std::string& more) const {
        std::ofstream(file) << "[servers.near]\ncommand = \"" PATCHBAY_BUILD_DIR
                               "/bin/patchbay-example-server\"\nenv = {TOKEN = \""
                            << token << "\"}\n"
                            << more;
    }
    void begin(const std::string& tool, const std::string& arguments,
               std::optional<std::string>& answer) {
        router::Call call;
        call.name = tool;
        call.arguments = arguments;
        host->router().call(*caller, std::move(call),
                            [&answer](const Result<connection::Reply>& reply) {
                                answer = reply ? std::string(reply->result) : reply.error().message;
                            });
    }
    std::string answered(std::optional<std::string>& answer) {
        host->run_until([&] { return answer.has_value(); }, core::Clock::now() + 30s);
        return answer.value_or("(none)");
    }
    std::string call(const std::string& tool, const std::string& arguments = "{}") {
        std::optional<std::string> answer;
        begin(tool, arguments, answer);
        return answered(answer);
    }

    const test::ScratchFolder folder;
    const std::string file = folder / "config.toml";
    std::optional<std::string> waiting;  // outlives the host, which may still tell it
    std::optional<app::LocalCaller> caller;
    std::optional<app::Host> host;
};

TEST_F(EditedHost, FinishesACallWithTheServerItBeganWithAndTakesTheNextToTheNewOne) {
    ASSERT_THAT(call("mcp__near__env"), HasSubstr("TOKEN\":\"x\""));
    begin("mcp__near__sleep", R"({"ms":300})", waiting);
    write("y", "");
    const auto plan = host->apply(host->read_snapshot());
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_EQ(plan->restart.size(), 1u);
    EXPECT_THAT(plan->restart[0].keys, ElementsAre("env"));
    EXPECT_THAT(call("mcp__near__env"), HasSubstr("TOKEN\":\"y\""));
    EXPECT_THAT(answered(waiting), HasSubstr("content"));
    ASSERT_TRUE(host->rollback());
    EXPECT_THAT(call("mcp__near__env"), HasSubstr("TOKEN\":\"x\""));
}

TEST_F(EditedHost, ObeysANewRuleWithoutANewProcess) {
    const auto pid = call("mcp__near__pid");
    write("x", "tools = {env = \"deny\"}\n");
    const auto plan = host->apply(host->read_snapshot());
    ASSERT_TRUE(plan);
    EXPECT_THAT(plan->restart, IsEmpty());
    EXPECT_THAT(call("mcp__near__env"), HasSubstr("is denied in tools of server \"near\""));
    EXPECT_EQ(call("mcp__near__pid"), pid);
    ASSERT_EQ(host->config().servers.size(), 1u);
    EXPECT_EQ(host->config().servers[0].tools.size(), 1u) << "statuses and hints see it too";
    ASSERT_TRUE(host->rollback());
    EXPECT_THAT(call("mcp__near__env"), HasSubstr("TOKEN"));
    EXPECT_EQ(call("mcp__near__pid"), pid);
}

TEST_F(EditedHost, StaysAsItIsWhenTheNamedFileIsBroken) {
    const auto pid = call("mcp__near__pid");
    std::ofstream(file) << "[servers.near\n";
    const auto refused = host->apply(host->read_snapshot());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(file));
    EXPECT_EQ(call("mcp__near__pid"), pid);
}

}  // namespace
