// Nothing of a server outlives its channel, its program, its supervisor or the host, whatever it
// does against that.
#include "conformance/peers.hpp"
#include "plugin/services/process_service.hpp"
#include "support/plugin_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::IsEmpty;

std::string hostile(const std::string& token, std::vector<std::string> modes, bool own_pids) {
    modes.insert(modes.begin(), {hostile_program(), token});
    return command_settings(modes, std::string(",\"stop_grace_ms\":50,\"pid_namespace\":") +
                                       (own_pids ? "true" : "false"));
}

const std::vector<std::vector<std::string>>& hostilities() {
    static const std::vector<std::vector<std::string>> all = {
        {},
        {"ignore"},
        {"setsid"},
        {"double", "ignore"},
        {"double", "setsid", "double", "ignore"},
        {"forks"},
        {"setsid", "double", "supervisor"},
    };
    return all;
}

class ProcessTree : public testing::TestWithParam<bool> {
protected:
    const std::string token_ = unique_token();
};

TEST_P(ProcessTree, IsGoneWhenTheChannelHasClosed) {
    core::Loop loop;
    PluginHost host(loop, "stdio");
    for (const auto& modes : hostilities()) {
        PluginChannel channel(loop, host);
        ASSERT_EQ(channel.open(hostile(token_, modes, GetParam())), PATCHBAY_OK);
        ASSERT_TRUE(channel.until([&] { return !channel.messages.empty() || channel.closed(); }));
        if (!channel.closed()) channel.close();
        ASSERT_TRUE(channel.until([&] { return channel.closed(); }))
            << testing::PrintToString(modes);
        EXPECT_TRUE(none_left(token_, std::chrono::seconds(1))) << testing::PrintToString(modes);
        channel.destroy();
    }
}

TEST_P(ProcessTree, IsGoneWhenTheProgramHasLeft) {
    core::Loop loop;
    PluginHost host(loop, "stdio");
    PluginChannel channel(loop, host);
    ASSERT_EQ(channel.open(hostile(token_, {"setsid", "double", "leave"}, GetParam())),
              PATCHBAY_OK);
    ASSERT_TRUE(channel.until([&] { return channel.closed(); }))
        << "its stdout is held by what it left";
    EXPECT_EQ(channel.end.text, "server process exited with code 0");
    EXPECT_THAT(processes_with(token_), IsEmpty());
}

TEST_P(ProcessTree, IsGoneWhenTheServiceIs) {
    {
        core::Loop loop;
        plugin::ProcessService service(loop, "test",
                                       [](const std::string& what) { FAIL() << what; });
        plugin::Program program;
        program.argv = {hostile_program(), token_, "double", "ignore"};
        program.own_pids = GetParam();
        const auto process = service.spawn(program, nullptr, nullptr, [](void*, std::int32_t) {});
        ASSERT_TRUE(process);
        for (const auto fd : {process->stdin_fd, process->stdout_fd, process->stderr_fd})
            ::close(static_cast<int>(fd));
    }
    EXPECT_THAT(processes_with(token_), IsEmpty());
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no zombie";
}

// Ten servers in a process of its own; a byte on `ready` when all are up.
[[noreturn]] void be_host(const std::string& token, bool own_pids, int ready) {
    core::Loop loop;
    auto* const host = new PluginHost(loop, "stdio");
    std::vector<PluginChannel*> channels;
    for (std::size_t i = 0; i < 10; ++i) {
        auto modes = hostilities()[i % hostilities().size()];
        // Who kills the supervisor is gone before the host is: not what is to be seen here.
        modes.erase(std::remove(modes.begin(), modes.end(), "supervisor"), modes.end());
        channels.push_back(new PluginChannel(loop, *host));
        if (channels.back()->open(hostile(token, modes, own_pids)) != PATCHBAY_OK) ::_exit(2);
    }
    const bool up = loop.run_until(
        [&] {
            return std::all_of(channels.begin(), channels.end(),
                               [](PluginChannel* channel) { return !channel->messages.empty(); });
        },
        core::Clock::now() + std::chrono::seconds(20));
    if (!up || ::write(ready, "r", 1) != 1) ::_exit(3);
    loop.run();
    ::_exit(4);
}

TEST_P(ProcessTree, IsGoneWhenTheHostIsKilled) {
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const pid_t host = ::fork();
    if (host == 0) be_host(token_, GetParam(), ready[1]);
    ::close(ready[1]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1) << "the host did not get its servers up";
    ::close(ready[0]);
    EXPECT_GE(processes_with(token_).size(), 10u);
    ::kill(host, SIGKILL);
    ::waitpid(host, nullptr, 0);
    EXPECT_TRUE(none_left(token_, std::chrono::seconds(5)));
}

INSTANTIATE_TEST_SUITE_P(All, ProcessTree, testing::Values(true, false), [](const auto& named) {
    return std::string(named.param ? "OwnNamespace" : "Shared");
});

}  // namespace
