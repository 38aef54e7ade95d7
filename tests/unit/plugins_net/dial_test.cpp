// Whom we connect to: what is judged, and what is left behind when it fails.
#include "net/dial.hpp"

#include "support/scratch_folder.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <Poco/Net/NetException.h>
#include <Poco/Net/ServerSocket.h>
#include <gmock/gmock.h>

#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace patchbay::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Dial : public ::testing::Test {
protected:
    Dial() : server_(Poco::Net::SocketAddress("127.0.0.1", 0)) {}

    // What went wrong; empty: nothing did.
    std::string dialed(const std::string& url) {
        try {
            Fuse fuse;
            dial(endpoint_, Url::parse(url), fuse);
            return {};
        } catch (const Trouble& trouble) {
            EXPECT_FALSE(trouble.sent);
            return trouble.text;
        }
    }
    // The next descriptors have the numbers of those that were closed.
    static void blows_for_nobody_else(Fuse& fuse) {
        int pair[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        fuse.blow();
        EXPECT_EQ(::send(pair[0], "x", 1, MSG_NOSIGNAL), 1);
        EXPECT_EQ(::send(pair[1], "x", 1, MSG_NOSIGNAL), 1);
        ::close(pair[0]);
        ::close(pair[1]);
    }
    const std::string& port() const { return port_; }
    static bool sends_at_once(Poco::Net::StreamSocket socket) { return socket.getNoDelay(); }
    // The system's names are not asked.
    void answer_with(std::map<std::string, std::vector<std::string>> names) {
        endpoint_.resolve = [this, names](const std::string& host, std::uint16_t at) {
            ++asked_[host];
            Endpoint::Addresses all;
            for (const auto& each : names.at(host)) all.emplace_back(each, at);
            return all;
        };
    }

    Poco::Net::ServerSocket server_;
    const std::string port_ = std::to_string(server_.address().port());
    Endpoint endpoint_{Url{}};
    std::map<std::string, int> asked_;
};

TEST_F(Dial, ConnectsToTheAddressesThatWereJudgedAndAsksForThemOnce) {
    answer_with({{"as.example", {"127.0.0.1"}}, {"mcp.example", {"127.0.0.1"}}});
    endpoint_.beside = "http://mcp.example:1/mcp";
    EXPECT_EQ(dialed("http://as.example:" + port() + "/"), "");
    EXPECT_EQ(asked_["as.example"], 1);
}

TEST_F(Dial, SaysWhyANameHasNoAddressInPlaceOfTheNameAgain) {
    endpoint_.resolve = [](const std::string& host, std::uint16_t) -> Endpoint::Addresses {
        throw Poco::Net::HostNotFoundException(host);
    };
    EXPECT_EQ(dialed("http://mcp.example/"), "cannot resolve host \"mcp.example\": Host not found");
    endpoint_.resolve = [](const std::string& host, std::uint16_t) -> Endpoint::Addresses {
        throw Poco::Net::DNSException("Temporary DNS error while resolving", host);
    };
    EXPECT_EQ(dialed("http://mcp.example/"),
              "cannot resolve host \"mcp.example\": Temporary DNS error while resolving: "
              "mcp.example");
}

TEST_F(Dial, ASecondRecordOfTheServerOpensNothing) {
    answer_with({{"as.example", {"127.0.0.1"}}, {"mcp2.example", {"93.184.216.34", "127.0.0.1"}}});
    endpoint_.beside = "https://mcp2.example/mcp";
    EXPECT_THAT(dialed("http://as.example:" + port() + "/"),
                AllOf(HasSubstr("127.0.0.1 is an address of this machine"),
                      HasSubstr("mcp2.example is not reached at one of that kind")));
}

TEST_F(Dial, WhatTheServerWasConnectedToCountsWhateverItsNameSaysLater) {
    const auto mcp = "http://mcp3.example:" + port() + "/mcp";
    answer_with({{"mcp3.example", {"127.0.0.1"}}});
    EXPECT_EQ(dialed(mcp), "");
    endpoint_.beside = mcp;
    answer_with({{"mcp3.example", {"10.0.0.1"}}, {"as.example", {"10.0.0.2"}}});
    EXPECT_THAT(dialed("https://as.example/"), HasSubstr("10.0.0.2 is a private address"));
    EXPECT_EQ(asked_.count("mcp3.example"), 1u) << "for the connection itself, and no more";
    EXPECT_EQ(asked_["mcp3.example"], 1);
}

TEST_F(Dial, OneOfSeveralAddressesThatReachesTooFarIsEnough) {
    answer_with({{"as.example", {"93.184.216.34", "10.0.0.1"}}, {"mcp4.example", {"1.2.3.4"}}});
    endpoint_.beside = "https://mcp4.example/mcp";
    EXPECT_THAT(dialed("https://as.example/"), HasSubstr("10.0.0.1 is a private address"));
}

TEST_F(Dial, ASettingThatCannotBeUsedIsTroubleAndLeavesNoFuseArmed) {
    endpoint_.tls.ca_file = PATCHBAY_SOURCE_DIR "/README.md";
    Fuse fuse;
    try {
        dial(endpoint_, Url::parse("https://127.0.0.1:" + port() + "/"), fuse);
        FAIL();
    } catch (const Trouble& trouble) {
        EXPECT_EQ(trouble.code, PATCHBAY_E_INVALID);
        EXPECT_THAT(trouble.text,
                    HasSubstr("ca_file \"" PATCHBAY_SOURCE_DIR "/README.md\" holds no"));
    }
    blows_for_nobody_else(fuse);
}

// As the library closes a socket, unseen by who armed the fuse with it.
TEST_F(Dial, AFuseWithACopyBlowsForItsOwnSocketAfterThatWasClosed) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    Fuse fuse;
    ASSERT_TRUE(fuse.arm_copy(pair[0]));
    ::close(pair[0]);
    blows_for_nobody_else(fuse);
    char byte = 0;
    EXPECT_EQ(::recv(pair[1], &byte, 1, MSG_DONTWAIT), 0) << "the end";
    EXPECT_FALSE(fuse.arm_copy(pair[1]));
    ::close(pair[1]);
}

TEST_F(Dial, WhatFailsLeavesNoDescriptorOpen) {
    const auto open_now = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                             std::filesystem::directory_iterator());
    };
    EXPECT_EQ(dialed("http://127.0.0.1:" + port() + "/"), "");
    const auto before = open_now();
    EXPECT_EQ(dialed("http://127.0.0.1:" + port() + "/"), "");
    server_.close();
    EXPECT_THAT(dialed("http://127.0.0.1:" + port_ + "/"),
                ::testing::StartsWith("cannot connect to 127.0.0.1:" + port_ + ": "))
        << "once";
    EXPECT_EQ(open_now(), before - 1) << "the listener";
}

TEST_F(Dial, AFuseThatHasBlownConnectsToNobody) {
    Fuse fuse;
    EXPECT_TRUE(fuse.arm(-1));
    fuse.blow();
    EXPECT_FALSE(fuse.arm(-1));
    try {
        dial(endpoint_, Url::parse("http://127.0.0.1:" + port() + "/"), fuse);
        FAIL();
    } catch (const Trouble& trouble) {
        EXPECT_EQ(trouble.code, PATCHBAY_E_CANCELLED);
        EXPECT_FALSE(trouble.sent);
        EXPECT_FALSE(trouble.refused);
    }
    EXPECT_FALSE(server_.poll({0, 1}, Poco::Net::Socket::SELECT_READ));
}

TEST_F(Dial, AFuseThatBlowsEndsTheConnection) {
    Fuse fuse;
    const auto dialed = dial(endpoint_, Url::parse("http://127.0.0.1:" + port() + "/"), fuse);
    fuse.blow();
    char byte = 0;
    EXPECT_EQ(server_.acceptConnection().receiveBytes(&byte, 1), 0);
    EXPECT_EQ(::recv(dialed.fd(), &byte, 1, 0), 0);
}

TEST_F(Dial, TellsThatAPortDoesNotSpeakTls) {
    std::thread peer([this] {
        if (!server_.poll({20, 0}, Poco::Net::Socket::SELECT_READ)) return;
        auto accepted = server_.acceptConnection();
        constexpr std::string_view kAnswer = "HTTP/1.1 400 Bad Request\r\n\r\n";
        accepted.sendBytes(kAnswer.data(), static_cast<int>(kAnswer.size()));
        accepted.setReceiveTimeout(Poco::Timespan(20, 0));
        char hello[4096];
        try {
            while (accepted.receiveBytes(hello, sizeof hello) > 0) {
            }
        } catch (const Poco::Exception&) {  // reset: the client has seen enough
        }
    });
    EXPECT_EQ(dialed("https://127.0.0.1:" + port() + "/"),
              "TLS with 127.0.0.1:" + port() +
                  " failed: the port does not speak TLS; if that is meant, try http://");
    peer.join();
}

TEST_F(Dial, TriesEveryAddressAndSaysWhetherSomebodyRefused) {
    const auto trouble = [&](const std::string& url) -> std::optional<Trouble> {
        try {
            Fuse fuse;
            const auto dialed = dial(endpoint_, Url::parse(url), fuse);
            EXPECT_EQ(dialed.peer, "127.0.0.1:" + port());
            EXPECT_FALSE(dialed.secure());
            EXPECT_FALSE(dialed.proxy);
            EXPECT_TRUE(sends_at_once(dialed.plain));
            return std::nullopt;
        } catch (const Trouble& caught) {
            return caught;
        }
    };
    answer_with({{"many.example", {"127.0.0.2", "127.0.0.1"}},
                 {"few.example", {"127.0.0.3", "127.0.0.2"}},
                 {"none.example", {}}});
    EXPECT_FALSE(trouble("http://many.example:" + port() + "/"));
    const auto refused = trouble("http://few.example:" + port() + "/");
    ASSERT_TRUE(refused);
    EXPECT_TRUE(refused->refused);
    EXPECT_EQ(refused->code, PATCHBAY_E_IO);
    EXPECT_EQ(refused->text, "cannot connect to few.example:" + port() + " (127.0.0.2:" + port() +
                                 "): Connection refused");
    const auto nobody = trouble("http://none.example:" + port() + "/");
    ASSERT_TRUE(nobody);
    EXPECT_FALSE(nobody->refused);
    EXPECT_EQ(nobody->text,
              "cannot connect to none.example:" + port() + ": the name has no address");
}

TEST_F(Dial, AProxyIsAskedForATunnelOnlyToTlsAndWebSockets) {
    endpoint_.proxy = "http://ada:secret@127.0.0.1:" + port();
    Fuse fuse;
    const auto plain = dial(endpoint_, Url::parse("http://mcp.example/"), fuse);
    ASSERT_TRUE(plain.proxy);
    EXPECT_EQ(plain.proxy->authorization, "Basic YWRhOnNlY3JldA==");
    server_.acceptConnection();
    const auto refusal_of = [](std::size_t bytes) {
        const std::string head = "HTTP/1.1 407 Login\r\nX: ", end = "\r\n\r\n";
        return head + std::string(bytes - head.size() - end.size(), 'x') + end;
    };
    const struct {
        std::string url, answer, target, says;
    } tunnels[] = {
        {"https://mcp.example/", "HTTP/1.1 407 Login\r\n\r\n", "mcp.example:443",
         "(status 407: it wants a login)"},
        {"https://[2001:db8::1]:8443/", "HTTP/1.1 502 No\r\n\r\n", "[2001:db8::1]:8443",
         "(status 502)"},
        {"https://mcp.example/", "SMTP 200\r\n\r\n", "mcp.example:443", "(status ?)"},
        {"https://mcp.example/", "HTTP/1.1\r\n\r\n", "mcp.example:443", "(status ?)"},
        {"https://mcp.example/", refusal_of(8192), "mcp.example:443", "(status 407"},
        {"https://mcp.example/", refusal_of(8193), "mcp.example:443", "did not answer"},
        {"https://mcp.example/", "HTTP/1.1 200 OK\r\n", "mcp.example:443", "did not answer"},
        {"https://mcp.example/", "HTTP/1.1 200 OK\r\n\r\nwords", "mcp.example:443",
         "TLS with mcp.example failed: "},
        {"wss://mcp.example/", "HTTP/1.1 502 No\r\n\r\n", "mcp.example:443", "(status 502)"},
        {"ws://mcp.example/", "HTTP/1.1 502 No\r\n\r\n", "mcp.example:80", "(status 502)"},
        {"ws://mcp.example/", "HTTP/1.1 200 OK\r\n\r\n", "mcp.example:80", ""}};
    for (const auto& tunnel : tunnels) {
        std::string asked;
        std::thread proxy([&] {
            auto socket = server_.acceptConnection();
            for (char byte; !asked.ends_with("\r\n\r\n") && socket.receiveBytes(&byte, 1) == 1;)
                asked += byte;
            // Who has seen enough may be gone before the end of it, which is no error here.
            const int fd = socket.impl()->sockfd();
            std::ignore = ::send(fd, tunnel.answer.data(), tunnel.answer.size(), MSG_NOSIGNAL);
            std::ignore = ::shutdown(fd, SHUT_WR);
            char rest[4096];
            while (::recv(fd, rest, sizeof rest, 0) > 0) {
            }
        });
        const auto told = dialed(tunnel.url);
        proxy.join();
        EXPECT_THAT(told, HasSubstr(tunnel.says));
        EXPECT_EQ(told.empty(), tunnel.says.empty()) << told;
        EXPECT_EQ(asked, "CONNECT " + tunnel.target + " HTTP/1.1\r\nHost: " + tunnel.target +
                             "\r\nProxy-Authorization: Basic YWRhOnNlY3JldA==\r\n\r\n");
    }
}

TEST_F(Dial, ASocketOfThisMachineNeedsNoAddress) {
    const test::ScratchFolder folder;
    endpoint_.unix_socket = folder / "s";
    endpoint_.proxy = "http://127.0.0.1:1";  // which is not asked
    Poco::Net::ServerSocket local;
    local.bind(Poco::Net::SocketAddress(Poco::Net::SocketAddress::UNIX_LOCAL, folder / "s"));
    local.listen();
    EXPECT_EQ(dialed("http://mcp.example/"), "");
    endpoint_.unix_socket = folder / "t";
    EXPECT_THAT(dialed("http://mcp.example/"), HasSubstr("No such file"));
}

}  // namespace
}  // namespace patchbay::net
