// The way to a channel, which goes no further than this.
#include "connection/attempt.hpp"

#include "support/fake_sources.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;
using Retry = Supervisor::Retry;
using test::FakeEras;
using test::NoEvents;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AttemptTest : public ::testing::Test, public AttemptOwner {
protected:
    struct Expander final : SettingsExpander {
        void expand(const config::Server&, Then then) override { asked.push_back(std::move(then)); }
        std::vector<Then> asked;
    };
    struct Transports final : TransportSource {
        bool has(const std::string&) const override { return false; }
        void prepare(const std::string& transport, Prepared ready) override {
            wanted.push_back(transport);
            asked.push_back(std::move(ready));
        }
        Result<std::unique_ptr<plugin::Channel>> open(const std::string&, plugin::ChannelOptions,
                                                      plugin::ChannelEvents&) override {
            return Error{ErrorCode::Internal, "not here"};
        }
        std::vector<std::string> wanted;
        std::vector<Prepared> asked;
    };

    AttemptTest() {
        spec.config.startup_timeout = 5ms;
        context.local_starts = context.remote_starts = &places;
    }
    void on_queued() override { told.emplace_back("queued"); }
    void on_opening() override { told.emplace_back("opening"); }
    void on_way_free(boost::json::object) override { told.emplace_back("free"); }
    void on_attempt_failed(Error error, Retry retry) override {
        told.push_back((retry == Retry::Useless ? "failed: " : "failed for now: ") + error.message);
        attempt.reset();  // as a connection does
    }
    void on_failed_beside() override { told.emplace_back("failed beside"); }
    void on_start_expired() override { told.emplace_back("expired"); }
    const std::string& transport() const override { return name; }

    Attempt& begin() {
        attempt.emplace(context, spec, starts, credentials, *this);
        attempt->go();
        return *attempt;
    }
    void pass(std::chrono::milliseconds time) { loop.pass(time); }

    test::TurnedLoop loop;
    NoEvents events;
    FakeEras eras;
    Callers callers;
    Expander expander;
    Transports transports;
    test::NoCredentials no_credentials;
    StartQueue places{loop, 1};
    Context context{.loop = loop,
                    .events = events,
                    .callers = callers,
                    .eras = eras,
                    .expander = expander,
                    .transports = transports,
                    .credentials = no_credentials,
                    .terms = {}};
    registry::ServerSpec spec;
    Link link;
    Credentials credentials{context, spec.config, link};
    std::string name = "fake";
    std::shared_ptr<Starts> starts = std::make_shared<Starts>();
    std::vector<std::string> told;
    std::optional<Attempt> attempt;
};

TEST_F(AttemptTest, GoesByWayOfTheSettingsAndThePlugin) {
    begin();
    EXPECT_THAT(told, ElementsAre("opening"));
    expander.asked.at(0)(Expanded{});
    EXPECT_THAT(transports.wanted, ElementsAre("fake"));
    EXPECT_TRUE(attempt->is_loading());
    transports.asked.at(0)({});
    EXPECT_THAT(told, ElementsAre("opening", "free"));
    EXPECT_FALSE(attempt->is_loading());
}

TEST_F(AttemptTest, WaitsForAPlaceAndGivesItBack) {
    auto other = places.enter([] {});
    begin();
    EXPECT_THAT(told, ElementsAre("queued"));
    other.reset();
    pass(0ms);
    EXPECT_THAT(told, ElementsAre("queued", "opening"));
    auto next = places.enter([] {});
    EXPECT_FALSE(next->taken());
    attempt.reset();
    EXPECT_TRUE(next->taken());
}

TEST_F(AttemptTest, KeepsItsPlaceForTheNextTransport) {
    begin().go();
    EXPECT_THAT(told, ElementsAre("opening", "opening"));
}

TEST_F(AttemptTest, WhatWasAskedForAnEarlierWayComesToNothing) {
    begin().go();
    expander.asked.at(0)(Expanded{});
    EXPECT_THAT(transports.wanted, IsEmpty());
    expander.asked.at(1)(Expanded{});
    EXPECT_THAT(transports.wanted, ElementsAre("fake"));
}

TEST_F(AttemptTest, NothingComesOfItWhenItIsGone) {
    begin();
    expander.asked.at(0)(Expanded{});
    attempt.reset();
    transports.asked.at(0)({});
    pass(10ms);
    EXPECT_THAT(told, ElementsAre("opening")) << "neither a channel nor an expired limit";
}

TEST_F(AttemptTest, FailsForGoodWhereAnotherWouldFareNoBetter) {
    begin();
    expander.asked.at(0)(Error{ErrorCode::Invalid, "no such variable"});
    begin();
    expander.asked.at(1)(Expanded{});
    transports.asked.at(0)(Error{ErrorCode::Denied, "another file"});
    EXPECT_THAT(told, ElementsAre("opening", "failed: no such variable", "opening",
                                  "failed: another file"));
}

TEST_F(AttemptTest, ItsLimitRunsFromTheLoadingOnAndNotWhileAPersonIsAsked) {
    begin();
    pass(10ms);
    EXPECT_THAT(told, ElementsAre("opening"));
    expander.asked.at(0)(Expanded{});
    attempt->wait_for_person();
    pass(10ms);
    EXPECT_THAT(told, ElementsAre("opening"));
    attempt->keep_limit();
    pass(10ms);
    EXPECT_THAT(told, ElementsAre("opening", "expired"));
}

TEST_F(AttemptTest, BeginsOtherwiseOnce) {
    begin();
    EXPECT_FALSE(attempt->begins_otherwise());
    EXPECT_TRUE(attempt->begin_otherwise());
    EXPECT_TRUE(attempt->begins_otherwise());
    EXPECT_FALSE(attempt->begin_otherwise());
}

}  // namespace
}  // namespace patchbay::connection
