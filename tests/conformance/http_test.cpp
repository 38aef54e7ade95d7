// The http plugin's threads: many exchanges at once, ended from every side.
#include "support/http_echo.hpp"
#include "support/plugin_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::IsEmpty;

class Http : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(channel_.open("{\"url\":\"" + server_.url() + "\"}"), PATCHBAY_OK)
            << channel_.refusal;
    }
    void TearDown() override {
        if (!channel_.closed()) channel_.close();
        EXPECT_TRUE(channel_.until([&] { return channel_.closed(); }));
        channel_.destroy();
        EXPECT_THAT(channel_.faults, IsEmpty());
        EXPECT_EQ(channel_.released, channel_.given) << "bodies are consumed exactly once";
        EXPECT_EQ(channel_.done.size(), static_cast<std::size_t>(channel_.accepted));
        EXPECT_EQ(host_.misbehaviour(), "");
    }
    // A request that is answered with itself.
    std::string ask(const std::string& kind, int number) {
        const auto text = "{\"kind\":\"" + kind + "\",\"n\":" + std::to_string(number) + "}";
        EXPECT_GE(channel_.send(text), 0);
        return text;
    }
    bool ended(std::size_t count, patchbay_status status = PATCHBAY_OK) {
        return channel_.until([&] { return channel_.ended_with(status) >= count; });
    }

    core::Loop loop_;
    HttpEcho server_;
    PluginHost host_{loop_, "http"};
    PluginChannel channel_{loop_, host_};
};

TEST_F(Http, AnswersEveryOneOfManyAtOnce) {
    std::vector<std::string> asked;
    for (int i = 0; i < 300; ++i)
        asked.push_back(ask(i % 3 == 0 ? "stream" : i % 3 == 1 ? "json" : "late", i));
    ASSERT_TRUE(ended(asked.size()));
    std::sort(asked.begin(), asked.end());
    EXPECT_EQ(channel_.sorted_messages(), asked);
}

TEST_F(Http, ThoseThatWaitHoldNoThread) {
    const auto threads = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    for (int i = 0; i < 50; ++i) ask("never", i);
    ASSERT_TRUE(channel_.until([&] { return server_.waiting() == 50; }));
    ask("json", 1);
    ASSERT_TRUE(ended(1));
    // Those that connected leave when they have been idle for a while.
    std::function<void()> look = [&] { loop_.after(std::chrono::milliseconds(20), look); };
    look();
    EXPECT_TRUE(channel_.until([&] { return threads() < 8; })) << threads();
}

TEST_F(Http, OneThatIsCancelledEndsOnceAndTheOthersGoOn) {
    for (int i = 0; i < 20; ++i) ask("never", i);
    ASSERT_TRUE(channel_.until([&] { return server_.waiting() == 20; }));
    for (std::uint64_t exchange = 1; exchange <= 20; exchange += 2) {
        channel_.cancel(exchange);
        channel_.cancel(exchange);
    }
    ASSERT_TRUE(ended(10, PATCHBAY_E_CANCELLED));
    ask("json", 1);
    ASSERT_TRUE(ended(1));
    EXPECT_EQ(channel_.running(), 10u);
}

TEST_F(Http, EveryOneIsEndedWhenTheChannelIsClosed) {
    for (int i = 0; i < 100; ++i) ask(i % 2 ? "never" : "late", i);
    channel_.close();
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.running(), 0u);
    EXPECT_EQ(channel_.send("{}"), PATCHBAY_E_CLOSED);
}

TEST_F(Http, APauseLosesNothing) {
    channel_.pause_after = [](std::size_t messages) { return messages % 10 == 0; };
    for (int i = 0; i < 100; ++i) ask("json", i);
    ASSERT_TRUE(channel_.until([&] {
        channel_.resume();
        return channel_.ended_with(PATCHBAY_OK) == 100;
    }));
    EXPECT_EQ(channel_.sorted_messages().size(), 100u);
}

TEST_F(Http, KeepsItsConnections) {
    for (int i = 0; i < 100; ++i) {
        ask(i % 2 ? "json" : "stream", i);
        ASSERT_TRUE(ended(static_cast<std::size_t>(i) + 1));
    }
    EXPECT_LE(server_.connections(), 3);
}

}  // namespace
