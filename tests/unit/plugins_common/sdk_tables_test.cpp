// What the C++ wrapper makes of a plugin's classes: the tables that the host calls.
#include "unit/plugins_common/scripted_host.hpp"

#include <patchbay/cpp/auth.hpp>
#include <patchbay/cpp/entry.hpp>
#include <patchbay/cpp/plugin.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using namespace patchbay;
using ::testing::ElementsAre;

std::vector<std::string>& told() {
    static std::vector<std::string> lines;
    return lines;
}
// What the next slot of a plugin throws, by its name.
std::string& trouble() {
    static std::string one;
    return one;
}
void tell(std::string line) {
    told().push_back(std::move(line));
    const auto what = std::exchange(trouble(), {});
    if (what == "a Failure") throw sdk::Failure(PATCHBAY_E_IO, "the wire is cut");
    if (what == "an exception") throw std::runtime_error("out of luck");
    if (what == "a number") throw 7;
}

struct Wire final : sdk::Channel {
    static std::unique_ptr<Wire> open(const patchbay_open_params&) {
        tell("open");
        return std::make_unique<Wire>();
    }
    ~Wire() override { told().push_back("destroy"); }
    patchbay_status send(const patchbay_message& message, sdk::Body body) override {
        tell("send " + std::to_string(message.exchange) + " " + std::string(body.view()));
        return PATCHBAY_PAUSE;
    }
    void cancel(std::uint64_t exchange) override { tell("cancel " + std::to_string(exchange)); }
    void resume() override { tell("resume"); }
    void settle(std::uint64_t exchange) override { tell("settle " + std::to_string(exchange)); }
    void set_credentials(const patchbay_kv*, std::size_t count) override {
        tell("set_credentials " + std::to_string(count));
    }
    void close() override { tell("close"); }
};

struct Key final : sdk::Authenticator {
    static std::unique_ptr<Key> create(const patchbay_auth_params&) {
        tell("create");
        return std::make_unique<Key>();
    }
    ~Key() override { told().push_back("destroy"); }
    void acquire(const patchbay_auth_request& request) override {
        tell("acquire " + std::to_string(request.operation));
    }
    void cancel(std::uint64_t operation) override { tell("cancel " + std::to_string(operation)); }
    void forget() override { tell("forget"); }
    void close() override { tell("close"); }
    std::vector<sdk::Credential> sign(std::string_view method, std::string_view url) override {
        tell("sign " + std::string(method) + " " + std::string(url));
        return {{"DPoP", "proof"}, {"Other", "value"}};
    }
};

// What the channels of one host share.
struct Shared final : sdk::Plugin {
    using Plugin::Plugin;
    ~Shared() override { told().push_back("shutdown"); }
    const void* extension(std::string_view name) override {
        tell("extension");
        return name == "com.example.count/1" ? &channels : nullptr;
    }
    int channels = 0;
};
constexpr auto kWire = sdk::transport_table<Wire>("wire", "{}", 0);
constexpr auto kKey = sdk::auth_table<Key>("key", "{}");
constexpr auto kLibrary = sdk::Library<Shared>("dev.example.shared", "1.2.3")
                              .provides(kWire)
                              .provides(kKey)
                              .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_PROCESS);

class SdkTables : public testing::Test {
protected:
    SdkTables() {
        told().clear();
        trouble().clear();
    }
};

// A body that counts how often it is given back.
patchbay_buf owned(const std::string& text, int& releases) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), text.size(),
            [](void* owner) noexcept { ++*static_cast<int*>(owner); }, &releases};
}

TEST_F(SdkTables, ATransportsSlotsReachItsClass) {
    constexpr auto all = PATCHBAY_CAP_RESUME | PATCHBAY_CAP_CREDENTIALS;
    const auto table = sdk::transport_table<Wire>("wire", "{}", all);
    EXPECT_EQ(table.struct_size, sizeof table);
    EXPECT_EQ(table.caps, unsigned{all});
    EXPECT_STREQ(table.name, "wire");
    EXPECT_STREQ(table.config_schema, "{}");
    patchbay_open_params params{};
    patchbay_channel* channel = nullptr;
    patchbay_error error{};
    ASSERT_EQ(table.open(&params, &channel, &error), PATCHBAY_OK);
    const std::string text = "{}";
    int releases = 0;
    patchbay_message message{};
    message.exchange = 7;
    message.body = owned(text, releases);
    EXPECT_EQ(table.send(channel, &message), PATCHBAY_PAUSE);
    EXPECT_EQ(releases, 1);
    table.cancel(channel, 8);
    table.resume(channel);
    table.settle(channel, 9);
    table.set_credentials(channel, nullptr, 3);
    table.close(channel);
    table.destroy(channel);
    EXPECT_THAT(told(), ElementsAre("open", "send 7 {}", "cancel 8", "resume", "settle 9",
                                    "set_credentials 3", "close", "destroy"));
}

TEST_F(SdkTables, ATransportHasTheSlotsOfItsAbilitiesOnly) {
    const auto none = sdk::transport_table<Wire>("wire", "{}", PATCHBAY_CAP_EXCHANGE);
    EXPECT_FALSE(none.settle);
    EXPECT_FALSE(none.set_credentials);
    const auto resumes = sdk::transport_table<Wire>("wire", "{}", PATCHBAY_CAP_RESUME);
    EXPECT_TRUE(resumes.settle);
    EXPECT_FALSE(resumes.set_credentials);
    const auto signs_in = sdk::transport_table<Wire>("wire", "{}", PATCHBAY_CAP_CREDENTIALS);
    EXPECT_FALSE(signs_in.settle);
    EXPECT_TRUE(signs_in.set_credentials);
    EXPECT_FALSE(sdk::auth_table<Key>("key", "{}").sign);
    EXPECT_TRUE(sdk::auth_table<Key>("key", "{}", true).sign);
}

TEST_F(SdkTables, NothingThatAClassThrowsLeavesItsSlot) {
    const auto table = sdk::transport_table<Wire>("wire", "{}", 0);
    const struct {
        const char* thrown;
        patchbay_status status;
        const char* text;
    } cases[] = {{"a Failure", PATCHBAY_E_IO, "the wire is cut"},
                 {"an exception", PATCHBAY_E_INTERNAL, "out of luck"},
                 {"a number", PATCHBAY_E_INTERNAL, "unknown exception"}};
    for (const auto& each : cases) {
        SCOPED_TRACE(each.thrown);
        patchbay_open_params params{};
        patchbay_channel* channel = nullptr;
        patchbay_error error{};
        trouble() = each.thrown;
        EXPECT_EQ(table.open(&params, &channel, &error), each.status);
        EXPECT_EQ(error.code, each.status);
        EXPECT_STREQ(error.message, each.text);
        EXPECT_FALSE(channel);
        ASSERT_EQ(table.open(&params, &channel, &error), PATCHBAY_OK);
        const std::string text = "{}";
        int releases = 0;
        patchbay_message message{};
        message.body = owned(text, releases);
        trouble() = each.thrown;
        EXPECT_EQ(table.send(channel, &message), each.status);
        EXPECT_EQ(releases, 1) << "the body is ours, whatever happens";
        trouble() = each.thrown;
        table.close(channel);
        table.destroy(channel);
    }
}

TEST_F(SdkTables, AnAuthMethodsSlotsReachItsClass) {
    const auto table = sdk::auth_table<Key>("key", "{}", true);
    EXPECT_EQ(table.struct_size, sizeof table);
    EXPECT_STREQ(table.name, "key");
    EXPECT_STREQ(table.config_schema, "{}");
    patchbay_auth_params params{};
    patchbay_authenticator* key = nullptr;
    patchbay_error error{};
    trouble() = "a Failure";
    EXPECT_EQ(table.create(&params, &key, &error), PATCHBAY_E_IO);
    EXPECT_STREQ(error.message, "the wire is cut");
    ASSERT_EQ(table.create(&params, &key, &error), PATCHBAY_OK);
    patchbay_auth_request request{};
    request.operation = 5;
    EXPECT_EQ(table.acquire(key, &request, &error), PATCHBAY_OK);
    trouble() = "an exception";
    EXPECT_EQ(table.acquire(key, &request, &error), PATCHBAY_E_INTERNAL);
    table.cancel(key, 5);
    table.forget(key);
    std::vector<std::string> headers;
    EXPECT_EQ(table.sign(
                  key, sdk::str("GET"), sdk::str("http://a"), &headers,
                  [](void* ctx, patchbay_str name, patchbay_str value) noexcept {
                      static_cast<std::vector<std::string>*>(ctx)->push_back(
                          std::string(sdk::view(name)) + ": " + std::string(sdk::view(value)));
                  },
                  &error),
              PATCHBAY_OK);
    EXPECT_THAT(headers, ElementsAre("DPoP: proof", "Other: value"));
    table.close(key);
    table.destroy(key);
    EXPECT_THAT(told(), ElementsAre("create", "create", "acquire 5", "acquire 5", "cancel 5",
                                    "forget", "sign GET http://a", "close", "destroy"));
}

TEST_F(SdkTables, ABodyIsGivenBackOnceAndCopiedWhereItWasOnlyLent) {
    const std::string text = "{}";
    int releases = 0;
    {
        sdk::Body body(owned(text, releases));
        EXPECT_EQ(static_cast<const void*>(body.view().data()), text.data());
        sdk::Body moved(std::move(body));
        sdk::Body assigned;
        EXPECT_EQ(assigned.size(), 0u);
        assigned = std::move(moved);
        EXPECT_EQ(assigned.view(), "{}");
        EXPECT_EQ(releases, 0);
    }
    EXPECT_EQ(releases, 1);
    auto lent = owned(text, releases);
    lent.release = nullptr;
    const sdk::Body copy(lent);
    EXPECT_NE(static_cast<const void*>(copy.view().data()), text.data());
    EXPECT_EQ(copy.view(), "{}");
    EXPECT_EQ(copy.size(), 2u);
    EXPECT_EQ(sdk::Body(patchbay_buf{}).view(), "");
}

TEST_F(SdkTables, TheSinkIsToldWhatItKnows) {
    test::ScriptedHost host;
    auto params = host.params();
    const sdk::Sink sink(params);
    sink.opened();
    sink.done(1);
    sink.done(2, PATCHBAY_E_IO, "torn", PATCHBAY_ERR_RETRYABLE);
    sink.writable();
    sink.output(PATCHBAY_OUTPUT_STRAY, "a line");
    sink.fact("pid", "7");
    sink.closed(PATCHBAY_E_CLOSED, "gone");
    sink.closed();
    EXPECT_THAT(host.told, ElementsAre("opened", "done 1", "done 2 -6 torn /1", "writable",
                                       "output 2 a line", "pid=7", "closed -7 gone", "closed"));
    host.told.clear();
    auto older = *params.sink;  // of a host that knows neither lines nor facts
    older.struct_size = offsetof(patchbay_sink, output);
    params.sink = &older;
    sdk::Sink(params).output(PATCHBAY_OUTPUT_STRAY, "a line");
    sdk::Sink(params).fact("pid", "7");
    EXPECT_THAT(host.told, ElementsAre());
}

TEST_F(SdkTables, AHostThatDoesNotSayTakes16MiB) {
    patchbay_open_params params{};
    params.struct_size = sizeof params;
    EXPECT_EQ(sdk::message_bytes(&params), 16u * 1024 * 1024);
    params.message_bytes = 5;
    EXPECT_EQ(sdk::message_bytes(&params), 5u);
    params.struct_size = offsetof(patchbay_open_params, message_bytes);
    EXPECT_EQ(sdk::message_bytes(&params), 16u * 1024 * 1024);
}

TEST_F(SdkTables, APluginEntersWhereTheHostHasAllThatItNeeds) {
    test::ScriptedHost host;
    const auto* table = host.params().host;
    const patchbay_plugin* out = nullptr;
    patchbay_error error{};
    EXPECT_EQ(kLibrary.needs("com.example.none/1").enter(table, &out, &error),
              PATCHBAY_E_UNSUPPORTED);
    EXPECT_STREQ(error.message, "needs the host's com.example.none/1");
    EXPECT_EQ(error.code, PATCHBAY_E_UNSUPPORTED);
    EXPECT_FALSE(out);
    ASSERT_EQ(kLibrary.enter(table, &out, &error), PATCHBAY_OK);
    EXPECT_EQ(out->struct_size, sizeof *out);
    EXPECT_STREQ(out->id, "dev.example.shared");
    EXPECT_STREQ(out->version, "1.2.3");
    ASSERT_EQ(out->transport_count, 1u);
    EXPECT_EQ(out->transports[0], &kWire);
    ASSERT_EQ(out->auth_count, 1u);
    EXPECT_EQ(out->auths[0], &kKey);
    out->shutdown(out);
}

TEST_F(SdkTables, EachHostHasAPluginOfItsOwn) {
    test::ScriptedHost host;
    const auto* table = host.params().host;
    const patchbay_plugin *one = nullptr, *other = nullptr;
    patchbay_error error{};
    ASSERT_EQ(kLibrary.enter(table, &one, &error), PATCHBAY_OK);
    ASSERT_EQ(kLibrary.enter(table, &other, &error), PATCHBAY_OK);
    patchbay_open_params params{};
    params.plugin = other;
    sdk::plugin_of<Shared>(params).channels = 7;
    const auto* counted = static_cast<const int*>(one->get_extension(one, "com.example.count/1"));
    ASSERT_TRUE(counted);
    EXPECT_EQ(*counted, 0);
    EXPECT_FALSE(one->get_extension(one, "com.example.none/1"));
    trouble() = "an exception";
    EXPECT_FALSE(one->get_extension(one, "com.example.count/1"));
    one->shutdown(one);
    EXPECT_EQ(*static_cast<const int*>(other->get_extension(other, "com.example.count/1")), 7);
    other->shutdown(other);
    EXPECT_THAT(told(), ElementsAre("extension", "extension", "extension", "shutdown", "extension",
                                    "shutdown"));
}

// What the host is told of an auth method's work.
struct Grants {
    std::vector<std::string> lines;
    static Grants& of(patchbay_auth_link* link) { return *reinterpret_cast<Grants*>(link); }
};

TEST_F(SdkTables, AnAuthMethodsSinkIsToldOfGrantsAndRefusals) {
    static constexpr patchbay_auth_sink kSink = {
        sizeof(patchbay_auth_sink), 0,
        [](patchbay_auth_link* link, std::uint64_t operation, patchbay_status status,
           const patchbay_grant* grant, const patchbay_error* error) noexcept {
            auto line = std::to_string(operation) + " " + std::to_string(status);
            if (grant) {
                EXPECT_EQ(grant->struct_size, sizeof *grant);
                line += " until " + std::to_string(grant->expires_unix_ms);
                for (std::size_t i = 0; i < grant->credential_count; ++i)
                    line += " " + std::string(sdk::view(grant->credentials[i].name)) + "=" +
                            std::string(sdk::view(grant->credentials[i].value)) + "/" +
                            std::to_string(grant->credentials[i].flags);
            }
            if (error)
                line += " " + std::to_string(error->code) + " " + error->message + "/" +
                        std::to_string(error->flags);
            Grants::of(link).lines.push_back(line);
        },
        [](patchbay_auth_link* link) noexcept { Grants::of(link).lines.push_back("closed"); }};
    Grants grants;
    patchbay_auth_params params{};
    params.sink = &kSink;
    params.link = reinterpret_cast<patchbay_auth_link*>(&grants);
    const sdk::AuthSink sink(params);
    sink.acquired(1, {{"Authorization", "Bearer t"}, {"DPoP", "", PATCHBAY_KV_SIGN}}, 99);
    sink.acquired(2, {});
    sink.refused(3, PATCHBAY_E_AUTH, "not you", PATCHBAY_ERR_RETRYABLE);
    sink.closed();
    EXPECT_THAT(grants.lines, ElementsAre("1 0 until 99 Authorization=Bearer t/1 DPoP=/4",
                                          "2 0 until 0", "3 -8 -8 not you/1", "closed"));
}

}  // namespace
