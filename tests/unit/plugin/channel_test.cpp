#include "plugin/channel.hpp"

#include "core/escapes.hpp"
#include "plugin/loading/catalogue.hpp"
#include "unit/plugin/channel_user.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class ChannelTest : public ChannelUser {
protected:
    explicit ChannelTest(const std::string& fixture_name = "fake") {
        install_fixture(folder_, fixture_name);
        SearchOptions options;
        options.config_directories = {folder_.path()};
        options.built_in = false;
        catalogue_ = std::make_unique<Catalogue>(loop_, options);
    }
    ~ChannelTest() override { channel_.reset(); }  // before the catalogue

    Result<std::unique_ptr<Channel>> try_open(const std::string& behave) {
        ChannelOptions options;
        options.server = "demo";
        options.settings["behave"] = behave;
        return catalogue_->open("fake", std::move(options), events_);
    }
    void open(const std::string& behave = "well") {
        auto opened = try_open(behave);
        ASSERT_TRUE(opened) << opened.error().message;
        channel_ = std::move(*opened);
    }
    void close() {
        channel_->close();
        EXPECT_TRUE(until([&] { return events_.closed; }));
        channel_.reset();
    }
    void expect_misbehaviour(const std::string& what) {
        ASSERT_TRUE(
            until([&] { return catalogue_->list().at(0).state == PluginState::Misbehaved; }));
        EXPECT_THAT(catalogue_->list().at(0).reason, HasSubstr(what));
        const auto again = try_open("well");
        ASSERT_FALSE(again);
        EXPECT_THAT(again.error().message, HasSubstr("is misbehaved"));
    }

    PluginFolder folder_;
    std::unique_ptr<Catalogue> catalogue_;
};

TEST_F(ChannelTest, CarriesAMessageThereAndBack) {
    open();
    EXPECT_TRUE(events_.lines.empty()) << "an event was delivered from inside open";
    ASSERT_EQ(*send(7, "{\"id\":1}"), Flow::Ready);
    EXPECT_TRUE(events_.lines.empty()) << "an event was delivered from inside send";
    turn();
    close();
    EXPECT_THAT(events_.lines, ElementsAre("opened", "message 0 {\"id\":1}", "done 7", "closed"));
    EXPECT_TRUE(events_.problems.empty());
}

TEST_F(ChannelTest, ReportsWhyOpenFailed) {
    const auto opened = try_open("refuse_open");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::Io);
    EXPECT_EQ(opened.error().message, "server \"demo\": no such peer as \"demo\"");
    EXPECT_EQ(catalogue_->list().at(0).state, PluginState::Loaded);
}

TEST_F(ChannelTest, ReportsARefusedSend) {
    open("refuse_send");
    const auto sent = send(1);
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, ErrorCode::Limit);
    close();
    EXPECT_THAT(events_.lines, ElementsAre("opened", "closed"));
}

TEST_F(ChannelTest, TellsAFailedExchangeWithItsProblem) {
    open("fail");
    ASSERT_TRUE(send(1));
    close();
    ASSERT_EQ(events_.problems.size(), 1u);
    const auto& problem = events_.problems[0];
    EXPECT_EQ(problem.error.code, ErrorCode::Io);
    EXPECT_THAT(problem.error.message, HasSubstr("wire cut"));
    EXPECT_EQ(problem.http_status, 503u);
    EXPECT_TRUE(problem.retryable);
    EXPECT_TRUE(problem.not_sent);
}

TEST_F(ChannelTest, CancelsAnExchangeThatHasNotEnded) {
    open("keep");
    EXPECT_EQ(*send(5), Flow::Paused);
    channel_->cancel(4);  // unknown: ignored
    channel_->cancel(5);
    channel_->cancel(5);
    close();
    EXPECT_THAT(events_.lines, ElementsAre("opened", "done 5", "writable", "closed"));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Cancelled);
}

TEST_F(ChannelTest, AnswersPauseAndResumesThePlugin) {
    open();
    channel_->pause();
    ASSERT_TRUE(send(1));
    ASSERT_TRUE(send(2));
    turn();
    EXPECT_EQ(events_.messages, 2u) << "a message that came after pause() was lost";
    EXPECT_THAT(events_.lines, testing::Not(Contains(HasSubstr("held="))));
    channel_->resume();
    turn();
    EXPECT_THAT(events_.lines, Contains("held=2"));
    close();
}

TEST_F(ChannelTest, DeliversEventsOfAnotherThreadInOrderOnTheLoop) {
    open("thread");
    events_.during_message = [&] { EXPECT_TRUE(loop_.on_loop_thread()); };
    ASSERT_TRUE(until([&] { return events_.messages == 1000; }));
    for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(events_.lines.at(static_cast<std::size_t>(i) + 1),
                  "message 0 {\"n\":" + std::to_string(i) + "}");
    close();
}

TEST_F(ChannelTest, MayBeDestroyedByItsLastEvent) {
    struct Last final : ChannelEvents {
        std::unique_ptr<Channel>* channel = nullptr;
        void on_opened() override {}
        void on_message(ExchangeId, core::Buffer) override {}
        void on_done(ExchangeId, const Problem*) override {}
        void on_writable() override {}
        void on_challenge(const Problem&) override {}
        void on_output(unsigned, std::string_view) override {}
        void on_fact(std::string_view, std::string_view) override {}
        void on_closed(const Problem*) override { channel->reset(); }
    } last;
    last.channel = &channel_;
    ChannelOptions options;
    options.server = "demo";
    auto opened = catalogue_->open("fake", std::move(options), last);
    ASSERT_TRUE(opened) << opened.error().message;
    channel_ = std::move(*opened);
    channel_->close();
    EXPECT_TRUE(until([&] { return channel_ == nullptr; }));
}

TEST_F(ChannelTest, AsksForAPauseWhenManySmallMessagesWait) {
    open("burst");
    ASSERT_TRUE(send(1));
    ASSERT_TRUE(until([&] { return events_.messages == 5'000; }));
    turn();
    // The first thousand events, one of which says that the channel is open, were taken as they
    // came.
    EXPECT_THAT(events_.lines, Contains("held=4001"));
    close();
    EXPECT_TRUE(events_.problems.empty());
}

struct Excessive {
    const char *behave, *limit;
};
class Excess : public ChannelTest, public testing::WithParamInterface<Excessive> {};

TEST_P(Excess, EndsItsChannelAndNotItsPlugin) {
    open(GetParam().behave);
    ASSERT_TRUE(send(1));
    ASSERT_TRUE(until([&] { return events_.closed; }));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Limit);
    EXPECT_THAT(events_.problems[0].error.message,
                testing::AllOf(HasSubstr("server \"demo\""),
                               HasSubstr(std::string("(limit ") + GetParam().limit + ")")));
    channel_.reset();
    EXPECT_EQ(catalogue_->list().at(0).state, PluginState::Loaded);
    events_ = {};
    open();
    ASSERT_TRUE(send(2));
    turn();
    close();
    EXPECT_THAT(events_.lines, ElementsAre("opened", "message 0 {}", "done 2", "closed"));
}
INSTANTIATE_TEST_SUITE_P(All, Excess,
                         testing::Values(Excessive{"storm", "channel_events"},
                                         Excessive{"flood", "channel_bytes"}),
                         [](const auto& named) { return std::string(named.param.behave); });

TEST_F(ChannelTest, AListenerThatThrowsEndsItsChannelAndNothingElse) {
    events_.during_message = [] { throw std::out_of_range("no such thing"); };
    open();
    ASSERT_TRUE(send(1));
    ASSERT_TRUE(until([&] { return events_.closed; }));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Internal);
    EXPECT_THAT(events_.problems[0].error.message,
                HasSubstr("internal error at message: no such thing"));
    EXPECT_EQ(core::take_escapes(), 1u);
    EXPECT_EQ(std::count(events_.lines.begin(), events_.lines.end(), "closed"), 1);
    channel_.reset();
    EXPECT_EQ(catalogue_->list().at(0).state, PluginState::Loaded);
    events_ = {};
    open();
    close();
    EXPECT_THAT(events_.lines, ElementsAre("opened", "closed"));
}

TEST_F(ChannelTest, HearsNothingOfAChannelThatWasRefused) {
    {
        auto listener = std::make_unique<Recorder>();  // gone before the loop comes round
        ChannelOptions options;
        options.server = "demo";
        options.settings["behave"] = "say_and_refuse";
        const auto opened = catalogue_->open("fake", std::move(options), *listener);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, ErrorCode::Io);
        EXPECT_TRUE(listener->lines.empty());
    }
    EXPECT_FALSE(try_open("say_and_refuse"));
    turn();
    turn();
    EXPECT_TRUE(events_.lines.empty());
    EXPECT_EQ(catalogue_->list().at(0).state, PluginState::Loaded);
}

TEST_F(ChannelTest, DoesNotSettleWithATransportThatCannot) {
    open("keep");
    EXPECT_EQ(*send(5), Flow::Paused);
    channel_->settle(5);  // the fake has no such slot
    channel_->settle(4);
    close();
    EXPECT_EQ(catalogue_->list().at(0).state, PluginState::Loaded);
}

TEST_F(ChannelTest, RefusesASendAfterClose) {
    open();
    channel_->close();
    channel_->close();
    EXPECT_EQ(send(1).error().code, ErrorCode::Unavailable);
    close();
}

TEST_F(ChannelTest, IsLeftBehindWhenThePluginDoesNotClose) {
    open("never_close");
    channel_->close();
    turn();
    EXPECT_FALSE(events_.closed);
    channel_.reset();
    catalogue_.reset();  // does not shut the plugin down, does not wait for it
    EXPECT_FALSE(events_.closed);
}

struct Misdeed {
    const char *behave, *what;
};
class Misdeeds : public ChannelTest, public testing::WithParamInterface<Misdeed> {};

TEST_P(Misdeeds, AreNamedAndEndTheChannel) {
    auto opened = try_open(GetParam().behave);
    if (opened) {
        channel_ = std::move(*opened);
        static_cast<void>(send(1));
        turn();
        channel_->close();
    } else {
        EXPECT_EQ(opened.error().code, ErrorCode::Internal);
    }
    expect_misbehaviour(GetParam().what);
    if (channel_) {
        EXPECT_EQ(std::count(events_.lines.begin(), events_.lines.end(), "closed"), 1);
    }
}
INSTANTIATE_TEST_SUITE_P(
    All, Misdeeds,
    testing::Values(Misdeed{"no_channel", "open returned OK without a channel"},
                    Misdeed{"opened_twice", "opened twice"},
                    Misdeed{"done_twice", "done for exchange 1, which has ended or never was"},
                    Misdeed{"strange_exchange", "done for exchange 1001"},
                    Misdeed{"small_problem", "a problem of an unknown size"},
                    Misdeed{"closed_twice", "closed after closed"},
                    Misdeed{"event_after_closed", "writable after closed"},
                    Misdeed{"close_with_open", "closed while 1 exchanges were not done"}),
    [](const auto& named) { return std::string(named.param.behave); });

class ThrowingPlugin : public ChannelTest {
protected:
    ThrowingPlugin() : ChannelTest("throwing") {}
};

TEST_F(ThrowingPlugin, IsCaughtAndNotUsedAgain) {
    open();
    const auto sent = send(1);
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, ErrorCode::Internal);
    expect_misbehaviour("send threw: out of cheese");
    EXPECT_THAT(events_.lines, ElementsAre("opened", "closed"));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Internal);
}

}  // namespace
