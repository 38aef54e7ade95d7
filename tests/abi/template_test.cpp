// The template as a third party builds it, in this host: found, loaded, and carrying messages.
#include "plugin/loading/catalogue.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Recorder final : ChannelEvents {
    std::vector<std::string> lines;
    std::size_t bytes = 0;
    bool closed = false;
    std::string problem;
    void on_opened() override {}
    void on_message(ExchangeId, core::Buffer body) override {
        bytes += body.size();
        lines.emplace_back(body.view().substr(0, 32));
    }
    void on_done(ExchangeId exchange, const Problem*) override {
        lines.push_back("done " + std::to_string(exchange));
    }
    void on_writable() override {}
    void on_challenge(const Problem&) override {}
    void on_output(unsigned, std::string_view) override {}
    void on_fact(std::string_view, std::string_view) override {}
    void on_closed(const Problem* why) override {
        closed = true;
        if (why) problem = why->error.message;
    }
};

class Template : public testing::Test {
protected:
    Template() {
        const char* place = std::getenv("PATCHBAY_TEMPLATE_PLUGINS");
        if (!place) return;
        SearchOptions options;
        options.config_directories = {place};
        options.built_in = false;
        catalogue_ = std::make_unique<Catalogue>(loop_, options);
        (folder_ / "peer").copy(address_.sun_path, sizeof address_.sun_path - 1);
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address_), sizeof address_), 0);
        EXPECT_EQ(::listen(listener_, 1), 0);
    }
    ~Template() override {
        ::close(peer_);
        ::close(listener_);
    }
    void SetUp() override {
        if (!catalogue_)
            GTEST_SKIP() << "run by consume.cmake, which sets PATCHBAY_TEMPLATE_PLUGINS";
    }
    Result<std::unique_ptr<Channel>> open(const std::string& path) {
        ChannelOptions options;
        options.server = "demo";
        options.settings["path"] = path;
        return catalogue_->open("unix", std::move(options), events_);
    }
    void connect() {
        auto opened = open(address_.sun_path);
        ASSERT_TRUE(opened) << opened.error().message;
        channel_ = std::move(*opened);
        peer_ = ::accept(listener_, nullptr, nullptr);
        ASSERT_GE(peer_, 0);
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + 20s);
    }
    void send(ExchangeId exchange, std::string body) {
        OutgoingMessage message;
        message.exchange = exchange;
        message.body = core::Buffer::from(std::move(body));
        ASSERT_TRUE(channel_->send(std::move(message)));
    }

    core::Loop loop_;
    std::unique_ptr<Catalogue> catalogue_;
    Recorder events_;
    std::unique_ptr<Channel> channel_;
    const test::ScratchFolder folder_;
    sockaddr_un address_{AF_UNIX, {}};
    int listener_ = -1, peer_ = -1;
};

TEST_F(Template, SendsAndReceivesLines) {
    connect();
    send(1, "{\"id\":1}");
    char text[64] = {};
    ASSERT_EQ(::read(peer_, text, sizeof text), 9);
    EXPECT_STREQ(text, "{\"id\":1}\n");
    ASSERT_EQ(::write(peer_, "{\"a\":1}\n{\"b\"", 12), 12);
    ASSERT_TRUE(until([&] { return events_.lines.size() == 2; }));
    ASSERT_EQ(::write(peer_, ":2}\n", 4), 4);
    ASSERT_TRUE(until([&] { return events_.lines.size() == 3; }));
    EXPECT_THAT(events_.lines, ElementsAre("done 1", "{\"a\":1}", "{\"b\":2}"));
    channel_->close();
    EXPECT_TRUE(until([&] { return events_.closed; }));
    EXPECT_EQ(events_.problem, "");
}

TEST_F(Template, QueuesWhatThePeerDoesNotReadAndLosesNothing) {
    connect();
    for (ExchangeId i = 1; i <= 40; ++i) send(i, std::string(100'000, 'x'));
    std::size_t got = 0;
    std::vector<char> chunk(1 << 16);
    ASSERT_TRUE(until([&] {
        const auto n = ::recv(peer_, chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (n > 0) got += static_cast<std::size_t>(n);
        loop_.post([] {});
        return events_.lines.size() == 40 && got == 40u * 100'001u;
    })) << got;
    EXPECT_EQ(events_.lines.back(), "done 40");
}

TEST_F(Template, ResumesReadingAfterAPause) {
    connect();
    channel_->pause();
    ASSERT_EQ(::write(peer_, "{}\n", 3), 3);
    ASSERT_TRUE(until([&] { return events_.lines.size() == 1; }));
    ASSERT_EQ(::write(peer_, "{}\n", 3), 3);
    bool turned = false;
    loop_.after(0ns, [&] { turned = true; });
    ASSERT_TRUE(until([&] { return turned; }));
    EXPECT_EQ(events_.lines.size(), 1u);
    channel_->resume();
    EXPECT_TRUE(until([&] { return events_.lines.size() == 2; }));
}

TEST_F(Template, TellsThatThePeerHasGone) {
    connect();
    ::close(std::exchange(peer_, -1));
    ASSERT_TRUE(until([&] { return events_.closed; }));
    EXPECT_EQ(events_.problem, "the peer has closed the socket");
}

TEST_F(Template, TellsThatNobodyListens) {
    const auto opened = open(folder_ / "nobody");
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr(folder_ / "nobody: No such file"));
}

}  // namespace
