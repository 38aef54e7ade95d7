// The engine by itself: what its tasks throw, and what never ends.
#include "net/engine.hpp"

#include "core/escapes.hpp"
#include "core/loop.hpp"
#include "net/sse_parser.hpp"
#include "net/workers.hpp"
#include "plugin/abi.hpp"
#include "plugin/host_services.hpp"
#include "support/scripted_http.hpp"
#include "support/tls_server.hpp"

#include <Poco/DeflatingStream.h>
#include <gmock/gmock.h>

#include <optional>
#include <sstream>

namespace patchbay::net {
namespace {

using namespace std::chrono_literals;
using test::ScriptedHttp;
using ::testing::HasSubstr;
using Turn = transport::ChannelCore::Turn;

// A task that does as it is told, and throws where it is told to.
struct Told final : Task {
    explicit Told(const std::string& its_url) : Task(Url::parse(its_url)) {
        request.method = "GET";
    }

    void at(const char* place) const {
        if (throws_in == place) throw std::runtime_error("thrown in " + throws_in);
    }
    void prepare() override { at("prepare"); }
    Take head(const Head& its_head) override {
        at("head");
        status = its_head.status;
        return take;
    }
    bool body_may_be_cut() const override { return may_be_cut; }
    void whole(std::string&& its_body) override {
        at("whole");
        body = std::move(its_body);
        cut = was_cut();
    }
    bool data(std::string_view& bytes) override {
        at("data");
        if (on_data) return on_data(bytes);
        return bytes = {}, true;
    }
    void end(const Trouble* its_trouble) override {
        ++ended;
        if (its_trouble) trouble.emplace(*its_trouble);
        at("end");
    }

    std::string throws_in, body;
    Take take = Take::Whole;
    bool may_be_cut = false, cut = false;
    int status = 0;
    std::function<bool(std::string_view&)> on_data;
    int ended = 0;
    std::optional<Trouble> trouble;
};

class EngineTest : public ::testing::Test,
                   public transport::ChannelCore::Owner,
                   public EngineOwner {
protected:
    EngineTest() : services_("dev.patchbay.test", plugin::offered_extensions()) {
        services_.attach(loop_);
        patchbay_open_params params{};
        params.struct_size = sizeof params;
        params.host = services_.host();
        core_.emplace(params, this);
        engine_.emplace(*core_, workers_, endpoint_, this, Patience{50ms, 10ms});
        look();
    }
    ~EngineTest() override {
        {
            const Turn turn(*core_);
            engine_->stop();
        }
        // Workers that connect still use it.
        EXPECT_TRUE(until([&] { return all_ended(); }));
        workers_.stop();
        services_.detach();
    }
    void broken(const std::string& why) override { failed_ = why; }
    void engine_has_room() noexcept override { ++rooms_; }

    std::shared_ptr<Told> start(const std::string& url) {
        auto task = std::make_shared<Told>(url);
        tasks_.push_back(task);
        return task;
    }
    void begin(const std::shared_ptr<Told>& task) {
        const Turn turn(*core_);
        engine_->start(task);
    }
    // Begun and ended.
    std::shared_ptr<Told> ran(
        const std::string& url, const std::function<void(Told&)>& changed = [](Told&) {}) {
        const auto task = start(url);
        changed(*task);
        begin(task);
        EXPECT_TRUE(until([&] { return task->ended == 1; }));
        return task;
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(
            [&] {
                const Turn turn(*core_);
                return done();
            },
            core::Clock::now() + 20s);
    }
    bool all_ended() const {
        return std::all_of(tasks_.begin(), tasks_.end(),
                           [](const auto& task) { return task->ended > 0; });
    }
    // Long enough for what is looked at all the time; too short only lets a fault pass.
    void let_time_pass() {
        for (int i = 0; i < 3; ++i)
            EXPECT_FALSE(loop_.run_until([] { return false; }, core::Clock::now() + 60ms));
    }
    // What other threads do wakes no loop.
    void look() {
        loop_.after(5ms, [this] { look(); });
    }

    core::Loop loop_;
    plugin::HostServices services_;
    Endpoint endpoint_{Url{}};
    std::optional<transport::ChannelCore> core_;
    Workers workers_{services_.host()};
    std::optional<Engine> engine_;
    std::vector<std::shared_ptr<Told>> tasks_;
    std::string failed_;
    int rooms_ = 0;
};

TEST_F(EngineTest, WhatATaskThrowsIsItsOwnTroubleAndTheOthersGoOn) {
    ScriptedHttp server(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("{}")}; });
    for (const char* place : {"prepare", "head", "whole", "data"}) {
        const auto bad = start(server.url()), good = start(server.url());
        bad->throws_in = place;
        bad->take = place == std::string("data") ? Task::Take::Stream : Task::Take::Whole;
        begin(bad);
        begin(good);
        ASSERT_TRUE(until([&] { return bad->ended == 1 && good->ended == 1; })) << place;
        ASSERT_TRUE(bad->trouble) << place;
        EXPECT_EQ(bad->trouble->code, PATCHBAY_E_INTERNAL);
        EXPECT_THAT(bad->trouble->text, HasSubstr(place));
        EXPECT_FALSE(good->trouble);
        EXPECT_EQ(failed_, "");
    }
}

TEST_F(EngineTest, WhatTheEndOfATaskThrowsEndsTheChannel) {
    ScriptedHttp server(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("{}")}; });
    const auto task = start(server.url());
    task->throws_in = "end";
    begin(task);
    ASSERT_TRUE(until([&] { return !failed_.empty(); }));
    EXPECT_EQ(failed_, "internal error: an exchange threw: thrown in end");
    EXPECT_EQ(task->ended, 1);
    EXPECT_EQ(core::take_escapes(), 1u);
}

TEST_F(EngineTest, EveryAnswerThatStallsIsEndedNotOnlyTheFirst) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"};
    });
    for (int round = 0; round < 3; ++round) {
        const auto task = start(server.url());
        begin(task);
        ASSERT_TRUE(until([&] { return task->ended == 1; })) << round;
        EXPECT_THAT(task->trouble->text, HasSubstr("no answer in time"));
    }
}

TEST_F(EngineTest, AStreamThatUnpacksToManyEventsIsHandedOnAsFastAsItIsTaken) {
    std::ostringstream packed;
    Poco::DeflatingOutputStream stream(packed, Poco::DeflatingStreamBuf::STREAM_GZIP);
    for (int i = 0; i < 200'000; ++i) stream << "data: {}\n\n";
    stream.close();
    ASSERT_LT(packed.str().size(), 16'000u) << "one piece";
    ScriptedHttp server([&](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::events(packed.str(), "Content-Encoding: gzip\r\n"),
                ScriptedHttp::Answer::Then::Close};
    });
    const auto task = start(server.url());
    SseParser parser(1000);
    std::size_t events = 0, most = 0;
    task->take = Task::Take::Stream;
    task->on_data = [&](std::string_view& bytes) {
        most = std::max(most, bytes.size());
        return parser.feed_some(bytes, [&](SseParser::Event&&) {
            if (++events % 50'000 == 0) engine_->pause();
            return !engine_->paused();
        });
    };
    begin(task);
    for (std::size_t wanted = 50'000; wanted <= 200'000; wanted += 50'000) {
        ASSERT_TRUE(until([&] { return events >= wanted; })) << wanted;
        EXPECT_EQ(events, wanted) << "nothing comes during a pause";
        const Turn turn(*core_);
        engine_->resume();
    }
    ASSERT_TRUE(until([&] { return task->ended == 1; }));
    EXPECT_FALSE(task->trouble);
    EXPECT_LE(most, 2u << 20);
}

TEST_F(EngineTest, WhatEndsInTimeOrNeverBeginsIsNotLate) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has("/silent ")) return {};
        return {ScriptedHttp::events("data: {}\n\n")};
    });
    const auto quiet = start(server.url()), silent = start(server.origin() + "/silent");
    quiet->take = Task::Take::Stream;
    begin(quiet);
    begin(silent);
    let_time_pass();
    EXPECT_EQ(quiet->ended, 0);
    EXPECT_EQ(silent->ended, 0);
}

TEST_F(EngineTest, WhatComesGivesMoreTime) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" + std::string(40'000, 'x')};
    });
    const auto task = start(server.url());
    begin(task);
    ASSERT_TRUE(until([&] { return task->status == 200; }));
    let_time_pass();
    EXPECT_EQ(task->ended, 0) << "16 KiB are worth a second";
}

TEST_F(EngineTest, TheTimeOfAPauseIsNotTheServers) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"};
    });
    const auto task = start(server.url());
    begin(task);
    {
        const Turn turn(*core_);
        engine_->pause();
    }
    let_time_pass();
    EXPECT_EQ(task->ended, 0);
    EXPECT_EQ(task->status, 0) << "nothing is read";
    {
        const Turn turn(*core_);
        engine_->resume();
        EXPECT_FALSE(engine_->paused());
    }
    ASSERT_TRUE(until([&] { return task->ended == 1; }));
    EXPECT_THAT(task->trouble->text, HasSubstr("no answer in time"));
}

TEST_F(EngineTest, AHeadThatStallsIsEndedAndARefusalThatStallsIsCut) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has("/head ")) return {"HTTP/1.1 200 OK\r\n"};
        return {"HTTP/1.1 404 No\r\nContent-Length: 100\r\n\r\nsome"};
    });
    const auto head = ran(server.origin() + "/head");
    ASSERT_TRUE(head->trouble);
    EXPECT_EQ(head->trouble->text, "no answer in time");
    EXPECT_EQ(head->trouble->code, PATCHBAY_E_CLOSED);
    EXPECT_TRUE(head->trouble->sent);
    const auto refused = ran(server.url(), [](Told& task) { task.may_be_cut = true; });
    EXPECT_FALSE(refused->trouble);
    EXPECT_EQ(refused->body, "some");
    EXPECT_TRUE(refused->cut);
}

TEST_F(EngineTest, ABodyMayBeAsLongAsItsLimitAndARefusalIsCutThere) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const std::size_t more = request.has("/more ") ? 1 : 0;
        return {ScriptedHttp::whole("200 OK", "text/plain", std::string((64u << 10) + more, 'x'))};
    });
    EXPECT_FALSE(ran(server.url())->trouble);
    const auto large = ran(server.origin() + "/more");
    ASSERT_TRUE(large->trouble);
    EXPECT_EQ(large->trouble->code, PATCHBAY_E_LIMIT);
    const auto cut = ran(server.origin() + "/more", [](Told& task) { task.may_be_cut = true; });
    EXPECT_FALSE(cut->trouble);
    EXPECT_TRUE(cut->cut);
    EXPECT_EQ(cut->body.size(), 64u << 10);
    EXPECT_FALSE(ran(server.url(), [](Told& task) { task.may_be_cut = false; })->cut);
}

TEST_F(EngineTest, AConnectionIsKeptBehindAShortBodyThatNobodyWants) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const std::size_t size = request.has("/long ") ? 1u << 20 : 32u << 10;
        return {ScriptedHttp::whole("200 OK", "text/plain", std::string(size, 'x'))};
    });
    const auto nothing = [](Told& task) { task.take = Task::Take::Nothing; };
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(ran(server.url(), nothing)->trouble);
    EXPECT_EQ(server.connections(), 1);
    EXPECT_FALSE(ran(server.origin() + "/long", nothing)->trouble);
    EXPECT_FALSE(ran(server.url(), nothing)->trouble);
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(EngineTest, AConnectionThatTheServerWillCloseIsNotKept) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::json("{}", "Connection: close\r\n")};
    });
    for (int i = 1; i <= 2; ++i) {
        EXPECT_FALSE(ran(server.url())->trouble);
        EXPECT_EQ(server.connections(), i);
    }
}

TEST_F(EngineTest, WhatAKeptConnectionLosesIsAskedAgainOnlyWhereThatDoesNoHarm) {
    for (const bool repeatable : {true, false}) {
        ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
            if (request.number == 2) return {{}, ScriptedHttp::Answer::Then::Close};
            return {ScriptedHttp::json("{}")};
        });
        EXPECT_FALSE(ran(server.url())->trouble);
        const auto task = ran(server.url(), [&](Told& told) { told.repeatable = repeatable; });
        EXPECT_EQ(task->trouble.has_value(), !repeatable);
        EXPECT_EQ(server.count("GET"), repeatable ? 3u : 2u);
        if (task->trouble) {
            EXPECT_TRUE(task->trouble->sent);
        }
        // On one that is new there is nothing to blame but the server.
        ScriptedHttp closing([](const auto&) -> ScriptedHttp::Answer {
            return {{}, ScriptedHttp::Answer::Then::Close};
        });
        EXPECT_TRUE(ran(closing.url(), [](Told& told) { told.repeatable = true; })->trouble);
        EXPECT_EQ(closing.count("GET"), 1u);
    }
}

// ---- redirects

std::string moved(int status, const std::string& to) {
    return ScriptedHttp::empty(std::to_string(status) + " Moved", "Location: " + to + "\r\n");
}

TEST_F(EngineTest, OnlyARedirectThatSaysWhereToIsFollowed) {
    std::atomic<int> status{0};
    ScriptedHttp server([&](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has(" /there ")) return {ScriptedHttp::json("{}")};
        if (request.has(" /nowhere ")) return {ScriptedHttp::empty("307 There")};
        return {moved(status, "/there")};
    });
    for (const int each : {301, 302, 303, 307, 308}) {
        status = each;
        EXPECT_EQ(ran(server.url())->status, 200) << each;
    }
    for (const int each : {300, 305, 400}) {
        status = each;
        EXPECT_EQ(ran(server.url())->status, each);
    }
    EXPECT_EQ(ran(server.origin() + "/nowhere")->status, 307);
}

TEST_F(EngineTest, ARedirectThatLosesTheRequestIsNotFollowed) {
    std::atomic<int> status{0};
    ScriptedHttp server([&](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has(" /there?")) return {ScriptedHttp::json(request.body)};
        return {moved(status, "/there?secret=1")};
    });
    for (const int each : {301, 302, 303, 307, 308}) {
        status = each;
        const auto task = ran(server.url(), [](Told& told) {
            told.request.method = "POST";
            told.request.body = "words";
            told.request.has_body = true;
        });
        if (each >= 307) {
            EXPECT_EQ(task->body, "words") << each;
            continue;
        }
        ASSERT_TRUE(task->trouble) << each;
        EXPECT_EQ(task->trouble->code, PATCHBAY_E_PROTOCOL);
        EXPECT_EQ(task->trouble->text, "the server answered " + std::to_string(each) +
                                           ", a redirect that loses the request; set the url to " +
                                           server.origin() + "/there");
    }
}

TEST_F(EngineTest, ThreeRedirectsAreFollowedAndNoFourth) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const char left = request.head[request.head.find('/') + 1];
        return left == '0' ? ScriptedHttp::Answer{ScriptedHttp::json("{}")}
                           : ScriptedHttp::Answer{moved(307, std::string("/") + char(left - 1))};
    });
    EXPECT_EQ(ran(server.origin() + "/3")->status, 200);
    const auto task = ran(server.origin() + "/4");
    ASSERT_TRUE(task->trouble);
    EXPECT_EQ(task->trouble->text,
              "more than 3 redirects, the last one from " + server.origin() + "/1");
    EXPECT_TRUE(task->trouble->sent) << "who redirects has read it";
}

TEST_F(EngineTest, ARedirectLeadsToNothingButHttp) {
    const struct {
        std::string to;
        patchbay_status code;
        std::string says;
    } redirects[] = {
        {"/%zz", PATCHBAY_E_PROTOCOL, "redirects to where nobody can follow: the URL holds a %"},
        {"ftp://h/", PATCHBAY_E_PROTOCOL, "redirects to where nobody can follow: the URL must"},
        {"ws://127.0.0.1/", PATCHBAY_E_PROTOCOL, "a redirect to another protocol than http"},
        {"https://127.0.0.2/", PATCHBAY_E_DENIED,
         "the server answered 307, a redirect to another origin, https://127.0.0.2/, which was not "
         "asked"}};
    for (const auto& redirect : redirects) {
        ScriptedHttp server(
            [to = redirect.to](const auto&) -> ScriptedHttp::Answer { return {moved(307, to)}; });
        const auto task = ran(server.url());
        ASSERT_TRUE(task->trouble) << redirect.to;
        EXPECT_EQ(task->trouble->code, redirect.code) << redirect.to;
        EXPECT_THAT(task->trouble->text, HasSubstr(redirect.says));
        EXPECT_TRUE(task->trouble->sent);
    }
}

TEST_F(EngineTest, ARedirectFromTlsToNoneIsNotFollowedWhoeverMayLeave) {
    ScriptedHttp open([](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("")}; });
    const test::TlsServer server(
        {}, [&](const std::string&) { return moved(307, open.url() + "?secret=1"); });
    endpoint_.tls.ca_file = server.ca_file();
    const auto task = ran(server.url(), [](Told& told) { told.leaves_origin = true; });
    ASSERT_TRUE(task->trouble);
    EXPECT_EQ(task->trouble->code, PATCHBAY_E_DENIED);
    EXPECT_EQ(task->trouble->text,
              "a redirect from https to http is not followed (" + open.url() + ")");
    EXPECT_EQ(open.connections(), 0);
}

TEST_F(EngineTest, SecretsStayWithTheOriginThatWasAsked) {
    ScriptedHttp other(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("")}; });
    ScriptedHttp server([&](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        return {moved(307, request.has(" /mcp ") ? "/there" : other.url())};
    });
    const auto task = ran(server.url(), [](Told& told) {
        told.leaves_origin = true;
        told.secrets.set("Authorization", "Bearer secret");
        told.request.headers.set("X-Open", "yes");
    });
    EXPECT_EQ(task->status, 200);
    EXPECT_EQ(task->url.text(), other.url());
    const auto asked = server.requests();
    ASSERT_EQ(asked.size(), 2u);
    for (const auto& request : asked) EXPECT_TRUE(request.has("Authorization: Bearer secret\r\n"));
    ASSERT_EQ(other.requests().size(), 1u);
    EXPECT_FALSE(other.requests()[0].has("Authorization"));
    EXPECT_TRUE(other.requests()[0].has("X-Open: yes\r\n"));
    const auto kept = ran(server.url());
    ASSERT_TRUE(kept->trouble);
    EXPECT_EQ(kept->trouble->code, PATCHBAY_E_DENIED);
    EXPECT_EQ(other.connections(), 1);
}

TEST_F(EngineTest, WhatWasRedirectedWasSentWhoeverIsNotReachedThen) {
    const auto nobody = ScriptedHttp([](const auto&) -> ScriptedHttp::Answer { return {}; }).url();
    ScriptedHttp server([&](const auto&) -> ScriptedHttp::Answer { return {moved(307, nobody)}; });
    const auto task = ran(server.url(), [](Told& told) { told.leaves_origin = true; });
    ASSERT_TRUE(task->trouble);
    EXPECT_TRUE(task->trouble->refused);
    EXPECT_TRUE(task->trouble->sent) << "who redirects has read it";
}

// ---- many, and the end

TEST_F(EngineTest, SixtyFourAreUnderWayAndTheNextWhenOneOfThemEnds) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer { return {}; });
    for (std::size_t i = 0; i < Engine::kConnections + 2; ++i) begin(start(server.url()));
    ASSERT_TRUE(until([&] { return server.count("GET") == Engine::kConnections; }));
    tasks_[0]->blow();
    ASSERT_TRUE(until([&] { return server.count("GET") == Engine::kConnections + 1; }));
    EXPECT_EQ(tasks_[0]->ended, 1);
    EXPECT_EQ(tasks_[0]->trouble->code, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(server.connections(), 65);
    EXPECT_FALSE(tasks_.back()->sent());
}

TEST_F(EngineTest, SaysThatAThousandWaitAndWhenHalfOfThemAreGone) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer { return {}; });
    const Turn turn(*core_);
    const auto more = [&] { engine_->start(start(server.url())); };
    for (std::size_t i = 0; i < Engine::kConnections + Engine::kQueued; ++i) more();
    EXPECT_FALSE(engine_->crowded());
    more();
    EXPECT_TRUE(engine_->crowded());
    auto next = Engine::kConnections;
    const auto blow = [&](std::size_t count) {
        for (; count > 0; --count) tasks_[next++]->blow();
    };
    blow(501);
    more();  // whoever comes looks at those before it: 501 wait
    EXPECT_EQ(rooms_, 0);
    EXPECT_TRUE(engine_->crowded()) << "until it is said";
    blow(2);
    more();
    EXPECT_EQ(rooms_, 1);
    EXPECT_FALSE(engine_->crowded());
    blow(2);
    more();
    EXPECT_EQ(rooms_, 1) << "once";
}

TEST_F(EngineTest, SaysThatTooManyBytesWaitAndWhenHalfOfThemAreGone) {
    ScriptedHttp server([](const auto&) -> ScriptedHttp::Answer { return {}; });
    const std::string half(Engine::kQueuedBytes / 2, 'x');
    const Turn turn(*core_);
    const auto more = [&](std::string_view body) {
        const auto task = start(server.url());
        task->request.body = body;
        engine_->start(task);
    };
    for (std::size_t i = 0; i < Engine::kConnections; ++i) more({});
    more(half);
    more(half);
    EXPECT_FALSE(engine_->crowded());
    more("x");
    EXPECT_TRUE(engine_->crowded());
    tasks_[Engine::kConnections]->blow();
    more({});
    EXPECT_EQ(rooms_, 0) << "one byte more than half of them";
    tasks_[Engine::kConnections + 1]->blow();
    more({});
    EXPECT_EQ(rooms_, 1);
    EXPECT_FALSE(engine_->crowded());
}

TEST_F(EngineTest, WhatIsToBeginLaterEndsWithTheEngineAndWhatBeginsAfterItAtOnce) {
    const auto later = start("http://127.0.0.1:1/"), never = start("http://127.0.0.1:1/");
    {
        const Turn turn(*core_);
        engine_->start_after(1h, later);
        EXPECT_TRUE(later->waits());
        engine_->stop();
        EXPECT_FALSE(later->waits());
        engine_->start_after(1h, never);
    }
    for (const auto& task : tasks_) {
        ASSERT_EQ(task->ended, 1);
        EXPECT_EQ(task->trouble->code, PATCHBAY_E_CANCELLED);
        EXPECT_FALSE(task->trouble->sent);
    }
}

}  // namespace
}  // namespace patchbay::net
