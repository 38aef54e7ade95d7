// What every transport must do, whatever it speaks to: run for each bundled one.
#include "conformance/peers.hpp"
#include "support/plugin_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string message_of(std::size_t size) {
    return size < 8 ? std::string("{}") : "{\"a\":\"" + std::string(size - 8, 'x') + "\"}";
}

class Transport : public testing::TestWithParam<const char*> {
protected:
    void TearDown() override {
        if (channel_.opened_or_closed() && !channel_.closed()) channel_.close();
        if (channel_.opened_or_closed()) {
            EXPECT_TRUE(channel_.until([&] { return channel_.closed(); }));
        }
        channel_.destroy();
        EXPECT_THAT(channel_.faults, IsEmpty());
        EXPECT_EQ(channel_.released, channel_.given) << "bodies are consumed exactly once";
        EXPECT_EQ(channel_.done.size(), static_cast<std::size_t>(channel_.accepted));
        EXPECT_EQ(host_.misbehaviour(), "");
    }

    void open(std::vector<std::string> mode, const std::string& more = ",\"stop_grace_ms\":200") {
        ASSERT_EQ(channel_.open(peer_settings(GetParam(), std::move(mode), more)), PATCHBAY_OK)
            << channel_.refusal;
        ASSERT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
    }
    bool messages(std::size_t count) {
        return channel_.until([&] {
            return channel_.messages.size() >= count || channel_.closed();
        }) && channel_.messages.size() == count;
    }
    bool over() {
        return channel_.until([&] { return channel_.closed(); });
    }

    core::Loop loop_;
    PluginHost host_{loop_, GetParam()};
    PluginChannel channel_{loop_, host_};
};

TEST_P(Transport, OpensAndClosesOnceWhenAsked) {
    open({"echo"});
    EXPECT_TRUE(channel_.opened());
    channel_.close();
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
}

TEST_P(Transport, CarriesMessagesInOrderAndEndsEverySend) {
    open({"echo"});
    for (int i = 0; i < 1000; ++i) ASSERT_GE(channel_.send("{\"n\":" + std::to_string(i) + "}"), 0);
    ASSERT_TRUE(messages(1000));
    for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(channel_.messages[static_cast<std::size_t>(i)],
                  "{\"n\":" + std::to_string(i) + "}");
    EXPECT_EQ(channel_.running(), 0u);
}

TEST_P(Transport, CarriesBodiesOfEverySizeUpToTheLimit) {
    open({"echo"});
    std::size_t count = 0;
    for (const std::size_t size : {2u, 8u, 4095u, 65'535u, 65'536u, 65'537u, 1u << 20, 16u << 20}) {
        ASSERT_GE(channel_.send(message_of(size)), 0);
        ASSERT_TRUE(messages(++count)) << size << " bytes: " << channel_.end.text;
        ASSERT_EQ(channel_.messages.back(), message_of(size));
    }
}

TEST_P(Transport, EndsAServerThatNeverEndsItsLineWithinBoundedMemory) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    open({"flood", std::to_string(1L << 30)});
    ASSERT_TRUE(over());
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_LIMIT);
    EXPECT_THAT(channel_.end.text, HasSubstr("limit message_bytes"));
#if defined(__SANITIZE_THREAD__)
    constexpr long shadow = 4;  // times the memory that the sanitizer remembers accesses to
#else
    constexpr long shadow = 0;
#endif
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, (1 + shadow) * 96 * 1024) << "KiB";
}

TEST_P(Transport, SkipsLinesThatAreNoMessages) {
    open({"odd"});
    ASSERT_TRUE(messages(4));
    EXPECT_THAT(channel_.messages,
                ElementsAre("{\"n\":0}", "{\"n\":1}", "[{\"n\":2}]", "{\"n\":3}"));
    EXPECT_THAT(channel_.stray,
                testing::IsSupersetOf({"Server starting...", "\"text\"", "\xff\xfe binary \x01"}));
}

TEST_P(Transport, LosesNothingWhenPausedAndResumed) {
    open({"count", "5000"});
    channel_.pause_after = [](std::size_t count) { return count % 7 == 0; };
    std::size_t seen = 0;
    while (channel_.messages.size() < 5000) {
        ASSERT_TRUE(channel_.until([&] { return channel_.messages.size() > seen; })) << seen;
        seen = channel_.messages.size();
        channel_.resume();
    }
    for (std::size_t i = 0; i < 5000; ++i)
        ASSERT_EQ(channel_.messages[i], "{\"n\":" + std::to_string(i) + "}");
}

TEST_P(Transport, StopsWithinAMessageWhenPaused) {
    open({"count", "5000"});
    channel_.pause_after = [](std::size_t count) { return count == 100; };
    ASSERT_TRUE(channel_.until([&] { return channel_.messages.size() >= 100; }));
    loop_.run_until([] { return false; }, core::Clock::now() + std::chrono::milliseconds(20));
    EXPECT_EQ(channel_.messages.size(), 100u);
    channel_.pause_after = {};
    channel_.resume();
    EXPECT_TRUE(messages(5000));
}

TEST_P(Transport, AsksASenderToPauseAndTellsWhenItMayGoOn) {
    open({"echo"});
    patchbay_status status = PATCHBAY_OK;
    int sent = 0;
    for (; status == PATCHBAY_OK && sent < 100; ++sent)
        status = channel_.send(message_of(64u << 10));
    EXPECT_EQ(status, PATCHBAY_PAUSE);
    EXPECT_EQ(sent, 16) << "1 MiB waits";
    EXPECT_EQ(channel_.send(message_of(100)), PATCHBAY_PAUSE) << "accepted all the same";
    ASSERT_TRUE(messages(17));
    EXPECT_EQ(channel_.writable, 1);
}

TEST_P(Transport, CancelsWhatWaitsAndIgnoresWhatItDoesNotKnow) {
    open({"deaf"});
    channel_.cancel(77);
    for (int i = 0; i < 200; ++i) ASSERT_GE(channel_.send(message_of(60'000)), 0);
    ASSERT_TRUE(channel_.until([&] { return !channel_.done.empty(); }));
    const auto last = channel_.last_exchange;
    const auto ended = channel_.done.size();
    channel_.cancel(last);
    channel_.cancel(last);
    ASSERT_EQ(channel_.done.size(), ended + 1);
    EXPECT_EQ(channel_.done.back().status, PATCHBAY_E_CANCELLED);
    EXPECT_TRUE(channel_.done.back().flags & PATCHBAY_ERR_NOT_SENT);
}

TEST_P(Transport, EndsWhatIsInFlightBeforeItCloses) {
    open({"deaf"});
    for (int i = 0; i < 200; ++i) ASSERT_GE(channel_.send(message_of(64u << 10)), 0);
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
    EXPECT_EQ(channel_.done.size(), 200u);
    EXPECT_EQ(channel_.done.back().status, PATCHBAY_E_CLOSED);
}

TEST_P(Transport, RefusesASendOnceItCloses) {
    open({"echo"});
    channel_.close();
    EXPECT_EQ(channel_.send("{}"), PATCHBAY_E_CLOSED);
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.send("{}"), PATCHBAY_E_CLOSED);
    channel_.cancel(1);
    channel_.resume();
    channel_.close();
}

TEST_P(Transport, ClosesWhenAskedBeforeItHasOpened) {
    ASSERT_EQ(channel_.open(peer_settings(GetParam(), {"echo"})), PATCHBAY_OK);
    channel_.close();
    EXPECT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
}

TEST_P(Transport, ClosesWhilePaused) {
    open({"count", "100000"});
    channel_.pause_after = [](std::size_t) { return true; };
    ASSERT_TRUE(channel_.until([&] { return !channel_.messages.empty(); }));
    channel_.close();
    EXPECT_TRUE(over());
}

TEST_P(Transport, MayBeDestroyedOnAnotherThreadAtOnceWhenClosed) {
    open({"echo"});
    ASSERT_GE(channel_.send("{}"), 0);
    std::thread destroyer([&] {
        channel_.wait_closed();
        channel_.destroy();
    });
    channel_.close();
    EXPECT_TRUE(over());
    destroyer.join();
}

TEST_P(Transport, TakesSendsFromChangingThreads) {
    open({"echo"});
    for (int round = 0; round < 20; ++round) {
        std::thread sender([&] {
            for (int i = 0; i < 20; ++i) EXPECT_GE(channel_.send("{\"n\":1}"), 0);
            channel_.cancel(9999);
            channel_.resume();
        });
        channel_.until(
            [&] { return channel_.messages.size() >= static_cast<std::size_t>(round) * 20; });
        sender.join();
    }
    EXPECT_TRUE(messages(400));
    std::thread([&] { channel_.close(); }).join();
}

TEST_P(Transport, SaysThatAServerLeftInTheMiddleOfAMessage) {
    open({"cut"});
    ASSERT_TRUE(over());
    EXPECT_THAT(channel_.messages, ElementsAre("{\"n\":0}"));
    EXPECT_THAT(channel_.stray, testing::Contains("{\"n\":"));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_CLOSED);
}

TEST_P(Transport, EndsWithAServerThatEnds) {
    open({"exit", "3"});
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.end.text, "server process exited with code 3");
    EXPECT_THAT(channel_.errors, ElementsAre("out of cheese"));
}

TEST_P(Transport, RefusesSettingsOfTheWrongKindWithText) {
    for (const auto* settings :
         {"{}", "[]", "", "{\"command\":1,\"port\":\"x\"}", "{\"command\":[],\"port\":70000}",
          "{\"command\":\"x\",\"port\":1,\"args\":\"y\"}",
          "{\"command\":[\"x\"],\"port\":1,\"env\":{\"A\":1}}", "{\"command\":\"\",\"port\":1}",
          "{\"command\":\"x\\u0000y\",\"port\":1}",
          "{\"command\":\"x\",\"port\":1,\"stop_grace_ms\":-1}"}) {
        EXPECT_EQ(channel_.open(settings), PATCHBAY_E_INVALID) << settings;
        EXPECT_NE(channel_.refusal, "") << settings;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Transport, testing::Values("stdio", "tcp"),
                         [](const auto& named) { return std::string(named.param); });

}  // namespace
