// A server on loopback, and a client that writes bytes as it likes.
#include "http/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cerrno>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class Peer {
public:
    explicit Peer(const Address& address) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(address.port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    }
    ~Peer() { ::close(fd_); }
    Peer(const Peer&) = delete;

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent <= 0) return;  // what the server does not want is its matter
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    // What has come by now.
    const std::string& got() {
        char block[4096];
        for (;;) {
            const auto count = ::recv(fd_, block, sizeof block, MSG_DONTWAIT);
            if (count > 0) {
                got_.append(block, static_cast<std::size_t>(count));
                continue;
            }
            ended_ = ended_ || count == 0 || (errno != EAGAIN && errno != EINTR);
            return got_;
        }
    }
    bool ended() {
        got();
        return ended_;
    }
    void forget() { got_.clear(); }
    int fd() const { return fd_; }

private:
    const int fd_;
    std::string got_;
    bool ended_ = false;
};

class HttpServer : public ::testing::Test, protected Handler {
protected:
    void on_request(std::shared_ptr<Exchange> exchange, Request request) override {
        if (judge && judge(*exchange, request)) return;
        exchange->read_body([this, exchange, request](std::string body) {
            requests.push_back(request);
            requests.back().body = std::move(body);
            exchanges.push_back(exchange);
            answer();
        });
    }
    void answer() {
        if (answers) exchanges.back()->answer(200, {{"Content-Type", "text/plain"}}, "fine");
    }
    Server& server() {
        if (!server_)
            server_.emplace(loop, *Listener::open(*parse_address("127.0.0.1:0")),
                            static_cast<Handler&>(*this), limits, nullptr, observer);
        return *server_;
    }
    Peer& peer() {
        if (!peer_) peer_.emplace(server().address());
        return *peer_;
    }
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    // The server has taken what was sent and what had come before it.
    void let_it_read() {
        for (int i = 0; i < 3; ++i) {
            bool turned = false;
            loop.post([&] { turned = true; });
            wait([&] { return turned; });
        }
    }
    // All that comes until it holds that.
    std::string hear(std::string_view text) {
        wait([&] { return peer().got().find(text) != std::string::npos || peer().ended(); });
        return peer().got();
    }
    std::string hear_all() {
        EXPECT_TRUE(wait([&] { return peer().ended(); }));
        return peer().got();
    }

    core::Loop loop;
    Limits limits;
    bool answers = true;
    // True: it has seen to it, by the head alone.
    std::function<bool(Exchange&, const Request&)> judge;
    core::Observer* observer = nullptr;
    std::vector<Request> requests;
    std::vector<std::shared_ptr<Exchange>> exchanges;
    std::optional<Server> server_;
    std::optional<Peer> peer_;
};

TEST_F(HttpServer, AnswersOneRequestAfterTheOtherOnOneConnection) {
    peer().send("POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX-A: b \r\n\r\nhi");
    EXPECT_EQ(hear("fine"),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nfine");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].method, "POST");
    EXPECT_EQ(requests[0].target, "/mcp");
    EXPECT_EQ(requests[0].body, "hi");
    ASSERT_TRUE(requests[0].header("x-a"));
    EXPECT_EQ(*requests[0].header("x-a"), "b");
    peer().forget();
    peer().send("GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /y HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(wait([&] { return requests.size() == 3; }));
    EXPECT_EQ(requests[1].target, "/x");
    EXPECT_EQ(requests[2].target, "/y");
    EXPECT_FALSE(peer().ended());
}

struct Statuses final : core::Observer {
    void on_request_ended(const core::EndedRequest&) override {}
    void on_server_state(const core::ServerState&) override {}
    void on_server_restart(std::string_view) override {}
    void on_http_answer(unsigned status) override { statuses.push_back(status); }
    std::vector<unsigned> statuses;
};

TEST_F(HttpServer, TellsWhoCountsWhichStatusEachRequestWasAnsweredWith) {
    Statuses counted;
    observer = &counted;
    peer().send("GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /y HTTP/1.1\r\n\r\n");
    hear("one Host");
    EXPECT_THAT(counted.statuses, ::testing::ElementsAre(200u, 400u));
}

TEST_F(HttpServer, ReadsWhatComesInAnyPieces) {
    const std::string bytes =
        "POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;x=y\r\n "
        "yo\r\n0\r\n\r\n";
    for (const char each : bytes) {
        peer().send({&each, 1});
        let_it_read();
    }
    hear("fine");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].body, "hi yo");
}

TEST_F(HttpServer, WhatStandsBehindABodyIsNoHeader) {
    peer().send(
        "POST /mcp HTTP/1.1\r\nHost: a\r\nX-User: ada\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nhi\r\n0\r\nX-User: eve\r\nAuthorization: Bearer x\r\n\r\n");
    hear("fine");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].body, "hi");
    EXPECT_EQ(requests[0].count("x-user"), 1u);
    EXPECT_EQ(*requests[0].header("x-user"), "ada");
    EXPECT_EQ(requests[0].header("authorization"), nullptr);
}

TEST_F(HttpServer, StreamsInChunksAndGoesOnBehindTheEnd) {
    answers = false;
    peer().send("GET /s HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(wait([&] { return exchanges.size() == 1; }));
    exchanges[0]->begin({{"Content-Type", "text/event-stream"}});
    exchanges[0]->write("data: 1\n\n");
    EXPECT_THAT(hear("data: 1"),
                HasSubstr("Transfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n"));
    exchanges[0]->end();
    EXPECT_THAT(hear("0\r\n\r\n"), HasSubstr("0\r\n\r\n"));
    answers = true;
    peer().send("GET /t HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(hear("fine"), HasSubstr("fine"));
}

TEST_F(HttpServer, ToHttp10AStreamEndsWithTheConnection) {
    answers = false;
    peer().send("GET /s HTTP/1.0\r\n\r\n");
    ASSERT_TRUE(wait([&] { return exchanges.size() == 1; }));
    exchanges[0]->begin({});
    exchanges[0]->write("all");
    exchanges[0]->end();
    EXPECT_EQ(hear_all(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall");
}

TEST_F(HttpServer, SaysThatAClientHasGoneInTheMiddle) {
    answers = false;
    bool gone = false;
    peer().send("GET /s HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(wait([&] { return exchanges.size() == 1; }));
    exchanges[0]->when_gone([&] { gone = true; });
    peer_.reset();
    EXPECT_TRUE(wait([&] { return gone; }));
    exchanges[0]->answer(200, {}, "nobody reads this");
}

// Whose a request is may have to be found out first.
TEST_F(HttpServer, WhoAsksLateWhetherTheClientHasGoneIsToldSo) {
    answers = false;
    peer().send("GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(wait([&] { return requests.size() == 1; }));
    bool gone = false, gone_late = false;
    exchanges[0]->when_gone([&] { gone = true; });
    peer_.reset();
    ASSERT_TRUE(wait([&] { return gone; }));
    exchanges[0]->when_gone([&] { gone_late = true; });
    EXPECT_FALSE(gone_late) << "in a later turn";
    EXPECT_TRUE(wait([&] { return gone_late; }));
}

TEST_F(HttpServer, AsksForABodyThatWaitsToBeAskedFor) {
    peer().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(hear("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    peer().send("hi");
    EXPECT_THAT(hear("fine"), HasSubstr("fine"));
}

const std::string kStalling = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n";

class HttpJudgedByTheHead : public HttpServer {
protected:
    HttpJudgedByTheHead() {
        judge = [](Exchange& exchange, const Request& head) {
            const bool may = head.header("authorization");
            if (!may) exchange.answer(401, {}, "who are you?");
            return !may;
        };
    }
};

TEST_F(HttpJudgedByTheHead, ABodyThatIsNotWantedIsNotAskedFor) {
    peer().send(kStalling + "Expect: 100-continue\r\n\r\n");
    const auto got = hear_all();
    EXPECT_THAT(got, StartsWith("HTTP/1.1 401"));
    EXPECT_THAT(got, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(got, Not(HasSubstr("100 Continue")));
}

TEST_F(HttpJudgedByTheHead, ThoseWhoMayNotComeInTakeNoRoomFromThoseWhoMay) {
    limits.all_body_bytes = 100;
    limits.own_bytes = 10;
    std::vector<std::unique_ptr<Peer>> others;
    for (int i = 0; i < 10; ++i) {
        auto& other = *others.emplace_back(std::make_unique<Peer>(server().address()));
        other.send(kStalling + "\r\n" + std::string(80, 'x'));
        EXPECT_TRUE(wait([&] { return other.ended(); }));
        EXPECT_THAT(other.got(), StartsWith("HTTP/1.1 401"));
    }
    peer().send(kStalling + "Authorization: x\r\n\r\n" + std::string(90, 'x'));
    EXPECT_THAT(hear("fine"), StartsWith("HTTP/1.1 200"));
}

// Who signs in then goes on where it was.
TEST_F(HttpJudgedByTheHead, WhoHasSentAllOfItKeepsItsConnection) {
    const std::string request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n";
    peer().send(request + "\r\nhi" + request + "Authorization: x\r\n\r\nyo");
    EXPECT_THAT(hear("fine"), StartsWith("HTTP/1.1 401"));
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].body, "yo");
    EXPECT_FALSE(peer().ended());
}

TEST_F(HttpJudgedByTheHead, WhatIsLeftOfABodyIsNoRequest) {
    judge = [](Exchange& exchange, const Request&) {
        exchange.begin({});
        exchange.write("a stream");
        exchange.end();
        return true;
    };
    peer().send("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n");
    EXPECT_THAT(hear("0\r\n\r\n"), HasSubstr("Connection: close\r\n"));
    peer().send("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(hear_all(), Not(HasSubstr("404")));
    EXPECT_TRUE(requests.empty());
}

TEST_F(HttpJudgedByTheHead, NothingIsReadOfABodyWhileItsSenderIsLookedUp) {
    limits.all_body_bytes = 100;
    limits.own_bytes = 10;
    std::string body;
    struct Late final : Handler {
        void on_request(std::shared_ptr<Exchange> exchange, Request) override {
            waiting = std::move(exchange);
        }
        std::shared_ptr<Exchange> waiting;
    } late;
    server_.emplace(loop, *Listener::open(*parse_address("127.0.0.1:0")), late, limits);
    peer().send(kStalling + "\r\n" + std::string(40, 'a'));
    ASSERT_TRUE(wait([&] { return late.waiting != nullptr; }));
    peer().send(std::string(50, 'b'));
    let_it_read();
    late.waiting->read_body([&](std::string all) { body = std::move(all); });
    EXPECT_TRUE(wait([&] { return !body.empty(); }));
    EXPECT_EQ(body, std::string(40, 'a') + std::string(50, 'b'));
    late.waiting->answer(200, {}, "fine");
    EXPECT_THAT(hear("fine"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServer, SaysWhereARequestCameFrom) {
    peer().send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    hear("fine");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].peer, "127.0.0.1");
}

TEST_F(HttpServer, TheHostOfAProxysTargetIsTheHost) {
    peer().send("GET http://other:1/x HTTP/1.1\r\nHost: a\r\n\r\n");
    hear("fine");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].target, "/x");
    EXPECT_EQ(*requests[0].header("host"), "other:1");
}

struct Nonsense {
    const char* name;
    std::string bytes;
    const char* status;
};
void PrintTo(const Nonsense& nonsense, std::ostream* out) {
    *out << nonsense.name;
}

class HttpNonsense : public HttpServer, public ::testing::WithParamInterface<Nonsense> {};

TEST_P(HttpNonsense, IsAnsweredAndNothingBehindItIsRead) {
    limits.body_bytes = 1'000;
    peer().send(GetParam().bytes + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(hear_all(), StartsWith("HTTP/1.1 " + std::string(GetParam().status)));
    EXPECT_THAT(peer().got(), HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(requests.empty());
}

// Nothing comes behind it: it would be waited for until a time runs out.
class HttpLineFeed : public HttpServer, public ::testing::WithParamInterface<const char*> {};

TEST_P(HttpLineFeed, ThatEndsALineIsRefusedAtOnce) {
    peer().send(GetParam());
    EXPECT_THAT(hear_all(), StartsWith("HTTP/1.1 400"));
    EXPECT_TRUE(requests.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Alone, HttpLineFeed,
    ::testing::Values(
        "POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi",
        "POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\n\n",
        "POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\n\n",
        "GET /mcp HTTP/1.1\nHost: a\n\n", "GET /mcp HTTP/1.1\r\nHost: a\n"));

TEST_F(HttpServer, TellsOldHttpThatItHasNoChunks) {
    peer().send("POST /mcp HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    EXPECT_THAT(hear_all(), HasSubstr("HTTP/1.0 has no Transfer-Encoding"));
}

const std::string kPost = "POST /mcp HTTP/1.1\r\nHost: a\r\n";
INSTANTIATE_TEST_SUITE_P(
    Framing, HttpNonsense,
    ::testing::Values(
        Nonsense{"NoHttp", "hello\r\n\r\n", "400"},
        Nonsense{"TwoLengths", kPost + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "400"},
        Nonsense{"TwoOtherLengths", kPost + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
                 "400"},
        Nonsense{"AListOfLengths", kPost + "Content-Length: 2, 2\r\n\r\nhi", "400"},
        Nonsense{"NoNumber", kPost + "Content-Length: +2\r\n\r\nhi", "400"},
        Nonsense{"LengthAndChunks",
                 kPost + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
        Nonsense{"ChunksAndLength",
                 kPost + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "400"},
        Nonsense{"AnotherCoding", kPost + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                 "501"},
        Nonsense{"AHiddenCoding", kPost + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"},
        Nonsense{
            "CodingTwice",
            kPost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "400"},
        Nonsense{"ChunkSize", kPost + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n",
                 "400"},
        Nonsense{"ChunkEnd", kPost + "Transfer-Encoding: chunked\r\n\r\n2\r\nhixx0\r\n\r\n", "400"},
        Nonsense{"ChunksOfOldHttp",
                 "POST /mcp HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
        Nonsense{"BareLineFeeds", "POST /mcp HTTP/1.1\nHost: a\nContent-Length: 0\n\n", "400"},
        Nonsense{"AFoldedCoding", kPost + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", "400"},
        Nonsense{"AFoldedField", kPost + "X: a\r\n\tb\r\nContent-Length: 0\r\n\r\n", "400"},
        Nonsense{"ALineFeedInAChunksExtension",
                 kPost + "Transfer-Encoding: chunked\r\n\r\n2;a=\"\n\"\r\nhi\r\n0\r\n\r\n", "400"},
        Nonsense{"ALineFeedInTheSizeOfAChunk",
                 kPost + "Transfer-Encoding: chunked\r\n\r\n2\nhi\n0\n\n", "400"},
        Nonsense{"SpaceBeforeColon", kPost + "Content-Length : 0\r\n\r\n", "400"},
        Nonsense{"NoHost", "GET /mcp HTTP/1.1\r\n\r\n", "400"},
        Nonsense{"TwoHosts", "GET /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
        Nonsense{"NoLength", kPost + "\r\n", "411"},
        Nonsense{"TooLong", kPost + "Content-Length: 1001\r\n\r\n", "413"},
        Nonsense{
            "TooLongInChunks",
            kPost + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x') + "\r\n",
            "413"},
        Nonsense{"TooLongAHead", kPost + "X: " + std::string(17'000, 'x') + "\r\n\r\n", "431"},
        Nonsense{"Expectation", kPost + "Content-Length: 0\r\nExpect: magic\r\n\r\n", "417"}),
    [](const auto& each) { return each.param.name; });

class HttpEndless : public HttpServer, public ::testing::WithParamInterface<const char*> {};

TEST_P(HttpEndless, IsRefusedBeforeItFillsTheMemory) {
    peer().send(kPost + "Transfer-Encoding: chunked\r\n\r\n" + GetParam());
    for (int i = 0; i < 64 && peer().got().empty(); ++i) {
        peer().send(std::string(4'096, '0'));
        let_it_read();
    }
    EXPECT_THAT(hear_all(), StartsWith("HTTP/1.1 431"));
    EXPECT_TRUE(requests.empty());
}

INSTANTIATE_TEST_SUITE_P(WhatStandsBetweenChunks, HttpEndless,
                         ::testing::Values("1;a=", "0", "2\r\nhi\r\n", "0\r\nX: "));

class HttpTarget : public HttpServer, public ::testing::WithParamInterface<const char*> {};

TEST_P(HttpTarget, ThatIsNoPathIsRefused) {
    peer().send(std::string(GetParam()) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(hear_all(), StartsWith("HTTP/1.1 400"));
    EXPECT_TRUE(requests.empty());
}

INSTANTIATE_TEST_SUITE_P(Targets, HttpTarget,
                         ::testing::Values("GET mcp", "OPTIONS *", "CONNECT a:80",
                                           "GET https://a/mcp"));

TEST_F(HttpServer, WaitsForARequestOnlySoLong) {
    limits.head = 0s;
    peer().send("GET / HT");
    EXPECT_THAT(hear_all(), StartsWith("HTTP/1.1 408"));
}

TEST_F(HttpServer, WaitsForABodyOnlySoLong) {
    limits.body = 0s;
    peer().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf");
    EXPECT_THAT(hear_all(), StartsWith("HTTP/1.1 408"));
}

TEST_F(HttpServer, AConnectionThatSaysNothingIsClosed) {
    limits.idle = 0s;
    EXPECT_EQ(hear_all(), "");
}

TEST_F(HttpServer, MoreConnectionsThanThereMayBeAreTold) {
    limits.connections = 1;
    peer().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    hear("fine");
    Peer second(server().address());
    second.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(wait([&] { return second.ended(); }));
    EXPECT_THAT(second.got(), StartsWith("HTTP/1.1 429"));
    EXPECT_THAT(second.got(), HasSubstr("Retry-After: 1\r\n"));
    EXPECT_EQ(requests.size(), 1u);
}

TEST_F(HttpServer, BodiesTogetherMayBeOnlySoLong) {
    limits.all_body_bytes = 100;
    limits.own_bytes = 10;
    Peer first(server().address());
    first.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n" + std::string(80, 'x'));
    let_it_read();
    peer().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n" + std::string(80, 'x'));
    EXPECT_THAT(hear_all(), StartsWith("HTTP/1.1 503"));
    // What was refused counts no more.
    first.send(std::string(10, 'x'));
    EXPECT_TRUE(wait([&] { return first.got().find("fine") != std::string::npos; }));
}

TEST_F(HttpServer, WhoHasLittleToSayIsHeardWhateverOthersSend) {
    limits.all_body_bytes = 100;
    limits.own_bytes = 10;
    Peer first(server().address());
    first.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n" + std::string(98, 'x'));
    let_it_read();
    peer().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n" + std::string(10, 'x'));
    hear("fine");
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].body.size(), 10u);
}

TEST_F(HttpServer, WhoReadsNothingIsCutOffAndCostsNoMoreThanItIsSent) {
    answers = false;
    limits.write = 1s;
    bool gone = false;
    peer().send("GET /s HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(wait([&] { return exchanges.size() == 1; }));
    exchanges[0]->when_gone([&] { gone = true; });
    exchanges[0]->begin({});
    const std::string piece(1u << 20, 'x');
    for (int i = 0; i < 32; ++i) exchanges[0]->write(piece);
    let_it_read();
    EXPECT_GT(exchanges[0]->waiting(), 8u << 20);
    EXPECT_TRUE(wait([&] { return gone; }));
    EXPECT_EQ(exchanges[0]->waiting(), 0u);
}

TEST_F(HttpServer, StoppedItEndsWhatItHasBegunAndTakesNothingNew) {
    answers = false;
    peer().send("GET /s HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(wait([&] { return exchanges.size() == 1; }));
    Peer idle(server().address());
    let_it_read();
    server().stop();
    EXPECT_TRUE(wait([&] { return idle.ended(); }));
    exchanges[0]->answer(200, {}, "the last");
    EXPECT_THAT(hear_all(), HasSubstr("the last"));
    EXPECT_TRUE(server().written());
}

}  // namespace
}  // namespace patchbay::http
