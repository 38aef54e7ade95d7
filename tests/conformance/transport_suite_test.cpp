// What every transport must do, whatever it speaks to: run for each bundled one. For another, add a
// row to kinds() and its server to suite_peers.hpp.
#include "conformance/suite_peers.hpp"
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

// What the cases ask beyond what all transports must do, and why one may lack it.
enum Ability : unsigned {
    // Messages come in the order they were sent. Not where each is a request of its own: those
    // race each other.
    kKeepsOrder = 1u << 0,
    // The channel is one connection and ends with it. Not where each message has its own: there the
    // exchange ends instead.
    kEndsWithItsServer = 1u << 1,
    // The server speaks as soon as it is there. Not where it only answers.
    kHearsUnasked = 1u << 2,
    // A message is done when the server has answered it. Elsewhere when its bytes are handed over.
    kAwaitsAnswers = 1u << 3,
    // Messages are lines, and others among them are shown to people. Elsewhere the framing leaves
    // no room for them.
    kReadsLines = 1u << 4,
    // The server may be a process that the transport starts. Elsewhere it is there already.
    kStartsProcesses = 1u << 5,
};

struct Kind {
    const char* name;
    const char* plugin;
    unsigned abilities;
    std::size_t waiting_bytes;  // beyond them a sender is asked to pause
    std::unique_ptr<SuitePeer> (*peer)(Mode mode, long number);
    std::vector<std::string> wrong_settings = {};

    friend std::ostream& operator<<(std::ostream& out, const Kind& kind) {
        return out << kind.name;
    }
};

std::vector<std::string> wrong_urls(const std::string& scheme) {
    return {"{}",
            "[]",
            "",
            "{\"url\":1}",
            "{\"url\":\"\"}",
            "{\"url\":\"ftp://127.0.0.1/\"}",
            "{\"url\":\"" + scheme + "://user:word@127.0.0.1/\"}",
            "{\"url\":\"" + scheme + "://127.0.0.1:70000/\"}",
            "{\"url\":\"" + scheme + "://x\\u0000y/\"}",
            "{\"url\":\"" + scheme + "://127.0.0.1/\",\"headers\":1}",
            "{\"url\":\"" + scheme + "://127.0.0.1/\",\"headers\":{\"A\":1}}",
            "{\"url\":\"" + scheme + "://127.0.0.1/\",\"headers\":{\"A\":\"b\\r\\nC: d\"}}",
            "{\"url\":\"" + scheme + "://127.0.0.1/\",\"connect_timeout_ms\":-1}"};
}

const std::vector<Kind>& kinds() {
    constexpr unsigned duplex = kKeepsOrder | kEndsWithItsServer | kHearsUnasked;
    static const std::vector<std::string> wrong_lines = {
        "{}",
        "[]",
        "",
        "{\"command\":1,\"port\":\"x\"}",
        "{\"command\":[],\"port\":70000}",
        "{\"command\":\"x\",\"port\":1,\"args\":\"y\"}",
        "{\"command\":[\"x\"],\"port\":1,\"env\":{\"A\":1}}",
        "{\"command\":\"\",\"port\":1}",
        "{\"command\":\"x\\u0000y\",\"port\":1}",
        "{\"command\":\"x\",\"port\":1,\"stop_grace_ms\":-1}"};
    static const std::vector<Kind> all = {
        {"stdio", "stdio", duplex | kReadsLines | kStartsProcesses, 1u << 20,
         [](Mode mode, long number) -> std::unique_ptr<SuitePeer> {
             return std::make_unique<LinePeer>("stdio", mode, number);
         },
         wrong_lines},
        {"tcp", "tcp", duplex | kReadsLines | kStartsProcesses, 1u << 20,
         [](Mode mode, long number) -> std::unique_ptr<SuitePeer> {
             return std::make_unique<LinePeer>("tcp", mode, number);
         },
         wrong_lines},
        {"http", "http", kAwaitsAnswers, 16u << 20,
         [](Mode mode, long number) -> std::unique_ptr<SuitePeer> {
             return std::make_unique<StreamableHttpPeer>(mode, number, false);
         },
         wrong_urls("http")},
        {"http_streams", "http", kAwaitsAnswers, 16u << 20,
         [](Mode mode, long number) -> std::unique_ptr<SuitePeer> {
             return std::make_unique<StreamableHttpPeer>(mode, number, true);
         },
         wrong_urls("https")},
        {"sse", "sse", kEndsWithItsServer | kHearsUnasked | kAwaitsAnswers, 16u << 20,
         [](Mode mode, long number) -> std::unique_ptr<SuitePeer> {
             return std::make_unique<SsePeer>(mode, number);
         },
         wrong_urls("http")},
        {"ws", "ws", duplex, 16u << 20,
         [](Mode mode, long number) -> std::unique_ptr<SuitePeer> {
             return std::make_unique<WsPeer>(mode, number);
         },
         wrong_urls("ws")},
    };
    return all;
}

std::vector<Kind> kinds_that(Ability ability) {
    std::vector<Kind> found;
    for (const auto& kind : kinds())
        if (kind.abilities & ability) found.push_back(kind);
    return found;
}

class Transport : public testing::TestWithParam<Kind> {
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

    static bool can(Ability ability) { return (GetParam().abilities & ability) != 0; }

    void open(Mode mode, long number = 0) {
        peer_ = GetParam().peer(mode, number);
        ASSERT_EQ(channel_.open(peer_->settings()), PATCHBAY_OK) << channel_.refusal;
        ASSERT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
        look();
    }
    // A server that speaks; where it only answers, it is asked.
    void listen_to(Mode mode, long number = 0) {
        open(mode, number);
        if (can(kHearsUnasked)) return;
        ASSERT_GE(channel_.send("{}", "tools/call"), 0);
    }
    bool messages(std::size_t count) {
        return channel_.until([&] {
            return channel_.message_count() >= count || channel_.closed();
        }) && channel_.message_count() == count;
    }
    bool all_done() {
        return channel_.until([&] { return channel_.running() == 0; });
    }
    bool over() {
        return channel_.until([&] { return channel_.closed(); });
    }
    // How it ended that the server broke something: the channel, or the exchange it was in.
    PluginChannel::End ending() {
        const bool channel_ends = can(kEndsWithItsServer);
        EXPECT_TRUE(channel_ends ? over() : channel_.until([&] { return channel_.ended() > 0; }));
        return channel_ends ? channel_.end : channel_.last_end();
    }
    // What the server's thread does wakes no loop.
    void look() {
        loop_.after(std::chrono::milliseconds(5), [this] { look(); });
    }

    std::unique_ptr<SuitePeer> peer_;
    core::Loop loop_;
    PluginHost host_{loop_, GetParam().plugin};
    PluginChannel channel_{loop_, host_};
};

class TransportOfLines : public Transport {};
class TransportOfProcesses : public Transport {};
class TransportOfAnswers : public Transport {};

TEST_P(Transport, OpensAndClosesOnceWhenAsked) {
    open(Mode::Echo);
    EXPECT_TRUE(channel_.opened());
    channel_.close();
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
}

TEST_P(Transport, CarriesMessagesAndEndsEverySend) {
    open(Mode::Echo);
    for (int i = 0; i < 1000; ++i) ASSERT_GE(channel_.send(numbered(i)), 0);
    ASSERT_TRUE(messages(1000));
    ASSERT_TRUE(all_done());
    EXPECT_EQ(channel_.ended_with(PATCHBAY_OK), 1000u);
    std::vector<std::string> sent;
    for (int i = 0; i < 1000; ++i) sent.push_back(numbered(i));
    if (can(kKeepsOrder)) {
        EXPECT_EQ(channel_.messages, sent);
    }
    std::sort(sent.begin(), sent.end());
    EXPECT_EQ(channel_.sorted_messages(), sent);
}

TEST_P(Transport, CarriesBodiesOfEverySizeUpToTheLimit) {
    open(Mode::Echo);
    std::size_t count = 0;
    for (const std::size_t size : {2u, 8u, 4095u, 65'535u, 65'536u, 65'537u, 1u << 20, 16u << 20}) {
        ASSERT_GE(channel_.send(message_of(size)), 0);
        ASSERT_TRUE(messages(++count)) << size << " bytes: " << channel_.end.text;
        ASSERT_EQ(channel_.messages.back(), message_of(size));
    }
}

TEST_P(Transport, EndsAMessageThatNeverEndsWithinBoundedMemory) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    listen_to(Mode::Flood, 1L << 30);
    const auto end = ending();
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_EQ(end.status, PATCHBAY_E_LIMIT);
    EXPECT_THAT(end.text, HasSubstr("limit message_bytes"));
#if defined(__SANITIZE_THREAD__)
    constexpr long shadow = 4;  // times the memory that the sanitizer remembers accesses to
#elif defined(__SANITIZE_ADDRESS__)
    constexpr long shadow = 2;  // what is freed stays for a while
#else
    constexpr long shadow = 0;
#endif
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, (1 + shadow) * 96 * 1024) << "KiB";
}

TEST_P(Transport, SkipsWhatIsNoMessage) {
    listen_to(Mode::Odd);
    ASSERT_TRUE(messages(4));
    EXPECT_THAT(channel_.messages,
                ElementsAre("{\"n\":0}", "{\"n\":1}", "[{\"n\":2}]", "{\"n\":3}"));
}

TEST_P(TransportOfLines, ShowsOtherLinesToPeople) {
    open(Mode::Odd);
    ASSERT_TRUE(messages(4));
    EXPECT_THAT(channel_.stray,
                testing::IsSupersetOf({"Server starting...", "\"text\"", "\xff\xfe binary \x01"}));
}

TEST_P(Transport, LosesNothingWhenPausedAndResumed) {
    channel_.pause_after = [](std::size_t count) { return count % 7 == 0; };
    listen_to(Mode::Count, 5000);
    std::size_t seen = 0;
    while (seen < 5000) {
        ASSERT_TRUE(channel_.until([&] { return channel_.message_count() > seen; })) << seen;
        seen = channel_.message_count();
        channel_.resume();
    }
    for (std::size_t i = 0; i < 5000; ++i)
        ASSERT_EQ(channel_.messages[i], numbered(static_cast<long>(i)));
}

TEST_P(Transport, StopsWithinAMessageWhenPaused) {
    channel_.pause_after = [](std::size_t count) { return count == 100; };
    listen_to(Mode::Count, 5000);
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() >= 100; }));
    // Long enough for one that does not stop; too short only lets a fault pass.
    loop_.run_until([] { return false; }, core::Clock::now() + std::chrono::milliseconds(20));
    EXPECT_EQ(channel_.message_count(), 100u);
    channel_.resume();
    EXPECT_TRUE(messages(5000));
}

TEST_P(Transport, AsksASenderToPauseAndTellsWhenItMayGoOn) {
    open(Mode::Late);
    constexpr std::size_t size = 64u << 10, most_beneath = 32u << 20;  // sockets and connections
    patchbay_status status = PATCHBAY_OK;
    std::size_t sent = 0;
    for (; status == PATCHBAY_OK && sent < 2000; ++sent) status = channel_.send(message_of(size));
    EXPECT_EQ(status, PATCHBAY_PAUSE);
    EXPECT_GE(sent * size, GetParam().waiting_bytes);
    EXPECT_LE(sent * size, GetParam().waiting_bytes + most_beneath);
    EXPECT_EQ(channel_.writable_count(), 0);
    EXPECT_GE(channel_.send(message_of(100)), 0) << "accepted all the same";
    peer_->hear();
    ASSERT_TRUE(messages(sent + 1));
    ASSERT_TRUE(channel_.until([&] { return channel_.writable_count() > 0; }));
    ASSERT_TRUE(all_done());
    EXPECT_EQ(channel_.writable_count(), 1);
    EXPECT_EQ(channel_.send("{}"), PATCHBAY_OK);
}

TEST_P(Transport, CancelsWhatWaitsAndIgnoresWhatItDoesNotKnow) {
    open(Mode::Late);
    channel_.cancel(77);
    std::vector<std::string> sent;
    for (long i = 0; i < 200; ++i) {
        sent.push_back("[" + numbered(i) + ",\"" + std::string(60'000, 'x') + "\"]");
        ASSERT_GE(channel_.send(sent.back()), 0);
    }
    const auto last = channel_.last_exchange;
    channel_.cancel(last);
    channel_.cancel(last);
    const auto end = channel_.end_of_exchange(last);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->status, PATCHBAY_E_CANCELLED);
    EXPECT_TRUE(end->flags & PATCHBAY_ERR_NOT_SENT) << end->text;
    peer_->hear();
    sent.pop_back();
    ASSERT_TRUE(messages(sent.size()));
    std::sort(sent.begin(), sent.end());
    EXPECT_TRUE(channel_.sorted_messages() == sent) << "each once, but not what was cancelled";
    ASSERT_TRUE(all_done());
    channel_.cancel(last);
}

TEST_P(TransportOfAnswers, DoesNotCallUnsentWhatTheServerHas) {
    open(Mode::Silent);
    for (int i = 0; i < 2; ++i) ASSERT_GE(channel_.send("{}", "tools/call"), 0);
    ASSERT_TRUE(channel_.until([&] { return peer_->heard() == 2; }));
    channel_.cancel(1);
    ASSERT_TRUE(channel_.until([&] { return channel_.ended() == 1; }));
    EXPECT_EQ(channel_.last_end().status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(channel_.last_end().flags & PATCHBAY_ERR_NOT_SENT, 0u);
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.last_end().status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.last_end().flags & PATCHBAY_ERR_NOT_SENT, 0u);
}

TEST_P(Transport, EndsWhatIsInFlightBeforeItCloses) {
    open(Mode::Deaf);
    for (int i = 0; i < 200; ++i) ASSERT_GE(channel_.send(message_of(64u << 10)), 0);
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
    EXPECT_EQ(channel_.done.size(), 200u);
    const auto last = channel_.end_of_exchange(channel_.last_exchange);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->status, PATCHBAY_E_CLOSED);
    EXPECT_TRUE(last->flags & PATCHBAY_ERR_NOT_SENT) << last->text;
}

TEST_P(Transport, RefusesASendOnceItCloses) {
    open(Mode::Echo);
    channel_.close();
    EXPECT_EQ(channel_.send("{}"), PATCHBAY_E_CLOSED);
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.send("{}"), PATCHBAY_E_CLOSED);
    channel_.cancel(1);
    channel_.resume();
    channel_.close();
}

TEST_P(Transport, ClosesWhenAskedBeforeItHasOpened) {
    peer_ = GetParam().peer(Mode::Echo, 0);
    ASSERT_EQ(channel_.open(peer_->settings()), PATCHBAY_OK);
    channel_.close();
    EXPECT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
}

TEST_P(Transport, ClosesWhilePaused) {
    channel_.pause_after = [](std::size_t) { return true; };
    listen_to(Mode::Count, 100'000);
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() > 0; }));
    channel_.close();
    EXPECT_TRUE(over());
}

TEST_P(Transport, MayBeDestroyedOnAnotherThreadAtOnceWhenClosed) {
    open(Mode::Echo);
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
    open(Mode::Echo);
    for (int round = 0; round < 20; ++round) {
        std::thread sender([&] {
            for (int i = 0; i < 20; ++i) EXPECT_GE(channel_.send("{\"n\":1}"), 0);
            channel_.cancel(9999);
            channel_.resume();
        });
        channel_.until(
            [&] { return channel_.message_count() >= static_cast<std::size_t>(round) * 20; });
        sender.join();
    }
    EXPECT_TRUE(messages(400));
    std::thread([&] { channel_.close(); }).join();
}

TEST_P(Transport, SaysThatAServerLeftInTheMiddleOfAMessage) {
    listen_to(Mode::Cut);
    const auto end = ending();
    EXPECT_THAT(channel_.messages, ElementsAre("{\"n\":0}"));
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED) << end.text;
    EXPECT_THAT(end.text, testing::AnyOf(HasSubstr("in the middle of a message"),
                                         HasSubstr("the answer was cut off")));
    EXPECT_EQ(end.flags & PATCHBAY_ERR_NOT_SENT, 0u);
}

TEST_P(TransportOfLines, ShowsHalfAMessageToPeople) {
    open(Mode::Cut);
    ASSERT_TRUE(over());
    EXPECT_THAT(channel_.stray, testing::Contains("{\"n\":"));
}

TEST_P(Transport, EndsWithAServerThatLeaves) {
    listen_to(Mode::Leave);
    const auto end = ending();
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED) << end.text;
    EXPECT_NE(end.text, "");
    EXPECT_EQ(end.flags & PATCHBAY_ERR_NOT_SENT, 0u);
    if (can(kEndsWithItsServer)) {
        EXPECT_EQ(channel_.send("{}"), PATCHBAY_E_CLOSED);
    }
}

TEST_P(TransportOfProcesses, TellsHowAServerLeft) {
    open(Mode::Leave);
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.text, "server process exited with code 3");
    EXPECT_THAT(channel_.errors, ElementsAre("out of cheese"));
}

TEST_P(Transport, RefusesSettingsOfTheWrongKindWithText) {
    for (const auto& settings : GetParam().wrong_settings) {
        EXPECT_EQ(channel_.open(settings), PATCHBAY_E_INVALID) << settings;
        EXPECT_NE(channel_.refusal, "") << settings;
    }
}

const auto kName = [](const auto& named) { return std::string(named.param.name); };

INSTANTIATE_TEST_SUITE_P(All, Transport, testing::ValuesIn(kinds()), kName);
INSTANTIATE_TEST_SUITE_P(All, TransportOfLines, testing::ValuesIn(kinds_that(kReadsLines)), kName);
INSTANTIATE_TEST_SUITE_P(All, TransportOfProcesses, testing::ValuesIn(kinds_that(kStartsProcesses)),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, TransportOfAnswers, testing::ValuesIn(kinds_that(kAwaitsAnswers)),
                         kName);

}  // namespace
