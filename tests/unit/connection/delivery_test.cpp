// What a request looks like when it leaves, and how far it is said to have got, without a transport.
#include "connection/delivery.hpp"

#include "support/fake_sources.hpp"
#include "support/silent_channel.hpp"
#include "support/turned_loop.hpp"
#include "unit/connection/scripted_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

using plugin::Flow;

class DeliveryTest : public ::testing::Test,
                     public DeliveryOwner,
                     public Loss,
                     protected test::PoolParts {
protected:
    // Takes everything, unless `refusal` says otherwise.
    struct Taker final : test::SilentChannel {
        explicit Taker(DeliveryTest& of) : test(of) {}
        Result<Flow> send(plugin::OutgoingMessage message) override {
            if (test.refusal) return *test.refusal;
            test.taken.emplace_back(message.body.view());
            for (const auto& header : *message.headers)
                test.headers.push_back(header.name + ": " + header.value);
            return test.flow;
        }
        void cancel(plugin::ExchangeId exchange) override { test.withdrawn.push_back(exchange); }
        bool request_scoped() const override { return test.request_scoped; }
        bool takes_headers() const override { return test.takes_headers; }
        DeliveryTest& test;
    };
    struct NoTransports final : TransportSource {
        bool has(const std::string&) const override { return false; }
        void prepare(const std::string&, Prepared ready) override { ready({}); }
        Result<std::unique_ptr<plugin::Channel>> open(const std::string&, plugin::ChannelOptions,
                                                      plugin::ChannelEvents&) override {
            return Error{ErrorCode::Internal, "not here"};
        }
    };

    struct ListOwner final : ToolListOwner {
        bool mirrors_arguments() const override { return true; }
        void on_listed(std::shared_ptr<const catalogue::Listing>) override {}
        void on_tools_changed(const Result<void>&) override {}
        void on_tools_read() override {}
        bool on_list_unanswered(const Error&) override { return false; }
    };

    DeliveryTest() {
        link.channel = std::make_unique<Taker>(*this);
        agree(protocol::Era::Legacy);
    }
    void agree(protocol::Era era) {
        link.session.emplace();
        link.session->era = era;
    }
    void wait_for_session(RequestId waiting) override {
        told.push_back(std::to_string(waiting) + " waits");
    }
    void finish_later(RequestId ended, Error error) override {
        told.push_back(std::to_string(ended) + ": " + error.message);
    }
    void on_answer_not_taken(RequestId exchange) override {
        told.push_back("answer " + std::to_string(exchange));
    }
    void lose(Error error) override { told.push_back("lost: " + error.message); }
    PendingRequest& add(Request asked, CallerNumber caller = 1) {
        id = delivery.next_id();
        PendingRequest entry{std::move(asked), [](const auto&) {}, caller};
        entry.deadline = core::Clock::time_point::max();
        return pending.add(id, std::move(entry));
    }
    PendingRequest& send(Request asked, CallerNumber caller = 1) {
        auto& entry = add(std::move(asked), caller);
        delivery.send(id, entry);
        return entry;
    }
    static Request call() { return {"tools/call", {"\"name\":\"a\"", ""}, {}, {}}; }
    void run_deferred() { loop.pass(0ms); }

    test::TurnedLoop loop;
    NoTransports no_transports;
    Terms terms;
    Context shared = context(loop, no_transports, terms);
    config::Server server;
    ServerName name{"s"};
    Link link;
    bool request_scoped = false, takes_headers = false;
    Flow flow = Flow::Ready;
    std::optional<Error> refusal;
    std::vector<std::string> taken, headers, told;
    std::vector<plugin::ExchangeId> withdrawn;
    RequestId id = 0;
    Credentials credentials_of_server{shared, server, link};
    ScriptedRequests requests;
    ListOwner list_owner;
    ToolList tools{loop, terms, terms.identity, name, "key of s", requests, list_owner};
    PendingRequests pending{loop, [](RequestId) {}};
    Delivery delivery{
        loop, terms.limits, {server, credentials_of_server, tools, link, pending, *this, *this}};
};

TEST_F(DeliveryTest, ARequestIsPutWithItsNumberAndNothingThatIsNotThere) {
    EXPECT_EQ(send(call()).stage, Stage::Sent);
    EXPECT_THAT(
        taken,
        ElementsAre(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}})"));
    EXPECT_THAT(headers, IsEmpty());
}

TEST_F(DeliveryTest, WhoWantsProgressHasATokenThatIsTheNumberOnTheWire) {
    auto asked = call();
    asked.on_progress = [](const auto&) {};
    auto& entry = add(std::move(asked));
    pending.set_wire_id(id, delivery.next_id());
    delivery.send(id, entry);
    EXPECT_THAT(taken, ElementsAre(HasSubstr(R"("id":2,)")));
    EXPECT_THAT(taken, ElementsAre(HasSubstr(R"("_meta":{"progressToken":2})")));
}

TEST_F(DeliveryTest, TheMetaOfTheEraIsThatOfTheCaller) {
    agree(protocol::Era::Modern);
    link.meta = "\"of\":\"the host\"";
    link.meta_of_others = "\"of\":\"others\"";
    link.meta_of[7] = "\"of\":\"seven\"";
    send(call(), 7);
    send(call(), 8);
    send({"ping", {}, {}, {}}, 0);
    EXPECT_THAT(taken, ElementsAre(HasSubstr(R"("of":"seven")"), HasSubstr(R"("of":"others")"),
                                   HasSubstr(R"("of":"the host")")));
}

TEST_F(DeliveryTest, TheAnswersOfARoundGoOutBesideTheParams) {
    auto& entry = add(call());
    entry.round = R"("inputResponses":{"q":1})";
    delivery.send(id, entry);
    EXPECT_THAT(taken, ElementsAre(HasSubstr(R"("params":{"name":"a","inputResponses":{"q":1}})")));
}

TEST_F(DeliveryTest, HeadersAreForWhatTakesThemAndOfTheModernEra) {
    takes_headers = true;
    send(call());
    EXPECT_THAT(headers, IsEmpty());
    agree(protocol::Era::Modern);
    send(call());
    EXPECT_THAT(headers, ElementsAre("Mcp-Method: tools/call", "Mcp-Name: a"));
}

TEST_F(DeliveryTest, OfAClientsHeadersThoseGoOnThatTheServerNamesWhateverItsEra) {
    takes_headers = true;
    server.forward_headers = {"x-request-id"};
    auto asked = call();
    asked.client_headers = std::make_shared<const std::vector<protocol::MessageHeader>>(
        std::vector<protocol::MessageHeader>{{"x-other", "8"}, {"x-request-id", "7"}});
    send(asked);
    send(call());
    EXPECT_THAT(headers, ElementsAre("x-request-id: 7")) << "and with their own request alone";
    takes_headers = false;
    send(asked);
    EXPECT_THAT(headers, SizeIs(1));
}

TEST_F(DeliveryTest, AClientsHeaderStandsInPlaceOfNoneOfOurCredentials) {
    takes_headers = true;
    credentials.token = "ours";
    server.bearer_token_env_var = "TOKEN";
    server.forward_headers = {"authorization", "x-b"};  // config lets nobody say so
    ASSERT_TRUE(credentials_of_server.use(AuthMethod{}));
    auto asked = call();
    asked.client_headers = std::make_shared<const std::vector<protocol::MessageHeader>>(
        std::vector<protocol::MessageHeader>{{"authorization", "theirs"}, {"x-b", "1"}});
    send(asked);
    EXPECT_THAT(headers, ElementsAre("x-b: 1"));
}

TEST_F(DeliveryTest, AnArgumentThatItsToolMarksGoesToAHeaderOrTheRequestDoesNotLeave) {
    takes_headers = true;
    agree(protocol::Era::Modern);
    tools.begin_session(ToolList::Offered::Tools);
    requests.answer(R"({"tools":[{"name":"a","inputSchema":{"type":"object","properties":
        {"region":{"type":"string","x-mcp-header":"Region"}}}}]})");
    auto asked = call();
    asked.params.members += R"(,"arguments":{"region":"north"})";
    send(asked);
    EXPECT_THAT(headers,
                ElementsAre("Mcp-Method: tools/call", "Mcp-Name: a", "Mcp-Param-Region: north"));
    auto odd = call();
    odd.params.members += R"(,"arguments":{"region":["north"]})";
    EXPECT_NE(send(odd).stage, Stage::Sent);
    EXPECT_THAT(told, ElementsAre(HasSubstr("2: ")));
    EXPECT_THAT(taken, SizeIs(1));
}

TEST_F(DeliveryTest, WhatATransportThatIsFullWasNotGivenMayBeTakenBack) {
    flow = Flow::Paused;
    send(call());
    const auto& second = send(call());
    EXPECT_EQ(second.stage, Stage::Queued);
    delivery.take_back(second);
    flow = Flow::Ready;
    delivery.writable();
    run_deferred();
    EXPECT_THAT(taken, SizeIs(1));
}

TEST_F(DeliveryTest, WhatAChannelAtItsEndDoesNotTakeWaitsForTheNextOneIfItIsACallers) {
    refusal = Error{ErrorCode::Unavailable, "gone"};
    EXPECT_EQ(send(call()).stage, Stage::Waiting);
    EXPECT_THAT(told, ElementsAre("1 waits"));
    send({"ping", {}, {}, {}}, 0);
    EXPECT_THAT(told, SizeIs(1)) << "one of our own ends with the channel";
    delivery.respond(9, "{}");
    EXPECT_THAT(told, ElementsAre("1 waits", "answer 9"));
}

TEST_F(DeliveryTest, WhatIsRefusedForAnyOtherReasonSaysWhetherItMayHaveRunBefore) {
    refusal = Error{ErrorCode::Limit, "too much"};
    send(call());
    auto& again = add(call());
    again.uncertain = true;
    delivery.send(id, again);
    EXPECT_THAT(told, ElementsAre("1: too much; the request was not sent",
                                  "2: too much; the request may have been carried out"));
}

TEST_F(DeliveryTest, TheServerIsToldOfTheEndOfWhatItHasAndOfNothingElse) {
    const auto& waits = add(call());
    delivery.tell_cancelled(waits, "why");
    const auto& greeting = send({"initialize", {}, {}, {}}, 0);
    delivery.tell_cancelled(greeting, "why");
    EXPECT_THAT(taken, SizeIs(1));
    const auto& sent = send(call());
    delivery.tell_cancelled(sent, "why");
    EXPECT_THAT(taken.back(), HasSubstr(R"("requestId":3,"reason":"why")"));
    agree(protocol::Era::Modern);
    request_scoped = true;
    delivery.tell_cancelled(sent, "why");
    EXPECT_THAT(withdrawn, ElementsAre(3));
}

TEST_F(DeliveryTest, ANotificationIsOfASession) {
    delivery.notify("notifications/initialized", {});
    link.session.reset();
    delivery.notify("notifications/initialized", {});
    EXPECT_THAT(taken, SizeIs(1));
}

TEST_F(DeliveryTest, WhoseRequestsLeaveIsNotedAtTheLink) {
    send({"ping", {}, {}, {}}, 0);
    EXPECT_EQ(link.user, 0u);
    send(call(), 7);
    EXPECT_EQ(link.user, 7u);
    EXPECT_FALSE(link.shared);
    send(call(), 8);
    EXPECT_TRUE(link.shared);
}

}  // namespace
}  // namespace patchbay::connection
