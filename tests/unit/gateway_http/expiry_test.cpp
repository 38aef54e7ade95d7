// What becomes of streams when that which their request was let in with counts no more.
#include "unit/gateway_http/http_gateway_fixture.hpp"

namespace patchbay::gateway {
namespace {

class Expiry : public HttpGatewayTest {
protected:
    Expiry() { renew(); }
    // What is brought from now on.
    void renew() { admission.until = loop.date() + 1min; }
};

TEST_F(Expiry, EndsTheStreamOfASessionWhichItsClientMayOpenAnew) {
    greet();
    const auto stream = come("GET", of_session());
    loop.pass(59s);
    EXPECT_FALSE(stream->over);
    loop.pass(2s);
    EXPECT_TRUE(stream->over);
    renew();
    EXPECT_EQ(post(1, "ping")->status, 200u) << "the session is the client's, not the token's";
    const auto next = come("GET", of_session());
    EXPECT_TRUE(next->streams());
    loop.pass(30s);
    EXPECT_FALSE(next->over);
}

TEST_F(Expiry, EndsASubscriptionWithAWordAndNoCall) {
    be_slow();
    const auto subscription =
        post_modern(1, "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
    const auto call = post_modern(2, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 1 && subscription->has("acknowledged"); }));
    loop.pass(59s);
    EXPECT_FALSE(subscription->over);
    loop.pass(2s);
    EXPECT_TRUE(subscription->over);
    EXPECT_THAT(subscription->body, HasSubstr(R"("id":1,"result":{"resultType":"complete")"));
    EXPECT_FALSE(call->over);
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr(R"("id":2,"result")"));
}

TEST_F(Expiry, EndsASessionOfTheOlderTransport) {
    offer_sse();
    const auto stream = come("GET", {}, {}, "/sse");
    const auto where = endpoint_of(stream);
    come("POST", {}, message(0, "initialize", {{"protocolVersion", "2024-11-05"}}), where);
    loop.pass(59s);
    EXPECT_FALSE(stream->over);
    loop.pass(2s);
    EXPECT_TRUE(stream->over);
    EXPECT_EQ(come("POST", {}, message(1, "ping", {}), where)->status, 404u);
}

}  // namespace
}  // namespace patchbay::gateway
