// A whole host that loads a plugin from a slow disk while one of its servers is at work.
#include "app/host.hpp"
#include "app/local_caller.hpp"
#include "plugin/loading/resident.hpp"
#include "support/bare_environment.hpp"
#include "support/gate.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

using namespace patchbay;
using namespace std::chrono_literals;

namespace {

constexpr const char* kSlow = "dev.patchbay.tcp";

class SlowDisk : public testing::Test {
protected:
    SlowDisk() {
        app::HostOptions options;
        options.environment = test::bare_environment();
        options.environment.sets = {"servers.near.command=" PATCHBAY_BUILD_DIR
                                    "/bin/patchbay-example-server",
                                    "servers.far.transport=tcp", "servers.far.port=1"};
        options.map_library = [this](const plugin::PluginInfo& info) {
            EXPECT_NE(std::this_thread::get_id(), loops) << info.id;
            if (info.id == kSlow) gate->pass();
            return plugin::claim_resident(info);
        };
        host.emplace(std::move(options));
        caller.emplace(host->callers(),
                       core::Principal{core::Principal::Kind::Embedder, "1", "the test",
                                       core::Trust::Approves},
                       connection::Responder(host->config().client, {}));
        gate.emplace(host->loop());
    }
    ~SlowDisk() override {
        gate->open();
        host.reset();
    }
    bool until(const std::function<bool()>& done) {
        return host->run_until(done, core::Clock::now() + 30s);
    }
    void begin(const std::string& tool, std::optional<std::string>& answer) {
        router::Call call;
        call.name = tool;
        call.arguments = R"({"message":"hello"})";
        host->router().call(*caller, std::move(call),
                            [&answer](const Result<connection::Reply>& reply) {
                                answer = reply ? std::string(reply->result) : reply.error().message;
                            });
    }
    plugin::PluginState state_of_slow() { return host->plugins().info(kSlow)->state; }

    const std::thread::id loops = std::this_thread::get_id();
    std::optional<std::string> waiting, meanwhile;  // outlive the host, which may still tell them
    std::optional<test::Gate> gate;
    std::optional<app::LocalCaller> caller;
    std::optional<app::Host> host;
};

TEST_F(SlowDisk, HoldsUpTheServerOfThatPluginAlone) {
    begin("mcp__far__anything", waiting);
    ASSERT_TRUE(until([&] { return gate->reached(); }));
    begin("mcp__near__echo", meanwhile);
    ASSERT_TRUE(until([&] { return meanwhile.has_value(); }));
    EXPECT_NE(meanwhile->find("hello"), std::string::npos) << *meanwhile;
    EXPECT_FALSE(waiting) << *waiting;
    EXPECT_EQ(state_of_slow(), plugin::PluginState::Available);
    gate->open();
    EXPECT_TRUE(until([&] { return state_of_slow() == plugin::PluginState::Loaded; }));
}

TEST_F(SlowDisk, AHostThatGoesClosesItsServersFirst) {
    begin("mcp__near__echo", meanwhile);
    ASSERT_TRUE(until([&] { return meanwhile.has_value(); }));
    ASSERT_NE(meanwhile->find("hello"), std::string::npos) << *meanwhile;
    testing::internal::CaptureStderr();
    host.reset();
    const auto told = testing::internal::GetCapturedStderr();
    EXPECT_EQ(told.find("left behind"), std::string::npos) << told;
}

}  // namespace
