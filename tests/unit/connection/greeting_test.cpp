// The handshake over a channel that only exists: answers come when the test says so.
#include "connection/greeting.hpp"

#include "support/silent_channel.hpp"
#include "support/turned_loop.hpp"
#include "unit/connection/scripted_requests.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace patchbay::connection {
namespace {

class GreetingTest : public ::testing::Test, public GreetingOwner, public Loss {
protected:
    struct Silent final : test::SilentChannel {
        explicit Silent(bool scoped) : scoped_(scoped) {}
        bool request_scoped() const override { return scoped_; }
        bool takes_headers() const override { return scoped_; }
        const bool scoped_;
    };

    void on_agreed(protocol::Session session) override {
        link.session = std::move(session);
        agreed.push_back(link.session->version);
    }
    void on_modern_for_good() override { ++for_good; }
    bool is_new_process() const override { return false; }
    void on_handshake_refused(const std::string& method, const plugin::Problem*) override {
        refused.push_back(method);
    }
    void on_handshake_failed(Error error) override { failures.push_back(error.message); }
    void lose(Error error) override { losses.push_back(error.message); }

    void begin(bool request_scoped = false, const std::string& remembered = "") {
        link.channel = std::make_unique<Silent>(request_scoped);
        greeting.prepare(remembered, protocol::Era::Modern);
        greeting.start();
    }
    std::vector<std::string> asked() const {
        std::vector<std::string> methods;
        for (const auto& each : requests.asked) methods.push_back(each.request.method);
        return methods;
    }
    static plugin::Problem problem(unsigned status) {
        plugin::Problem made;
        made.error = {ErrorCode::Protocol, "HTTP " + std::to_string(status)};
        made.http_status = status;
        return made;
    }

    const char* const modern =
        R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}})";
    const char* const legacy =
        R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x"}})";

    test::TurnedLoop loop;
    Terms terms;
    config::Server server;
    ServerName name{"s"};
    Link link;
    ScriptedRequests requests;
    std::vector<std::string> agreed, refused, failures, losses;
    int for_good = 0;
    Greeting greeting{loop, terms, terms.identity, server, name, link, requests, *this, *this};
};

TEST_F(GreetingTest, AModernServerAnswersTheProbe) {
    begin();
    requests.answer(modern);
    EXPECT_THAT(asked(), ElementsAre("server/discover"));
    EXPECT_THAT(agreed, ElementsAre("2026-07-28"));
    EXPECT_EQ(for_good, 1);
}

TEST_F(GreetingTest, ALegacyServerThatDoesNotKnowTheProbeIsInitialized) {
    begin();
    requests.refuse(R"({"code":-32601,"message":"Method not found"})");
    EXPECT_THAT(asked(), ElementsAre("server/discover", "initialize"));
    requests.answer(legacy);
    EXPECT_THAT(agreed, ElementsAre("2025-11-25"));
    EXPECT_EQ(for_good, 0);
}

TEST_F(GreetingTest, ASilentServerIsInitializedBesideTheProbeAndMayTakeEither) {
    begin();
    EXPECT_TRUE(loop.run_until([&] { return requests.asked.size() == 2; }));
    EXPECT_THAT(asked(), ElementsAre("server/discover", "initialize"));
    requests.end(1, Error{ErrorCode::Timeout, "late"});
    EXPECT_THAT(losses, IsEmpty()) << "the start has a limit of its own";
    requests.answer(legacy);
    EXPECT_THAT(agreed, ElementsAre("2025-11-25"));
}

TEST_F(GreetingTest, BehindHttpTheProbeHasAllItsTime) {
    begin(true);
    bool passed = false;
    loop.after(200ms, [&] { passed = true; });
    EXPECT_TRUE(loop.run_until([&] { return passed; }));
    EXPECT_THAT(asked(), ElementsAre("server/discover"));
}

TEST_F(GreetingTest, AStatusThatSpeaksOfTheEndpointIsAHintAtTheOtherEra) {
    begin(true);
    const auto told = problem(400);
    greeting.on_end("server/discover", &told);
    EXPECT_THAT(asked(), ElementsAre("server/discover", "initialize"));
    EXPECT_THAT(refused, ElementsAre("server/discover"));
    EXPECT_THAT(losses, IsEmpty());
}

TEST_F(GreetingTest, AnotherStatusEndsIt) {
    begin(true);
    const auto told = problem(503);
    greeting.on_end("server/discover", &told);
    EXPECT_THAT(losses, ElementsAre("HTTP 503"));
    EXPECT_THAT(asked(), SizeIs(1));
}

TEST_F(GreetingTest, BehindHttpAnEndWithoutAStatusIsThatOfItsExchangeAlone) {
    begin(true);
    auto told = problem(0);
    told.error = {ErrorCode::Unavailable, "no way there"};
    greeting.on_end("server/discover", &told);
    EXPECT_THAT(losses, ElementsAre("no way there")) << "no channel ends that could say so";
}

TEST_F(GreetingTest, TheLossOfTheChannelIsToldByTheChannel) {
    begin();
    auto told = problem(0);
    told.error.code = ErrorCode::Unavailable;
    greeting.on_end("server/discover", &told);
    link.lost = Lost{told.error};
    requests.fail(ErrorCode::Unavailable, "gone");
    EXPECT_THAT(losses, IsEmpty());
    EXPECT_THAT(asked(), SizeIs(1));
}

TEST_F(GreetingTest, AnAnswerThatMakesNoSenseIsNoProbeAnswered) {
    begin();
    requests.answer("[1]");
    EXPECT_THAT(losses, ElementsAre(HasSubstr("result of server/discover")));
}

TEST_F(GreetingTest, WithoutACommonRevisionItFails) {
    server.protocol = "2026-07-28";
    begin();
    requests.answer(R"({"resultType":"complete","supportedVersions":["2099-01-01"]})");
    ASSERT_THAT(failures, SizeIs(1));
    EXPECT_THAT(failures[0], HasSubstr("2099-01-01"));
}

}  // namespace
}  // namespace patchbay::connection
