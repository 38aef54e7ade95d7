// One authenticator between an auth table and a listener that are both the test's own.
#include "core/escapes.hpp"
#include "plugin/links/create_authenticator.hpp"
#include "plugin/loading/tables.hpp"
#include "plugin/services/host_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

// The plugin's side: writes down how it is called, answers as it is told.
struct Method {
    std::vector<std::string> calls;
    const patchbay_auth_sink* sink = nullptr;
    patchbay_auth_link* link = nullptr;
    patchbay_status create_status = PATCHBAY_OK, acquire_status = PATCHBAY_OK;
    std::string throws_in;
    patchbay_auth table{sizeof(patchbay_auth),
                        0,
                        "own",
                        "{}",
                        on_create,
                        on_acquire,
                        on_cancel,
                        on_forget,
                        on_close,
                        on_destroy,
                        nullptr};

    static Method& of(patchbay_authenticator* one) { return *reinterpret_cast<Method*>(one); }
    static Method*& creating() {  // nothing in a create leads to us
        static Method* one = nullptr;
        return one;
    }
    void called(const std::string& slot, const std::string& what = {}) {
        calls.push_back(slot + what);
        if (slot == throws_in) throw std::runtime_error("no " + slot);
    }
    static patchbay_status on_create(const patchbay_auth_params* params,
                                     patchbay_authenticator** out, patchbay_error* error) {
        auto& self = *creating();
        EXPECT_EQ(params->struct_size, sizeof *params);
        self.sink = params->sink;
        self.link = params->link;
        self.called("create", " " + std::string(view(params->server)) + " " +
                                  std::string(view(params->config)));
        if (self.create_status != PATCHBAY_OK) fill(error, self.create_status, "not today");
        *out = reinterpret_cast<patchbay_authenticator*>(&self);
        return self.create_status;
    }
    static patchbay_status on_acquire(patchbay_authenticator* one,
                                      const patchbay_auth_request* request, patchbay_error* error) {
        EXPECT_EQ(request->struct_size, sizeof *request);
        if (request->challenge) {
            EXPECT_EQ(request->challenge->struct_size, sizeof *request->challenge);
        }
        auto what = " " + std::to_string(request->operation) + " " +
                    std::to_string(request->interactive) + " " + std::string(view(request->url)) +
                    " " + std::string(view(request->scope));
        if (const auto* challenge = request->challenge)
            what += " after " + std::to_string(challenge->http_status) + " " +
                    std::to_string(challenge->error.native_code) + " " + challenge->error.message +
                    " " + std::string(view(challenge->url)) + " " +
                    std::to_string(challenge->header_count);
        of(one).called("acquire", what);
        if (of(one).acquire_status != PATCHBAY_OK) fill(error, of(one).acquire_status, "no key");
        return of(one).acquire_status;
    }
    static void on_cancel(patchbay_authenticator* one, std::uint64_t operation) {
        of(one).called("cancel", " " + std::to_string(operation));
    }
    static void on_forget(patchbay_authenticator* one) { of(one).called("forget"); }
    static void on_close(patchbay_authenticator* one) { of(one).called("close"); }
    static void on_destroy(patchbay_authenticator* one) { of(one).called("destroy"); }
};

struct Outcomes final : AuthenticatorEvents {
    std::vector<Result<Grant>> acquired;
    int closed = 0;
    std::function<void()> during_acquired;
    void on_acquired(OperationId, Result<Grant> grant) override {
        acquired.push_back(std::move(grant));
        if (during_acquired) during_acquired();
    }
    void on_authenticator_closed() override { ++closed; }
};

class AuthenticatorAlone : public testing::Test {
protected:
    ~AuthenticatorAlone() override {
        if (!authenticator_) return;
        authenticator_->close();
        method_.sink->closed(method_.link);
        turn();
        authenticator_.reset();
    }
    Result<void> create() {
        Method::creating() = &method_;
        auto made = create_authenticator(loop_, services_, method_.table,
                                         {"demo", {{"key", "value"}}, nullptr}, events_);
        if (!made) return made.error();
        authenticator_ = std::move(*made);
        return {};
    }
    Result<void> acquire(OperationId operation = 1) {
        return authenticator_->acquire({operation, "http://h/", Asking::Quiet, nullptr, ""});
    }
    // Of a fresh operation, what its method grants becomes.
    Result<Grant> granted(const patchbay_grant& grant) {
        if (!authenticator_) {
            EXPECT_TRUE(create());
        }
        EXPECT_TRUE(acquire(++last_));
        method_.sink->acquired(method_.link, last_, PATCHBAY_OK, &grant, nullptr);
        turn();
        return events_.acquired.back();
    }
    static patchbay_grant grant_of(const std::vector<patchbay_kv>& credentials) {
        patchbay_grant grant{};
        grant.struct_size = sizeof grant;
        grant.credentials = credentials.data();
        grant.credential_count = credentials.size();
        return grant;
    }
    Error refused(patchbay_status status, const patchbay_error* error) {
        EXPECT_TRUE(acquire(++last_));
        method_.sink->acquired(method_.link, last_, status, nullptr, error);
        turn();
        return events_.acquired.back().error();
    }
    void turn() {
        bool turned = false;
        loop_.post([&] { turned = true; });
        ASSERT_TRUE(loop_.run_until([&] { return turned; }, core::Clock::now() + 20s));
    }

    core::Loop loop_;
    HostServices services_{"test", {}};
    Method method_;
    Outcomes events_;
    OperationId last_ = 0;
    std::unique_ptr<Authenticator> authenticator_;
};

TEST_F(AuthenticatorAlone, HandsEveryCallDownWithAllThatItSays) {
    ASSERT_TRUE(create());
    EXPECT_EQ(services_.channels, 1u);
    Problem challenge;
    challenge.http_status = 401;
    challenge.native_code = 7;
    challenge.error.message = "who are you";
    challenge.url = "http://h/mcp";
    challenge.headers = {{"A", "1"}, {"B", "2"}};
    ASSERT_TRUE(authenticator_->acquire({5, "http://h/", Asking::SignIn, &challenge, "read"}));
    authenticator_->cancel(4);
    authenticator_->cancel(0);
    authenticator_->cancel(5);
    authenticator_->forget();
    method_.sink->acquired(method_.link, 5, PATCHBAY_E_CANCELLED, nullptr, nullptr);
    turn();
    authenticator_->cancel(5);
    authenticator_->close();
    authenticator_->close();
    authenticator_->forget();
    EXPECT_EQ(acquire(6).error().message, "the authenticator is closed");
    method_.sink->closed(method_.link);
    turn();
    EXPECT_EQ(events_.closed, 1);
    EXPECT_EQ(services_.channels, 0u);
    authenticator_->close();
    EXPECT_THAT(method_.calls,
                ElementsAre("create demo {\"key\":\"value\"}",
                            "acquire 5 2 http://h/ read after 401 7 who are you http://h/mcp 2",
                            "cancel 5", "forget", "close", "destroy"));
    EXPECT_EQ(services_.misbehaviour(), "");
}

TEST_F(AuthenticatorAlone, GrantsWhatAHeaderCanCarryUpToItsLimits) {
    const std::string largest(kCredentialBytes - 1, 'v');
    const std::vector<patchbay_kv> one{{str("A-z9~"), str("\t ~\xc3\xa9"), PATCHBAY_KV_SECRET, 0},
                                       {str("E"), str("e"), PATCHBAY_KV_ENV, 0},
                                       {str("S"), str(""), PATCHBAY_KV_SIGN, 0},
                                       {str("n"), str(largest), 0, 0}};
    auto grant = grant_of(one);
    grant.expires_unix_ms = 1'000;
    const auto made = granted(grant);
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->credentials.size(), 4u);
    EXPECT_TRUE(made->credentials[0].secret && made->credentials[1].environment &&
                made->credentials[2].sign);
    EXPECT_FALSE(made->credentials[3].secret || made->credentials[3].environment ||
                 made->credentials[3].sign);
    EXPECT_EQ(made->expires, std::chrono::system_clock::time_point(1s));
    grant.expires_unix_ms = ~std::uint64_t{0};
    EXPECT_EQ(granted(grant)->expires, std::chrono::system_clock::time_point(4'102'444'800s));
    EXPECT_TRUE(granted(grant_of(std::vector<patchbay_kv>(32, {str("A"), str("1"), 0, 0}))));
    EXPECT_TRUE(granted(grant_of({})));
    EXPECT_EQ(services_.misbehaviour(), "");
}

TEST_F(AuthenticatorAlone, TellsARefusalInTheHostsWords) {
    ASSERT_TRUE(create());
    patchbay_error error{};
    fill(&error, PATCHBAY_E_IO, "torn");
    EXPECT_EQ(refused(PATCHBAY_E_IO, &error).code, ErrorCode::Io);
    EXPECT_EQ(refused(PATCHBAY_E_IO, &error).message, "torn");
    EXPECT_EQ(refused(PATCHBAY_E_IO, nullptr).message, "the plugin said E_IO and nothing more");
    error.flags = PATCHBAY_ERR_RETRYABLE;
    EXPECT_EQ(refused(PATCHBAY_E_IO, &error).code, ErrorCode::Unavailable);
    EXPECT_EQ(refused(PATCHBAY_E_AUTH, &error).code, ErrorCode::AuthRequired);
    method_.acquire_status = PATCHBAY_E_DENIED;
    const auto begun = acquire(9);
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, ErrorCode::Denied);
    EXPECT_EQ(begun.error().message, "no key");
    method_.acquire_status = PATCHBAY_OK;
    EXPECT_TRUE(acquire(10)) << "nothing runs after a refusal";
    EXPECT_EQ(acquire(11).error().code, ErrorCode::Internal);
    method_.sink->acquired(method_.link, 10, PATCHBAY_E_AUTH, nullptr, nullptr);
    turn();
    EXPECT_EQ(services_.misbehaviour(), "");
}

// A deed that breaks the contract while operation 1 runs, and its name.
struct Deed {
    const char* name;
    std::function<void(Method&)> act;
    const char* told;
};
class AuthDeeds : public AuthenticatorAlone, public testing::WithParamInterface<Deed> {};

void grant(Method& method, std::string_view name, std::string_view value, std::size_t count = 1,
           std::uint32_t size = sizeof(patchbay_grant)) {
    const std::vector<patchbay_kv> credentials(count, {str(name), str(value), 0, 0});
    patchbay_grant made{};
    made.struct_size = size;
    made.credentials = credentials.data();
    made.credential_count = count;
    method.sink->acquired(method.link, 1, PATCHBAY_OK, &made, nullptr);
}

TEST_P(AuthDeeds, EndTheOperationAndTheAuthenticator) {
    ASSERT_TRUE(create());
    ASSERT_TRUE(acquire());
    GetParam().act(method_);
    turn();
    EXPECT_THAT(services_.misbehaviour(), HasSubstr(GetParam().told));
    ASSERT_EQ(events_.acquired.size(), 1u);
    EXPECT_EQ(events_.acquired[0].error().code, ErrorCode::Internal);
    EXPECT_THAT(events_.acquired[0].error().message, HasSubstr(GetParam().told));
    EXPECT_EQ(events_.closed, 1);
    EXPECT_FALSE(acquire(2));
}
const Deed kDeeds[] = {
    {"no_grant", [](Method& m) { m.sink->acquired(m.link, 1, PATCHBAY_OK, nullptr, nullptr); },
     "acquired with OK and no grant"},
    {"small_grant", [](Method& m) { grant(m, "A", "1", 1, kGrantFloor - 1); },
     "a grant of an unknown size"},
    {"many", [](Method& m) { grant(m, "A", "1", 33); }, "a grant with 33 credentials"},
    {"nowhere",
     [](Method& m) {
         patchbay_grant made{};
         made.struct_size = sizeof made;
         made.credential_count = 1;
         m.sink->acquired(m.link, 1, PATCHBAY_OK, &made, nullptr);
     },
     "a grant with 1 credentials"},
    {"no_name", [](Method& m) { grant(m, "", "1"); }, "no header can carry: \"\""},
    {"space_in_name", [](Method& m) { grant(m, "A B", "1"); }, "no header can carry: \"A B\""},
    {"control", [](Method& m) { grant(m, "A", "\x1f"); }, "no header can carry: \"A\""},
    {"delete", [](Method& m) { grant(m, "A", "\x7f"); }, "no header can carry: \"A\""},
    {"large", [](Method& m) { grant(m, "A", std::string(kCredentialBytes, 'v')); },
     "no header can carry: \"A\""},
    {"positive", [](Method& m) { m.sink->acquired(m.link, 1, 3, nullptr, nullptr); },
     "acquired with 3"},
    {"both",
     [](Method& m) {
         patchbay_grant made{};
         made.struct_size = sizeof made;
         m.sink->acquired(m.link, 1, PATCHBAY_E_IO, &made, nullptr);
     },
     "acquired with a grant and E_IO"},
    {"nobodys", [](Method& m) { m.sink->acquired(m.link, 0, PATCHBAY_E_IO, nullptr, nullptr); },
     "acquired for operation 0, which has ended or never was"},
    {"closed", [](Method& m) { m.sink->closed(m.link); },
     "closed while operation 1 was not acquired"},
};
INSTANTIATE_TEST_SUITE_P(All, AuthDeeds, testing::ValuesIn(kDeeds),
                         [](const auto& named) { return std::string(named.param.name); });

TEST_F(AuthenticatorAlone, TakesAThousandEventsAndEndsWithOneMore) {
    ASSERT_TRUE(create());
    ASSERT_TRUE(acquire());
    for (int i = 0; i < 1'001; ++i)
        method_.sink->acquired(method_.link, 1, PATCHBAY_E_IO, nullptr, nullptr);
    method_.sink->closed(method_.link);
    turn();
    EXPECT_THAT(method_.calls.back(), "destroy") << "the end is heard all the same";
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("operation 1, which has ended"));
    EXPECT_EQ(events_.acquired.size(), 1u);
}

TEST_F(AuthenticatorAlone, HearsNothingAfterItsEnd) {
    ASSERT_TRUE(create());
    authenticator_->close();
    method_.sink->closed(method_.link);
    method_.sink->acquired(method_.link, 1, PATCHBAY_E_IO, nullptr, nullptr);
    turn();
    EXPECT_EQ(events_.closed, 1);
    EXPECT_TRUE(events_.acquired.empty());
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("acquired after closed"));
}

TEST_F(AuthenticatorAlone, IsEndedByAListenerThatThrows) {
    ASSERT_TRUE(create());
    ASSERT_TRUE(acquire());
    events_.during_acquired = [] { throw std::runtime_error("not now"); };
    method_.sink->acquired(method_.link, 1, PATCHBAY_E_IO, nullptr, nullptr);
    turn();
    EXPECT_EQ(events_.acquired.size(), 1u);
    EXPECT_EQ(events_.closed, 1);
    EXPECT_THAT(method_.calls.back(), "close");
    EXPECT_EQ(services_.misbehaviour(), "") << "it is the host that threw";
    EXPECT_EQ(core::take_escapes(), 1u);
    EXPECT_FALSE(acquire(2));
}

TEST_F(AuthenticatorAlone, IsDestroyedWhenItHasClosedThoughNobodyListensAnyMore) {
    ASSERT_TRUE(create());
    authenticator_->close();
    method_.sink->closed(method_.link);
    authenticator_.reset();
    turn();
    EXPECT_THAT(method_.calls.back(), "destroy");
    EXPECT_EQ(services_.channels, 0u);
    EXPECT_EQ(events_.closed, 0);
}

TEST_F(AuthenticatorAlone, BlamesThePluginForWhatItsSlotsThrowAndReturn) {
    method_.throws_in = "create";
    EXPECT_EQ(create().error().message, "plugin \"test\": create threw: no create");
    EXPECT_EQ(services_.channels, 0u);
    method_.throws_in.clear();
    method_.create_status = 2;
    EXPECT_EQ(create().error().message, "plugin \"test\": create returned 2");
    method_.create_status = PATCHBAY_E_DENIED;
    EXPECT_EQ(create().error().message, "auth \"own\": not today");
    method_.create_status = PATCHBAY_OK;
    method_.throws_in = "acquire";
    ASSERT_TRUE(create());
    EXPECT_TRUE(acquire());
    turn();
    ASSERT_EQ(events_.acquired.size(), 1u);
    EXPECT_THAT(events_.acquired[0].error().message, HasSubstr("acquire threw: no acquire"));
    EXPECT_THAT(method_.calls.back(), "close") << "it is to stop";
}

TEST_F(AuthenticatorAlone, BlamesThePluginForAnAcquireThatReturnsNothingKnown) {
    ASSERT_TRUE(create());
    method_.acquire_status = 2;
    EXPECT_EQ(acquire().error().code, ErrorCode::Internal);
    turn();
    EXPECT_THAT(services_.misbehaviour(), HasSubstr("acquire returned 2"));
    EXPECT_EQ(events_.closed, 1);
    EXPECT_TRUE(events_.acquired.empty());
}

}  // namespace
