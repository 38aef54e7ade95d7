// Requests that are signed one by one (PATCHBAY_KV_SIGN): the built plugins of the transports that
// speak HTTP, with the host's own service and an auth method that numbers its signatures.
#include "plugin/loading/catalogue.hpp"
#include "plugin/signer.hpp"
#include "support/http_echo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

namespace patchbay::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

struct Events final : ChannelEvents {
    void on_opened() override { opened = true; }
    void on_message(ExchangeId, core::Buffer) override {}
    void on_done(ExchangeId, const Problem* problem) override {
        ++done;
        if (problem) trouble = problem->error.message;
    }
    void on_writable() override {}
    void on_challenge(const Problem&) override {}
    void on_output(unsigned, std::string_view) override {}
    void on_fact(std::string_view, std::string_view) override {}
    void on_closed(const Problem*) override { closed = true; }

    bool opened = false, closed = false;
    int done = 0;
    std::string trouble;
};

// "METHOD URL #1", then #2 and so on, in the header Proof, and a token of its own.
struct Numbering {
    Numbering() {
        table.struct_size = sizeof table;
        table.sign = [](patchbay_authenticator* self, patchbay_str method, patchbay_str url,
                        void* ctx, Signer::Header header, patchbay_error*) noexcept {
            const auto number = ++reinterpret_cast<Numbering*>(self)->signatures;
            const auto proof = std::string(view(method)) + " " + std::string(view(url)) + " #" +
                               std::to_string(number);
            header(ctx, str("Proof"), str(proof));
            header(ctx, str("authorization"), str("Numbered t0ken"));
            header(ctx, str("Bad"), str("two\r\nlines"));
            return patchbay_status{PATCHBAY_OK};
        };
    }
    patchbay_auth table{};
    std::atomic<int> signatures{0};
};

class Signing : public ::testing::Test {
protected:
    Signing() {
        SearchOptions options;
        for (const char* each : {"http", "sse", "ws"})
            options.config_directories.push_back(
                std::string(PATCHBAY_BUILD_DIR "/lib/patchbay/plugins/") + each);
        options.built_in = false;
        catalogue_.emplace(loop_, options);
        signer_->attach(&numbering_.table, reinterpret_cast<patchbay_authenticator*>(&numbering_));
        look();
    }
    ~Signing() override { close(); }

    void open(const char* transport, const std::string& url) {
        ChannelOptions options;
        options.server = "demo";
        options.settings["url"] = url;
        options.credentials = {{"Authorization", "Bearer granted", true, false, false},
                               {"Proof", "never-sent", true, false, true}};
        options.signer = signer_;
        auto opened = catalogue_->open(transport, std::move(options), events_);
        ASSERT_TRUE(opened) << opened.error().message;
        channel_ = std::move(*opened);
    }
    void send(const std::string& body, std::string_view method = "ping",
              const ::testing::Matcher<std::string>& trouble = "") {
        OutgoingMessage message;
        message.exchange = ++last_;
        message.body = core::Buffer::from(std::string(body));
        message.method = method;
        ASSERT_TRUE(channel_->send(std::move(message)));
        ASSERT_TRUE(until([&] { return events_.done == static_cast<int>(last_); }));
        EXPECT_THAT(events_.trouble, trouble);
    }
    void close() {
        if (!channel_) return;
        channel_->close();
        EXPECT_TRUE(until([&] { return events_.closed; }));
        channel_.reset();
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + 20s);
    }
    // What the server's thread does wakes no loop.
    void look() {
        loop_.after(5ms, [this] { look(); });
    }
    // The nth request that the server got, once it has.
    std::string head(std::size_t nth) {
        EXPECT_TRUE(until([&] { return server_.heads().size() >= nth; })) << nth;
        const auto heads = server_.heads();
        return heads.size() < nth ? "" : heads[nth - 1];
    }
    auto carries(const std::string& proof) const {
        return AllOf(HasSubstr("Proof: " + proof + "\r\n"),
                     HasSubstr("uthorization: Numbered t0ken\r\n"), Not(HasSubstr("never-sent")),
                     Not(HasSubstr("granted")), Not(HasSubstr("lines")));
    }

    core::Loop loop_;
    test::HttpEcho server_;
    Numbering numbering_;
    const std::shared_ptr<Signer> signer_ = std::make_shared<Signer>();
    std::optional<Catalogue> catalogue_;
    Events events_;
    std::unique_ptr<Channel> channel_;
    ExchangeId last_ = 0;
};

TEST_F(Signing, EveryRequestOverHttpHasItsOwnSignature) {
    open("http", server_.url());
    send(R"({"method":"initialize"})", "initialize");
    EXPECT_THAT(head(1), carries("POST " + server_.url() + " #1"));
    send("{}");
    EXPECT_THAT(head(2), carries("POST " + server_.url() + " #2"));
    send("{}", "notifications/initialized");
    EXPECT_THAT(head(4), AllOf(HasSubstr("GET "), carries("GET " + server_.url() + " #4")));
    close();
    EXPECT_THAT(server_.heads().back(), AllOf(HasSubstr("DELETE "), HasSubstr("Proof: DELETE ")));
}

TEST_F(Signing, AStreamThatIsAskedForLaterIsSignedThen) {
    open("http", server_.url());
    send(R"({"method":"initialize"})", "initialize");
    send("{}", "notifications/initialized");
    // The stream ends at once, and is asked for again after a while.
    EXPECT_THAT(head(3), carries("GET " + server_.url() + " #3"));
    EXPECT_THAT(head(4), carries("GET " + server_.url() + " #4"));
    EXPECT_THAT(head(5), carries("GET " + server_.url() + " #5"));
}

TEST_F(Signing, ARedirectWithinTheServerIsSignedAnew) {
    open("http", server_.origin() + "/to//mcp");
    send("{}");
    EXPECT_THAT(head(1), carries("POST " + server_.origin() + "/to//mcp #1"));
    EXPECT_THAT(head(2), carries("POST " + server_.url() + " #2"));
}

TEST_F(Signing, NothingFollowsARedirectToAnotherServer) {
    const test::HttpEcho other;
    open("http", server_.origin() + "/to/" + other.url());
    send("{}", "ping", HasSubstr("another origin, " + other.url()));
    EXPECT_EQ(other.connections(), 0);
    EXPECT_EQ(numbering_.signatures, 1);
}

TEST_F(Signing, EveryRequestOverSseHasItsOwnSignature) {
    open("sse", server_.origin() + "/sse");
    ASSERT_TRUE(until([&] { return events_.opened; }));
    EXPECT_THAT(head(1), carries("GET " + server_.origin() + "/sse #1"));
    send("{}");
    EXPECT_THAT(head(2), carries("POST " + server_.url() + " #2"));
}

TEST_F(Signing, TheHandshakeOfAWebSocketIsSigned) {
    open("ws", "ws" + server_.url().substr(4));
    EXPECT_THAT(head(1), carries("GET ws" + server_.url().substr(4) + " #1"));
    ASSERT_TRUE(until([&] { return events_.closed; })) << "no WebSocket server";
    channel_.reset();
}

TEST_F(Signing, WithoutASignerTheRequestGoesOutAsItIs) {
    signer_->detach();
    open("http", server_.url());
    send("{}");
    EXPECT_THAT(head(1), AllOf(HasSubstr("uthorization: Bearer granted\r\n"),
                               Not(HasSubstr("Proof")), Not(HasSubstr("never-sent"))));
}

TEST_F(Signing, OtherCredentialsReplaceThem) {
    open("http", server_.url());
    send("{}");
    channel_->set_credentials({{"Authorization", "Bearer later", true, false, false}});
    send("{}");
    EXPECT_THAT(head(2),
                AllOf(HasSubstr("uthorization: Bearer later\r\n"), Not(HasSubstr("Proof"))));
}

}  // namespace
}  // namespace patchbay::plugin
