// One channel between a transport table and a listener that are both the test's own: what the host
// hands through the C ABI, and what it makes of every event.
#include "core/secrets.hpp"
#include "plugin/open_channel.hpp"
#include "plugin/signer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

struct Listener final : ChannelEvents {
    std::vector<std::string> lines;
    std::vector<Problem> problems;
    bool closed = false, throws = false;

    void keep(const Problem* problem) {
        if (problem) problems.push_back(*problem);
    }
    void on_opened() override { lines.emplace_back("opened"); }
    void on_message(ExchangeId exchange, core::Buffer body) override {
        lines.push_back("message " + std::to_string(exchange) + " " + std::string(body.view()));
    }
    void on_done(ExchangeId exchange, const Problem* problem) override {
        lines.push_back("done " + std::to_string(exchange));
        keep(problem);
    }
    void on_writable() override { lines.emplace_back("writable"); }
    void on_challenge(const Problem& problem) override {
        lines.emplace_back("challenge");
        keep(&problem);
    }
    void on_output(unsigned stream, std::string_view line) override {
        lines.push_back("output " + std::to_string(stream) + " " + std::string(line));
    }
    void on_fact(std::string_view name, std::string_view value) override {
        lines.push_back(std::string(name) + "=" + std::string(value));
    }
    void on_closed(const Problem* problem) override {
        lines.emplace_back("closed");
        closed = true;
        keep(problem);
        if (throws) throw std::runtime_error("not now");
    }
};

std::string text_of_headers(const patchbay_kv* headers, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += std::string(view(headers[i].name)) + ":" + std::string(view(headers[i].value)) +
                "/" + std::to_string(headers[i].flags) + " ";
    return text;
}

// The plugin's side: writes down how it is called, answers as it is told.
struct Transport {
    std::vector<std::string> calls;
    const patchbay_sink* sink = nullptr;
    patchbay_link* link = nullptr;
    std::uint64_t message_bytes = 0;
    std::uint64_t deadline_ns = 0;
    patchbay_status open_status = PATCHBAY_OK, send_status = PATCHBAY_OK;
    std::function<void()> during_open;
    const char* throws_in = "";
    patchbay_transport table{sizeof(patchbay_transport),
                             0,
                             "own",
                             "{}",
                             on_open,
                             on_send,
                             on_cancel,
                             on_resume,
                             nullptr,
                             nullptr,
                             on_close,
                             on_destroy};

    static Transport& of(patchbay_channel* channel) {
        return *reinterpret_cast<Transport*>(channel);
    }
    static Transport*& opening() {  // nothing in an open leads to us
        static Transport* one = nullptr;
        return one;
    }
    void called(const std::string& slot, const std::string& what = {}) {
        calls.push_back(what.empty() ? slot : slot + " " + what);
        if (slot == throws_in) throw std::runtime_error("no " + slot);
    }

    static patchbay_status on_open(const patchbay_open_params* params, patchbay_channel** out,
                                   patchbay_error* error) {
        auto& self = *opening();
        self.sink = params->sink;
        self.link = params->link;
        self.message_bytes = params->message_bytes;
        if (self.during_open) self.during_open();
        self.called("open", std::string(view(params->server)) + " " +
                                std::string(view(params->config)) + " " +
                                text_of_headers(params->credentials, params->credential_count));
        if (self.open_status != PATCHBAY_OK) fill(error, self.open_status, "not today");
        *out = reinterpret_cast<patchbay_channel*>(&self);
        return self.open_status;
    }
    static patchbay_status on_send(patchbay_channel* channel, const patchbay_message* message) {
        auto& self = of(channel);
        const std::string body(reinterpret_cast<const char*>(message->body.data),
                               message->body.size);
        if (message->body.release) message->body.release(message->body.owner);
        self.deadline_ns = message->deadline_ns;
        self.called("send", std::to_string(message->kind) + " " +
                                std::to_string(message->exchange) + " " + body + " " +
                                std::string(view(message->method)) + " " +
                                std::string(view(message->protocol)) + " " +
                                text_of_headers(message->headers, message->header_count));
        return self.send_status;
    }
    static void on_cancel(patchbay_channel* channel, std::uint64_t exchange) {
        of(channel).called("cancel", std::to_string(exchange));
    }
    static void on_resume(patchbay_channel* channel) { of(channel).called("resume"); }
    static void on_settle(patchbay_channel* channel, std::uint64_t exchange) {
        of(channel).called("settle", std::to_string(exchange));
    }
    static void on_set_credentials(patchbay_channel* channel, const patchbay_kv* credentials,
                                   std::size_t count) {
        of(channel).called("set_credentials", text_of_headers(credentials, count));
    }
    static void on_close(patchbay_channel* channel) { of(channel).called("close"); }
    static void on_destroy(patchbay_channel* channel) { of(channel).called("destroy"); }
};

class ChannelAlone : public testing::Test {
protected:
    ~ChannelAlone() override {
        if (!channel_) return;
        channel_->close();
        transport_.sink->closed(transport_.link, nullptr);
        until([&] { return events_.closed; });
    }

    Result<std::unique_ptr<Channel>> try_open(ChannelOptions options = {}) {
        Transport::opening() = &transport_;
        options.server = "demo";
        return open_channel(loop_, services_, transport_.table, std::move(options), events_);
    }
    void open(ChannelOptions options = {}) {
        auto opened = try_open(std::move(options));
        ASSERT_TRUE(opened) << opened.error().message;
        channel_ = std::move(*opened);
        transport_.calls.clear();
    }
    Result<Flow> send(ExchangeId exchange) {
        OutgoingMessage message;
        message.exchange = exchange;
        message.body = core::Buffer::from(std::string("{}"));
        return channel_->send(std::move(message));
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + 20s);
    }
    void turn() {
        bool turned = false;
        loop_.post([&] { turned = true; });
        ASSERT_TRUE(until([&] { return turned; }));
    }
    static patchbay_problem problem(patchbay_status code, const char* text) {
        patchbay_problem made{};
        made.struct_size = sizeof made;
        fill(&made.error, code, text);
        return made;
    }
    patchbay_status say(std::uint64_t exchange, std::string_view body) {
        const patchbay_buf borrowed{reinterpret_cast<const std::uint8_t*>(body.data()), body.size(),
                                    body.size(), nullptr, nullptr};
        return transport_.sink->message(transport_.link, exchange, &borrowed);
    }

    core::Loop loop_;
    HostServices services_{"test", {}};
    Transport transport_;
    Listener events_;
    std::unique_ptr<Channel> channel_;
};

TEST_F(ChannelAlone, IsOpenedWithAllThatIsConfigured) {
    ChannelOptions options;
    options.settings["url"] = "there";
    options.credentials = {{"Authorization", "Bearer 1", true, false}, {"PORT", "2", false, true}};
    options.message_bytes = 4711;
    auto opened = try_open(std::move(options));
    ASSERT_TRUE(opened);
    channel_ = std::move(*opened);
    EXPECT_THAT(transport_.calls,
                ElementsAre("open demo {\"url\":\"there\"} Authorization:Bearer 1/1 PORT:2/2 "));
    EXPECT_EQ(transport_.message_bytes, 4711u);
    EXPECT_EQ(services_.channels, 1u);
}

TEST_F(ChannelAlone, HandsEveryPartOfAMessageOver) {
    open();
    const std::vector<Header> headers = {{"Mcp-Name", "search", false, false}};
    OutgoingMessage message;
    message.kind = MessageKind::Notification;
    message.exchange = 3;
    message.body = core::Buffer::from(std::string("{\"a\":1}"));
    message.method = "tools/call";
    message.protocol = "2025-06-18";
    message.headers = &headers;
    message.deadline = core::Clock::time_point(12'345ns);
    EXPECT_EQ(*channel_->send(std::move(message)), Flow::Ready);
    EXPECT_EQ(transport_.deadline_ns, 12'345u);
    transport_.send_status = PATCHBAY_PAUSE;
    EXPECT_EQ(*send(4), Flow::Paused);
    EXPECT_EQ(transport_.deadline_ns, 0u) << "no deadline";
    EXPECT_THAT(transport_.calls,
                ElementsAre("send 2 3 {\"a\":1} tools/call 2025-06-18 Mcp-Name:search/0 ",
                            "send 1 4 {}   "));
    transport_.sink->done(transport_.link, 3, PATCHBAY_OK, nullptr);
    transport_.sink->done(transport_.link, 4, PATCHBAY_OK, nullptr);
    turn();
    EXPECT_EQ(services_.misbehaviour(), "");
}

TEST_F(ChannelAlone, SettlesWhatRunsWithATransportThatCanResume) {
    transport_.table.caps = PATCHBAY_CAP_RESUME;
    transport_.table.settle = Transport::on_settle;
    open();
    ASSERT_TRUE(send(5));
    transport_.calls.clear();
    channel_->settle(4);
    EXPECT_THAT(transport_.calls, IsEmpty()) << "no such exchange";
    channel_->settle(5);
    EXPECT_THAT(transport_.calls, ElementsAre("settle 5"));
    transport_.sink->done(transport_.link, 5, PATCHBAY_OK, nullptr);
    turn();
    channel_->settle(5);
    EXPECT_EQ(transport_.calls.size(), 1u) << "it has ended";
}

TEST_F(ChannelAlone, DoesNotCallASlotOfACapabilityThatIsNotThere) {
    open();  // settle and set_credentials are null
    ASSERT_TRUE(send(5));
    transport_.calls.clear();
    channel_->settle(5);
    channel_->set_credentials({{"Authorization", "Bearer 2", true, false}});
    EXPECT_THAT(transport_.calls, IsEmpty());
    EXPECT_FALSE(channel_->request_scoped());
    EXPECT_FALSE(channel_->takes_headers());
    transport_.table.caps = PATCHBAY_CAP_EXCHANGE | PATCHBAY_CAP_HEADERS;
    EXPECT_TRUE(channel_->request_scoped());
    EXPECT_TRUE(channel_->takes_headers());
    transport_.sink->done(transport_.link, 5, PATCHBAY_OK, nullptr);
}

TEST_F(ChannelAlone, HandsNewCredentialsOnAsLongAsItIsOpen) {
    transport_.table.caps = PATCHBAY_CAP_CREDENTIALS;
    transport_.table.set_credentials = Transport::on_set_credentials;
    open();
    channel_->set_credentials({{"Authorization", "Bearer 2", true, false}});
    EXPECT_THAT(transport_.calls, ElementsAre("set_credentials Authorization:Bearer 2/1 "));
    transport_.sink->closed(transport_.link, nullptr);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    transport_.calls.clear();
    channel_->set_credentials({});
    channel_->cancel(1);
    channel_->settle(1);
    channel_->resume();
    channel_->close();
    EXPECT_FALSE(send(1));
    EXPECT_THAT(transport_.calls, IsEmpty()) << "the plugin has freed the channel";
    channel_.reset();
}

TEST_F(ChannelAlone, TellsEveryEventOnceAndInOrder) {
    open();
    const auto* const sink = transport_.sink;
    auto* const link = transport_.link;
    sink->opened(link);
    sink->output(link, PATCHBAY_OUTPUT_STDERR, str("warming up"));
    sink->fact(link, str("pid"), str("7"));
    EXPECT_EQ(say(0, "{\"a\":1}"), PATCHBAY_OK);
    sink->writable(link);
    const auto session = problem(PATCHBAY_E_SESSION, "lost");
    const auto other = problem(PATCHBAY_E_IO, "who are you");
    sink->challenge(link, &session);
    sink->challenge(link, &other);
    EXPECT_THAT(events_.lines, IsEmpty()) << "told from inside the plugin's call";
    turn();
    EXPECT_THAT(events_.lines,
                ElementsAre("opened", "output 1 warming up", "pid=7", "message 0 {\"a\":1}",
                            "writable", "challenge", "challenge"));
    ASSERT_EQ(events_.problems.size(), 2u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::SessionLost);
    EXPECT_EQ(events_.problems[1].error.code, ErrorCode::AuthRequired)
        << "a background stream is refused for that, whatever the number";
    EXPECT_EQ(events_.problems[1].error.message, "who are you");
}

TEST_F(ChannelAlone, CutsWhatIsForPeople) {
    open();
    const std::string exact(8192, 'x'), value(1024, 'v'), name(64, 'n');
    transport_.sink->output(transport_.link, 2, str(exact));
    transport_.sink->output(transport_.link, 2, str(exact + "y"));
    transport_.sink->fact(transport_.link, str(name), str(value));
    turn();
    EXPECT_THAT(events_.lines,
                ElementsAre("output 2 " + exact, "output 2 " + exact, name + "=" + value));
    transport_.sink->fact(transport_.link, str(name + "n"), str(value + "w"));
    turn();
    EXPECT_LT(events_.lines.at(3).size(), name.size() + value.size() + 32);
    EXPECT_NE(events_.lines.at(3), name + "n=" + value + "w");
}

TEST_F(ChannelAlone, ShowsNoBeginningOfASecretThatWasCut) {
    core::Secrets secrets;
    secrets.add("k9ZqA7Lw2pXv4Tn8");
    open();
    const std::string half = "k9ZqA7Lw2pXv4Tn", line = std::string(8192 - half.size(), 'x');
    transport_.sink->output(transport_.link, 2, str(line + half));  // cut by the plugin
    transport_.sink->output(transport_.link, 2, str(line + half + "8, cut by the host"));
    turn();
    EXPECT_THAT(events_.lines, ElementsAre("output 2 " + line + "***", "output 2 " + line + "***"));
    for (const std::size_t missing : {0u, 3u}) {
        const std::string said(495 - missing - half.size(), 'x');
        const auto reason = problem(PATCHBAY_E_PROTOCOL, (said + half).c_str());
        transport_.sink->challenge(transport_.link, &reason);
        turn();
        EXPECT_EQ(events_.problems.back().error.message, said + "***");
    }
}

TEST_F(ChannelAlone, EndsWithTheReasonThatIsGiven) {
    open();
    const auto reason = problem(PATCHBAY_E_PROTOCOL, "no JSON");
    transport_.sink->closed(transport_.link, &reason);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Protocol);
    EXPECT_EQ(events_.problems[0].error.message, "no JSON");
    EXPECT_THAT(transport_.calls, ElementsAre("destroy"));
    EXPECT_EQ(services_.channels, 0u);
    channel_.reset();
    EXPECT_EQ(transport_.calls.size(), 1u) << "destroyed once";
}

TEST_F(ChannelAlone, EndsWithAnIoErrorWhenTheReasonHasNoCode) {
    open();
    const auto reason = problem(PATCHBAY_OK, "somehow");
    transport_.sink->closed(transport_.link, &reason);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Io);
    channel_.reset();
}

TEST_F(ChannelAlone, IsNotResumedBeforeItsMessagesAreDelivered) {
    open();
    channel_->pause();
    EXPECT_EQ(say(0, "{}"), PATCHBAY_PAUSE);
    turn();
    EXPECT_THAT(transport_.calls, IsEmpty()) << "the host has paused it";
    channel_->resume();
    EXPECT_THAT(transport_.calls, ElementsAre("resume"));
    channel_->resume();
    EXPECT_EQ(transport_.calls.size(), 1u) << "a PAUSE that was not answered is not ended";
}

// The limits in bytes and events, exactly at and over.
TEST_F(ChannelAlone, AsksForAPauseWhenMoreThanAMegabyteOrAThousandEventsWait) {
    open();
    EXPECT_EQ(say(0, std::string(1u << 20, 'x')), PATCHBAY_OK);
    EXPECT_EQ(say(0, "x"), PATCHBAY_PAUSE);
    turn();
    EXPECT_THAT(transport_.calls, ElementsAre("resume"));
    transport_.calls.clear();
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(say(0, "x"), PATCHBAY_OK) << i;
    EXPECT_EQ(say(0, "x"), PATCHBAY_PAUSE);
    turn();
    EXPECT_THAT(transport_.calls, ElementsAre("resume"));
    EXPECT_EQ(events_.lines.size(), 1003u);
}

TEST_F(ChannelAlone, DropsLinesForPeopleBeyondTenThousandAndNothingElse) {
    open();
    for (int i = 0; i < 10'001; ++i)
        transport_.sink->output(transport_.link, PATCHBAY_OUTPUT_STRAY, str("line"));
    say(0, "{}");
    turn();
    EXPECT_EQ(events_.lines.size(), 10'001u);
    EXPECT_EQ(events_.lines.back(), "message 0 {}");
    EXPECT_THAT(events_.problems, IsEmpty());
}

TEST_F(ChannelAlone, TakesAHundredThousandEventsAndEndsWithOneMore) {
    open();
    const auto wait = [&](int count) {
        for (int i = 0; i < count; ++i) transport_.sink->writable(transport_.link);
        turn();
    };
    wait(100'000);
    EXPECT_THAT(events_.problems, IsEmpty());
    EXPECT_EQ(events_.lines.size(), 100'000u);
    wait(100'001);
    EXPECT_TRUE(events_.closed);
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Limit);
    EXPECT_THAT(events_.problems[0].error.message, HasSubstr("limit channel_events"));
    EXPECT_THAT(transport_.calls, ElementsAre("close"));
    EXPECT_EQ(services_.misbehaviour(), "") << "the peer has done it, not the plugin";
}

TEST_F(ChannelAlone, AFullQueueStillTakesTheEnd) {
    open();
    for (int i = 0; i < 100'000; ++i) transport_.sink->writable(transport_.link);
    transport_.sink->closed(transport_.link, nullptr);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(events_.problems, IsEmpty());
    EXPECT_THAT(transport_.calls, ElementsAre("destroy"));
    channel_.reset();
}

struct BadEvent {
    const char *name, *what;
    void (*tell)(const patchbay_sink&, patchbay_link*);
};
class BadEvents : public ChannelAlone, public testing::WithParamInterface<BadEvent> {};

TEST_P(BadEvents, BreakTheContract) {
    open();
    GetParam().tell(*transport_.sink, transport_.link);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(services_.misbehaviour(), HasSubstr(GetParam().what));
    ASSERT_EQ(events_.problems.size(), 1u);
    EXPECT_EQ(events_.problems[0].error.code, ErrorCode::Internal);
    EXPECT_THAT(transport_.calls, ElementsAre("close"));
    transport_.sink->writable(transport_.link);
    transport_.sink->closed(transport_.link, nullptr);
    turn();
    EXPECT_THAT(events_.lines, ElementsAre("closed")) << "nothing of it is heard any more";
    EXPECT_THAT(transport_.calls, ElementsAre("close", "destroy"));
    channel_.reset();
}

constexpr patchbay_problem small_problem() {
    patchbay_problem made{};
    made.struct_size = 4;
    return made;
}
constexpr BadEvent kBadEvents[] = {
    {"MessageWithoutABuffer", "message without a body",
     [](const patchbay_sink& sink, patchbay_link* link) { sink.message(link, 0, nullptr); }},
    {"MessageWithoutBytes", "message without a body",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const patchbay_buf none{nullptr, 1, 1, nullptr, nullptr};
         sink.message(link, 0, &none);
     }},
    {"MessageOfNoExchange", "a message for exchange 9, which is not open",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const patchbay_buf empty{nullptr, 0, 0, [](void*) {}, nullptr};
         sink.message(link, 9, &empty);
     }},
    {"ChallengeWithoutAProblem", "challenge without a problem",
     [](const patchbay_sink& sink, patchbay_link* link) { sink.challenge(link, nullptr); }},
    {"ChallengeWithASmallProblem", "challenge without a problem",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const auto small = small_problem();
         sink.challenge(link, &small);
     }},
    {"ClosedWithASmallProblem", "closed with a problem of an unknown size",
     [](const patchbay_sink& sink, patchbay_link* link) {
         const auto small = small_problem();
         sink.closed(link, &small);
     }},
};
INSTANTIATE_TEST_SUITE_P(All, BadEvents, testing::ValuesIn(kBadEvents),
                         [](const auto& named) { return std::string(named.param.name); });

TEST_F(ChannelAlone, NamesAnAnswerToSendThatMeansNothing) {
    open();
    transport_.send_status = 2;
    EXPECT_TRUE(send(1));
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("send returned 2"));
}

TEST_F(ChannelAlone, IsClosedOnceWhoeverThrowsWhenTheEndIsTold) {
    open();
    events_.throws = true;
    transport_.sink->challenge(transport_.link, nullptr);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    turn();
    EXPECT_THAT(transport_.calls, ElementsAre("close"));
    EXPECT_THAT(events_.lines, ElementsAre("closed"));
}

TEST_F(ChannelAlone, NamesTheSlotThatThrows) {
    open();
    ASSERT_TRUE(send(1));
    transport_.throws_in = "cancel";
    channel_->cancel(1);
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("server \"demo\": cancel threw: no cancel"));
}

TEST_F(ChannelAlone, ThatIsRefusedIsToldWithTheReason) {
    transport_.open_status = PATCHBAY_E_DENIED;
    const auto refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Denied);
    EXPECT_EQ(refused.error().message, "server \"demo\": not today");
    EXPECT_EQ(services_.misbehaviour(), "");
    EXPECT_EQ(services_.channels, 0u);
}

TEST_F(ChannelAlone, ThatIsOpenedWithANumberThatMeansNothingBreaksTheContract) {
    transport_.open_status = PATCHBAY_PAUSE;
    const auto refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Internal);
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("open returned 1"));
    EXPECT_EQ(services_.channels, 0u);
}

TEST_F(ChannelAlone, ThatThrowsWhenItIsOpenedBreaksTheContract) {
    transport_.throws_in = "open";
    transport_.during_open = [&] { transport_.sink->opened(transport_.link); };
    const auto refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Internal);
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("open threw: no open"));
    turn();
    EXPECT_THAT(events_.lines, IsEmpty()) << "nobody has a channel that this could belong to";
}

TEST_F(ChannelAlone, ASignatureNeedsALinkASignerAndSomebodyToTell) {
    const auto header = [](void*, patchbay_str, patchbay_str) {};
    open();
    const auto sign = [&](patchbay_link* link, Signer::Header to) {
        return sign_table()->sign(services_.host(), link, str("POST"), str("https://a/"), nullptr,
                                  to);
    };
    EXPECT_EQ(sign(nullptr, header), PATCHBAY_E_INVALID);
    EXPECT_EQ(sign(transport_.link, nullptr), PATCHBAY_E_INVALID);
    EXPECT_EQ(sign(transport_.link, header), PATCHBAY_E_AUTH) << "it was opened without a signer";
}

}  // namespace
