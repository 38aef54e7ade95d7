// The engine by itself: what its tasks throw, and what never ends.
#include "net/engine.hpp"

#include "core/loop.hpp"
#include "net/sse_parser.hpp"
#include "net/workers.hpp"
#include "plugin/abi.hpp"
#include "plugin/host_services.hpp"
#include "support/scripted_http.hpp"

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
    Take head(const Head&) override {
        at("head");
        return take;
    }
    void whole(std::string&&) override { at("whole"); }
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

    std::string throws_in;
    Take take = Take::Whole;
    std::function<bool(std::string_view&)> on_data;
    int ended = 0;
    std::optional<Trouble> trouble;
};

class EngineTest : public ::testing::Test, public EngineOwner {
protected:
    EngineTest() : services_("dev.patchbay.test", plugin::offered_extensions()) {
        services_.attach(loop_);
        patchbay_open_params params{};
        params.struct_size = sizeof params;
        params.host = services_.host();
        core_.emplace(params);
        engine_.emplace(*core_, endpoint_, this, Patience{50ms, 10ms});
        look();
    }
    ~EngineTest() override {
        {
            const Turn turn(*core_);
            engine_->stop();
        }
        // Workers that connect still use it.
        EXPECT_TRUE(until([&] { return all_ended(); }));
        Workers::of_this_plugin().stop();
        services_.detach();
    }
    void engine_failed(const Trouble& trouble) noexcept override { failed_ = trouble.text; }

    std::shared_ptr<Told> start(const std::string& url) {
        auto task = std::make_shared<Told>(url);
        tasks_.push_back(task);
        return task;
    }
    void begin(const std::shared_ptr<Told>& task) {
        const Turn turn(*core_);
        engine_->start(task);
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
    // What other threads do wakes no loop.
    void look() {
        loop_.after(5ms, [this] { look(); });
    }

    core::Loop loop_;
    plugin::HostServices services_;
    const Endpoint endpoint_{Url{}};
    std::optional<transport::ChannelCore> core_;
    std::optional<Engine> engine_;
    std::vector<std::shared_ptr<Told>> tasks_;
    std::string failed_;
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

TEST_F(EngineTest, WhatTheEndOfATaskThrowsIsToldToTheOwner) {
    ScriptedHttp server(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("{}")}; });
    const auto task = start(server.url());
    task->throws_in = "end";
    begin(task);
    ASSERT_TRUE(until([&] { return !failed_.empty(); }));
    EXPECT_EQ(failed_, "thrown in end");
    EXPECT_EQ(task->ended, 1);
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

}  // namespace
}  // namespace patchbay::net
