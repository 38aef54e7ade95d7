// Whom we connect to: what is judged, and what is left behind when it fails.
#include "net/dial.hpp"

#include "net/blocking_session.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <Poco/Net/NetException.h>
#include <Poco/Net/ServerSocket.h>
#include <gmock/gmock.h>

#include <map>
#include <sys/socket.h>
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
    std::string port() const { return std::to_string(server_.address().port()); }
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

// As the library does with a handshake that failed.
TEST_F(Dial, AFuseBlowsForNobodyElseAfterTheSessionWasClosed) {
    Fuse fuse;
    BlockingSession session(dial(endpoint_, Url::parse("http://127.0.0.1:" + port() + "/"), fuse));
    session.reset();
    blows_for_nobody_else(fuse);
}

}  // namespace
}  // namespace patchbay::net
