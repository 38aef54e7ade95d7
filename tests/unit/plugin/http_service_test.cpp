// patchbay.host.http/1, with a plugin on each side.
#include "plugin/services/http_service.hpp"

#include "core/log.hpp"
#include "plugin/loading/catalogue.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

// ---- through plugins

struct Acquired final : AuthenticatorEvents {
    std::optional<Result<Grant>> outcome;
    bool closed = false;
    void on_acquired(OperationId, Result<Grant> grant) override { outcome = std::move(grant); }
    void on_authenticator_closed() override { closed = true; }
};

// What the auth fixture's request was answered, with these fixtures installed.
Result<Grant> fetched(const std::vector<std::string>& fixtures) {
    const PluginFolder folder;
    for (const auto& name : fixtures) install_built(folder, name);
    core::Loop loop;
    SearchOptions options;
    options.config_directories = {folder.path()};
    options.built_in = false;
    Catalogue catalogue(loop, options);
    Acquired events;
    auto made =
        catalogue.create_authenticator("fake_auth", {"demo", {{"behave", "fetch"}}, {}}, events);
    if (!made) return made.error();
    const auto authenticator = std::move(*made);
    if (auto begun = authenticator->acquire({1, "https://example.com", Asking::Quiet, nullptr, {}});
        !begun)
        return begun.error();
    const auto until = core::Clock::now() + 20s;
    EXPECT_TRUE(loop.run_until([&] { return events.outcome.has_value(); }, until));
    authenticator->close();
    EXPECT_TRUE(loop.run_until([&] { return events.closed; }, until));
    return *events.outcome;
}

TEST(HttpService, JoinsThePluginThatAsksToTheOneThatProvidesHttp) {
    const auto grant = fetched({"fake_auth", "fake_http"});
    ASSERT_TRUE(grant) << grant.error().message;
    EXPECT_EQ(grant->credentials.at(0).value, "Bearer POST:grant");
}

TEST(HttpService, SaysWhyThereIsNoHttp) {
    const auto grant = fetched({"fake_auth"});
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().code, ErrorCode::Unsupported);
    EXPECT_THAT(grant.error().message, HasSubstr("unknown transport \"http\""));
}

// ---- alone

struct Answer {
    int times = 0;
    patchbay_status status = PATCHBAY_OK;
    std::string text;
};
void keep(void* ctx, patchbay_status status, const patchbay_http_response* response,
          const patchbay_error* error) {
    auto& answer = *static_cast<Answer*>(ctx);
    ++answer.times;
    answer.status = status;
    answer.text = response ? std::string(view(response->body)) : error ? error->message : "";
}

// A provider that keeps its requests until it is told to answer.
struct Provider {
    std::string url, header, told;
    std::function<void()> during_fetch;
    void* ctx = nullptr;
    HttpService::Callback done = nullptr;
    int cancelled = 0;
    patchbay_status refusal = PATCHBAY_OK;
    patchbay_plugin plugin{};

    static Provider*& current() {
        static Provider* one = nullptr;
        return one;
    }
    static patchbay_status fetch(const patchbay_plugin*, const patchbay_http_request* request,
                                 void* ctx, HttpService::Callback done, patchbay_op* out) {
        auto& self = *current();
        if (self.during_fetch) self.during_fetch();
        if (self.refusal) return self.refusal;
        self.told = all_of(*request);
        self.url = view(request->url);
        if (request->header_count) self.header = view(request->headers[0].value);
        self.ctx = ctx;
        self.done = done;
        *out = 9;
        return PATCHBAY_OK;
    }
    static void cancel(const patchbay_plugin*, patchbay_op op) noexcept {
        if (op == 9) ++current()->cancelled;
    }
    static std::string all_of(const patchbay_http_request& request) {
        std::string text;
        const auto add = [&](std::string_view part) { text.append(part) += ' '; };
        for (const auto part : {request.method, request.url, request.body}) add(view(part));
        add(std::to_string(request.timeout_ms));
        add(std::to_string(request.max_response));
        for (const auto part : {request.beside, request.ca_file, request.proxy}) add(view(part));
        for (std::size_t i = 0; i < request.header_count; ++i) {
            const auto& kv = request.headers[i];
            add(std::string(view(kv.name)).append(":").append(view(kv.value)) + "/" +
                std::to_string(kv.flags));
        }
        text.pop_back();
        return text;
    }
    patchbay_plugin_http table{sizeof(patchbay_plugin_http), 0, fetch, cancel};
};

class HttpServiceAlone : public testing::Test {
protected:
    HttpServiceAlone() { Provider::current() = &provider; }
    ~HttpServiceAlone() override {
        service.reset();
        Provider::current() = nullptr;
    }

    static patchbay_http_request request(std::string_view url) {
        patchbay_http_request made{};
        made.struct_size = sizeof made;
        made.method = str("GET");
        made.url = str(url);
        return made;
    }
    patchbay_status fetch(Answer& told, patchbay_op& op) {
        // Borrowed only for the call: gone before the request starts.
        const std::string url = "https://example.com/token", value = "Basic c2VjcmV0";
        const patchbay_kv header{str("Authorization"), str(value), PATCHBAY_KV_SECRET, 0};
        auto wanted = request(url);
        wanted.headers = &header;
        wanted.header_count = 1;
        return service->fetch(&wanted, &told, keep, &op);
    }
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }

    core::Loop loop;
    Provider provider;
    Answer answer, waiting;  // outlive the service, which tells them of its end
    int asked = 0;
    std::string missing;  // why there is no provider
    std::optional<HttpService> service{
        std::in_place, loop, [this](const HttpService::Found& found) {
            ++asked;
            if (!missing.empty()) return found(Error{ErrorCode::NotFound, missing});
            found(HttpService::Provider{&provider.plugin, &provider.table});
        }};
};

TEST_F(HttpServiceAlone, CopiesTheRequestAndAnswersOnce) {
    patchbay_op op = 0;
    ASSERT_EQ(fetch(answer, op), PATCHBAY_OK);
    EXPECT_EQ(provider.done, nullptr) << "started from inside fetch";
    ASSERT_TRUE(until([&] { return provider.done != nullptr; }));
    EXPECT_EQ(provider.url, "https://example.com/token");
    EXPECT_EQ(provider.header, "Basic c2VjcmV0");
    patchbay_http_response response{};
    response.struct_size = sizeof response;
    response.body = str("token");
    std::thread([&] { provider.done(provider.ctx, PATCHBAY_OK, &response, nullptr); }).join();
    EXPECT_EQ(answer.text, "token");
    provider.done(provider.ctx, PATCHBAY_OK, &response, nullptr);
    EXPECT_EQ(answer.times, 1);
    service->cancel(op);
    EXPECT_EQ(provider.cancelled, 0) << "it has ended";
}

TEST_F(HttpServiceAlone, FindsTheProviderOnceAndOnlyWhenItIsNeeded) {
    EXPECT_EQ(asked, 0);
    patchbay_op first = 0, second = 0;
    fetch(answer, first);
    fetch(answer, second);
    EXPECT_NE(first, second);
    service->cancel(second);
    ASSERT_TRUE(until([&] { return answer.times == 1; }));
    EXPECT_EQ(answer.status, PATCHBAY_E_CANCELLED) << "cancelled before it was sent";
    EXPECT_EQ(asked, 1);
}

TEST_F(HttpServiceAlone, HandsACancelOn) {
    patchbay_op op = 0;
    fetch(answer, op);
    ASSERT_TRUE(until([&] { return provider.done != nullptr; }));
    service->cancel(op);
    EXPECT_EQ(provider.cancelled, 1);
    EXPECT_EQ(answer.times, 0) << "the provider's callback is still to come";
    provider.done(provider.ctx, PATCHBAY_E_CANCELLED, nullptr, nullptr);
    EXPECT_EQ(answer.status, PATCHBAY_E_CANCELLED);
}

TEST_F(HttpServiceAlone, TellsARefusalThroughTheCallback) {
    provider.refusal = PATCHBAY_E_DENIED;
    patchbay_op op = 0;
    ASSERT_EQ(fetch(answer, op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return answer.times == 1; }));
    EXPECT_EQ(answer.status, PATCHBAY_E_DENIED);
}

TEST_F(HttpServiceAlone, EndsWhatIsUnderWayWhenItCloses) {
    patchbay_op op = 0;
    fetch(answer, op);
    ASSERT_TRUE(until([&] { return provider.done != nullptr; }));
    fetch(waiting, op);
    service->close();
    EXPECT_EQ(answer.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(waiting.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(provider.cancelled, 1);
    EXPECT_EQ(fetch(answer, op), PATCHBAY_E_CLOSED);
    service.reset();
    provider.done(provider.ctx, PATCHBAY_E_CANCELLED, nullptr, nullptr);
    EXPECT_EQ(answer.times, 1);
}

TEST_F(HttpServiceAlone, RefusesWhatIsNoRequestAndTooMany) {
    patchbay_http_request empty{};
    patchbay_op op = 0;
    EXPECT_EQ(service->fetch(nullptr, &answer, keep, &op), PATCHBAY_E_INVALID);
    EXPECT_EQ(service->fetch(&empty, &answer, keep, &op), PATCHBAY_E_INVALID);
    empty.struct_size = sizeof empty;
    EXPECT_EQ(service->fetch(&empty, nullptr, nullptr, &op), PATCHBAY_E_INVALID);
    for (std::size_t i = 0; i < HttpService::kMostRequests; ++i)
        ASSERT_EQ(fetch(answer, op), PATCHBAY_OK);
    EXPECT_EQ(fetch(answer, op), PATCHBAY_E_LIMIT);
}

TEST_F(HttpServiceAlone, HandsEveryPartOfARequestOver) {
    patchbay_op op = 0;
    auto wanted = request("https://example.com/token");
    wanted.method = str("POST");
    wanted.body = str("grant");
    wanted.timeout_ms = 1234;
    wanted.max_response = 5678;
    wanted.beside = str("https://mcp.example.com");
    wanted.ca_file = str("/etc/ca.pem");
    wanted.proxy = str("http://proxy:3128");
    const patchbay_kv headers[] = {{str("A"), str("1"), 0, 0},
                                   {str("B"), str("2"), PATCHBAY_KV_SECRET, 0}};
    wanted.headers = headers;
    wanted.header_count = 2;
    ASSERT_EQ(service->fetch(&wanted, &answer, keep, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return provider.done != nullptr; }));
    EXPECT_EQ(provider.told,
              "POST https://example.com/token grant 1234 5678 https://mcp.example.com /etc/ca.pem "
              "http://proxy:3128 A:1/0 B:2/1");
    provider.done(provider.ctx, PATCHBAY_OK, nullptr, nullptr);
}

// `beside` and what follows came later.
TEST_F(HttpServiceAlone, ReadsNothingBeyondTheSizeThatARequestSays) {
    patchbay_op op = 0;
    auto wanted = request("http://a");
    wanted.beside = str("beside");
    wanted.ca_file = str("ca");
    wanted.proxy = str("proxy");
    wanted.struct_size = offsetof(patchbay_http_request, beside);
    ASSERT_EQ(service->fetch(&wanted, &answer, keep, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return provider.done != nullptr; }));
    EXPECT_EQ(provider.told, "GET http://a  0 0   ");
    provider.done(provider.ctx, PATCHBAY_OK, nullptr, nullptr);
    --wanted.struct_size;
    EXPECT_EQ(service->fetch(&wanted, &answer, keep, &op), PATCHBAY_E_INVALID);
}

TEST_F(HttpServiceAlone, TakesUpTo128Headers) {
    patchbay_op op = 0;
    const std::vector<patchbay_kv> headers(129, {str("A"), str("1"), 0, 0});
    auto wanted = request("http://a");
    wanted.headers = headers.data();
    wanted.header_count = 129;
    EXPECT_EQ(service->fetch(&wanted, &answer, keep, &op), PATCHBAY_E_INVALID);
    wanted.header_count = 128;
    EXPECT_EQ(service->fetch(&wanted, &answer, keep, &op), PATCHBAY_OK);
    wanted.headers = nullptr;
    EXPECT_EQ(service->fetch(&wanted, &answer, keep, &op), PATCHBAY_E_INVALID);
    wanted.header_count = 0;
    EXPECT_EQ(service->fetch(&wanted, &answer, keep, nullptr), PATCHBAY_E_INVALID);
}

TEST_F(HttpServiceAlone, CountsOnlyWhatIsUnderWay) {
    patchbay_op op = 0, first = 0;
    fetch(waiting, first);
    service->cancel(first);
    ASSERT_TRUE(until([&] { return waiting.times == 1; }));
    for (std::size_t i = 0; i < HttpService::kMostRequests; ++i)
        ASSERT_EQ(fetch(answer, op), PATCHBAY_OK) << i;
    EXPECT_EQ(fetch(waiting, op), PATCHBAY_E_LIMIT);
    service->close();
    EXPECT_EQ(answer.times, static_cast<int>(HttpService::kMostRequests));
    EXPECT_EQ(waiting.times, 1) << "a request that is refused has no callback";
}

TEST_F(HttpServiceAlone, HandsACancelOnThatComesWhileTheProviderIsCalled) {
    patchbay_op op = 0;
    fetch(answer, op);
    provider.during_fetch = [&] { service->cancel(op); };
    ASSERT_TRUE(until([&] { return provider.done != nullptr; }));
    EXPECT_EQ(provider.cancelled, 1) << "once its number is known";
    EXPECT_EQ(answer.times, 0);
    provider.done(provider.ctx, PATCHBAY_E_CANCELLED, nullptr, nullptr);
    EXPECT_EQ(answer.times, 1);
}

TEST_F(HttpServiceAlone, SaysWhatTheProviderThrewAndWhatItRefused) {
    patchbay_op op = 0;
    provider.during_fetch = [] { throw std::runtime_error("no wire"); };
    fetch(answer, op);
    ASSERT_TRUE(until([&] { return answer.times == 1; }));
    EXPECT_EQ(answer.status, PATCHBAY_E_INTERNAL);
    EXPECT_EQ(answer.text, "the http plugin threw: no wire");
    provider.during_fetch = nullptr;
    provider.refusal = PATCHBAY_E_LIMIT;
    fetch(answer, op);
    ASSERT_TRUE(until([&] { return answer.times == 2; }));
    EXPECT_EQ(answer.status, PATCHBAY_E_LIMIT);
    EXPECT_EQ(answer.text, "the http plugin refuses: E_LIMIT");
}

TEST_F(HttpServiceAlone, LooksForAProviderAgainWhenThereWasNone) {
    missing = "no transport \"http\"";
    patchbay_op op = 0;
    fetch(answer, op);
    ASSERT_TRUE(until([&] { return answer.times == 1; }));
    EXPECT_EQ(answer.status, PATCHBAY_E_UNSUPPORTED);
    EXPECT_EQ(answer.text, missing);
    missing.clear();
    fetch(answer, op);
    ASSERT_TRUE(until([&] { return provider.done != nullptr; }));
    EXPECT_EQ(asked, 2);
    provider.done(provider.ctx, PATCHBAY_OK, nullptr, nullptr);
}

TEST_F(HttpServiceAlone, SendsNothingWhenTheProviderIsFoundAfterTheEnd) {
    HttpService::Found later;
    HttpService patient(loop, [&](const HttpService::Found& found) { later = found; });
    patchbay_op op = 0;
    auto wanted = request("http://a");
    ASSERT_EQ(patient.fetch(&wanted, &answer, keep, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return static_cast<bool>(later); }));
    patient.close();
    EXPECT_EQ(answer.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(answer.text, "the host is closing");
    later(HttpService::Provider{&provider.plugin, &provider.table});
    EXPECT_EQ(provider.done, nullptr);
    EXPECT_EQ(answer.times, 1);
}

TEST_F(HttpServiceAlone, EndsWhatIsUnderWayWhenItIsDestroyed) {
    patchbay_op op = 0;
    fetch(answer, op);
    service.reset();
    EXPECT_EQ(answer.status, PATCHBAY_E_CLOSED);
    bool turned = false;
    loop.post([&] { turned = true; });
    ASSERT_TRUE(until([&] { return turned; }));
    EXPECT_EQ(provider.done, nullptr) << "started after its end";
    EXPECT_EQ(answer.times, 1);
}

TEST_F(HttpServiceAlone, MasksTheSecretHeaderWhileTheRequestIsUnderWay) {
    patchbay_op op = 0;
    fetch(answer, op);
    const auto logged = [] {
        testing::internal::CaptureStderr();
        core::log::error("token Basic c2VjcmV0");
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_THAT(logged(), testing::Not(HasSubstr("c2VjcmV0")));
}

TEST(HttpTable, IsCheckedBeforeItIsCalled) {
    Provider provider;
    EXPECT_EQ(HttpService::why_wrong(&provider.table), "");
    EXPECT_THAT(HttpService::why_wrong(nullptr), HasSubstr("does not offer"));
    provider.table.cancel = nullptr;
    EXPECT_THAT(HttpService::why_wrong(&provider.table), HasSubstr("without fetch or cancel"));
    provider.table.struct_size = 8;
    EXPECT_THAT(HttpService::why_wrong(&provider.table), HasSubstr("8 bytes"));
}

}  // namespace
