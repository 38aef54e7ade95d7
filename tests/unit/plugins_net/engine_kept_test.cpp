// Which connections carry another exchange, and what becomes of one that does not hold.
#include "engine_fixture.hpp"
#include "support/loopback.hpp"

#include <netinet/tcp.h>

namespace patchbay::net {
namespace {

// A server on the thread of the test: what it says is there before the loop looks.
class Peer {
public:
    Peer() : listener_(test::listen_on_loopback(port_, SOCK_NONBLOCK)) {}
    ~Peer() {
        for (const int fd : connections_) ::close(fd);
        ::close(listener_);
    }
    Peer(const Peer&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
    std::size_t connections() {
        for (int fd; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
            connections_.push_back(not_held_back(fd));
        return connections_.size();
    }
    // What has come since, on the last connection.
    std::size_t heard() {
        char bytes[65536];
        std::size_t all = 0;
        if (connections() == 0) return 0;
        for (ssize_t got;
             (got = ::recv(connections_.back(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
            all += static_cast<std::size_t>(got);
        heard_ += all;
        return all;
    }
    std::size_t heard_so_far() const { return heard_; }
    // On the last connection.
    void say(std::string_view bytes) { test::send_whole(connections_.back(), bytes); }
    void hang_up() { ::shutdown(connections_.back(), SHUT_WR); }

private:
    // Otherwise what is said twice waits for a word of the client.
    static int not_held_back(int fd) {
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return fd;
    }

    int port_ = 0;
    const int listener_;
    std::vector<int> connections_;
    std::size_t heard_ = 0;
};

const std::string kAnswer = ScriptedHttp::json("{}");

class KeptConnection : public EngineTest {
protected:
    // Asked, and heard by the server.
    std::shared_ptr<Told> asked(const std::function<void(Told&)>& changed = [](Told&) {}) {
        const auto task = start(peer_.url());
        changed(*task);
        begin(task);
        EXPECT_TRUE(until([&] { return peer_.heard() > 0; }));
        return task;
    }
    // The same, and answered so.
    std::shared_ptr<Told> answered(
        const std::string& answer, const std::function<void(Told&)>& changed = [](Told&) {}) {
        const auto task = asked(changed);
        peer_.say(answer);
        EXPECT_TRUE(until([&] { return task->ended == 1; }));
        EXPECT_FALSE(task->trouble);
        return task;
    }

    Peer peer_;
};

TEST_F(KeptConnection, AConnectionIsKeptBehindAShortBodyThatNobodyWants) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const std::size_t size = request.has("/long ") ? 1u << 20 : 32u << 10;
        return {ScriptedHttp::whole("200 OK", "text/plain", std::string(size, 'x'))};
    });
    const auto nothing = [](Told& task) { task.take = Task::Take::Nothing; };
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(ran(server.url(), nothing)->trouble);
    EXPECT_EQ(server.connections(), 1);
    EXPECT_FALSE(ran(server.origin() + "/long", nothing)->trouble);
    EXPECT_FALSE(ran(server.url(), nothing)->trouble);
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(KeptConnection, AConnectionThatTheServerWillCloseIsNotKept) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::json("{}", "Connection: close\r\n")};
    });
    for (int i = 1; i <= 2; ++i) {
        EXPECT_FALSE(ran(server.url())->trouble);
        EXPECT_EQ(server.connections(), i);
    }
}

// Otherwise a request meets the end of it now and then, and may have been carried out.
TEST_F(KeptConnection, AConnectionIsUsedAgainForLessThanItsServerSaysThatItKeepsIt) {
    for (const auto& [said, connections] :
         {std::pair{"timeout=0", 2}, {"timeout=5, max=100", 1}, {"max=100", 1}, {"timeout=x", 1}}) {
        ScriptedHttp server([said = std::string(said)](const auto&) -> ScriptedHttp::Answer {
            return {ScriptedHttp::json("{}", "Keep-Alive: " + said + "\r\n")};
        });
        for (int i = 0; i < 2; ++i) EXPECT_FALSE(ran(server.url())->trouble);
        EXPECT_EQ(server.connections(), connections) << said;
    }
    using std::chrono_literals::operator""s;
    EXPECT_EQ(KeptConnections::idle_limit(4s, 50s), 3s);
    EXPECT_EQ(KeptConnections::idle_limit(4s, 2s), 2s);
    EXPECT_EQ(KeptConnections::idle_limit(std::nullopt, 50s), 50s);
    EXPECT_EQ(KeptConnections::idle_limit(std::chrono::hours(100'000), 50s), 50s);
    EXPECT_EQ(KeptConnections::idle_limit(std::chrono::seconds::max(), 50s), 50s);
}

TEST_F(KeptConnection, AConnectionThatNobodyUsedForTooLongIsUsedNoMore) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::json("{}", "Keep-Alive: timeout=40\r\n")};
    });
    EXPECT_FALSE(ran(server.url())->trouble);
    host_.skip(29s);
    EXPECT_FALSE(ran(server.url())->trouble);
    EXPECT_EQ(server.connections(), 1) << "it has been used since";
    host_.skip(31s);
    EXPECT_FALSE(ran(server.url())->trouble);
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(KeptConnection, WhoWantsNoneKeptHasAConnectionForEachExchange) {
    endpoint_.keep_alive = std::chrono::seconds(0);
    patience(std::chrono::milliseconds(50));
    ScriptedHttp server(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("{}")}; });
    for (int i = 1; i <= 2; ++i) {
        EXPECT_FALSE(ran(server.url())->trouble);
        EXPECT_EQ(server.connections(), i);
    }
}

TEST_F(KeptConnection, WhatAKeptConnectionLosesIsAskedAgainOnlyWhereThatDoesNoHarm) {
    for (const bool repeatable : {true, false}) {
        ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
            if (request.number == 2) return {{}, ScriptedHttp::Answer::Then::Close};
            return {ScriptedHttp::json("{}")};
        });
        EXPECT_FALSE(ran(server.url())->trouble);
        const auto task = ran(server.url(), [&](Told& told) { told.repeatable = repeatable; });
        EXPECT_EQ(task->trouble.has_value(), !repeatable);
        EXPECT_EQ(server.count("GET"), repeatable ? 3u : 2u);
        if (task->trouble) {
            EXPECT_TRUE(task->trouble->sent);
        }
        // On one that is new there is nothing to blame but the server.
        ScriptedHttp closing([](const auto&) -> ScriptedHttp::Answer {
            return {{}, ScriptedHttp::Answer::Then::Close};
        });
        EXPECT_TRUE(ran(closing.url(), [](Told& told) { told.repeatable = true; })->trouble);
        EXPECT_EQ(closing.count("GET"), 1u);
    }
}

TEST_F(KeptConnection, WhatAKeptConnectionLostWasSentThoughNobodyListensWhenItIsAskedAgain) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.number == 2) return {{}, ScriptedHttp::Answer::Then::Vanish};
        return {ScriptedHttp::json("{}")};
    });
    EXPECT_FALSE(ran(server.url())->trouble);
    const auto task = ran(server.url(), [](Told& told) { told.repeatable = true; });
    ASSERT_TRUE(task->trouble);
    EXPECT_TRUE(task->trouble->refused);
    EXPECT_TRUE(task->trouble->sent);
}

TEST_F(KeptConnection, SixtyFourAreKeptAndTheOneUsedLongestAgoMakesRoom) {
    const auto script = [](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::json("{}")};
    };
    ScriptedHttp one(script), other(script);
    {
        const Turn turn(*core_);
        engine_->pause();
    }
    for (std::size_t i = 0; i < Admission::kConnections; ++i) begin(start(one.url()));
    ASSERT_TRUE(until([&] { return one.count("GET") == Admission::kConnections; }));
    {
        const Turn turn(*core_);
        engine_->resume();
    }
    ASSERT_TRUE(until([&] { return all_ended(); }));
    for (int i = 1; i <= 2; ++i) {
        EXPECT_FALSE(ran(other.url())->trouble);
        EXPECT_EQ(other.connections(), 1);
    }
    EXPECT_TRUE(until([&] { return one.closed() == 1; }));
    EXPECT_FALSE(ran(one.url())->trouble);
    EXPECT_EQ(one.connections(), static_cast<int>(Admission::kConnections));
}

// ---- what is left over

TEST_F(KeptConnection, OneThatTheServerHasEndedIsNotAskedAgain) {
    for (const int answers : {1, 2, 3}) {
        for (int i = 0; i < answers; ++i) answered(kAnswer);
        const auto before = peer_.connections();
        peer_.hang_up();
        answered(kAnswer);
        EXPECT_EQ(peer_.connections(), before + 1) << answers;
    }
}

TEST_F(KeptConnection, OneWithSomethingToReadIsNotAskedAgain) {
    for (const int answers : {1, 2, 3}) {
        for (int i = 0; i < answers; ++i) answered(kAnswer);
        const auto before = peer_.connections();
        peer_.say(ScriptedHttp::whole("404 Not yours", "text/plain", "stray"));
        EXPECT_EQ(answered(kAnswer)->status, 200);
        EXPECT_EQ(peer_.connections(), before + 1) << answers;
    }
}

TEST_F(KeptConnection, OneThatSaysSomethingWhileItIsIdleIsLeftAtOnce) {
    answered(kAnswer);
    peer_.say("H");
    let_time_pass();
    answered(kAnswer);
    EXPECT_EQ(peer_.connections(), 2u);
}

TEST_F(KeptConnection, OneWhoseAnswerGoesOnBehindItsEndIsNotAskedAgain) {
    std::size_t connections = 0;
    for (const auto& answer :
         {kAnswer, ScriptedHttp::empty("202 Accepted"), ScriptedHttp::stream("data: {}\n\n"),
          std::string("HTTP/1.1 204 No Content\r\n\r\n")}) {
        answered(answer + "H");
        EXPECT_EQ(peer_.connections(), ++connections) << answer;
    }
    answered(kAnswer);
    answered(kAnswer);
    EXPECT_EQ(peer_.connections(), connections + 1) << "one that does not is";
}

TEST_F(KeptConnection, OneThatAnsweredBeforeItHadTheRequestIsNotAskedAgain) {
    const std::string large(64u << 20, 'x');  // more than sockets hold
    const auto task = asked([&](Told& told) {
        told.request.method = "POST";
        told.request.has_body = true;
        told.request.body = large;
    });
    const auto answer = std::string_view(kAnswer);
    peer_.say(answer.substr(0, answer.size() - 1));
    ASSERT_TRUE(until([&] { return task->status == 200; }));
    EXPECT_LT(peer_.heard_so_far(), large.size());
    ASSERT_TRUE(until([&] {
        peer_.heard();
        return peer_.heard_so_far() > large.size();
    }));
    peer_.say(answer.substr(answer.size() - 1));
    ASSERT_TRUE(until([&] { return task->ended == 1; }));
    EXPECT_FALSE(task->trouble);
    answered(kAnswer);
    EXPECT_EQ(peer_.connections(), 2u);
}

TEST_F(KeptConnection, OneWhoseAnswerMayBeAnothersWaitsForWordThatItWasNot) {
    const auto numbered = [](std::uint64_t number) {
        return [number](Told& task) { task.number = number; };
    };
    answered(kAnswer, numbered(1));
    answered(kAnswer, numbered(2));
    EXPECT_EQ(peer_.connections(), 2u) << "nothing was said";
    {
        const Turn turn(*core_);
        engine_->vouch(2);
    }
    answered(kAnswer);
    answered(kAnswer);
    EXPECT_EQ(peer_.connections(), 2u);
}

}  // namespace
}  // namespace patchbay::net
