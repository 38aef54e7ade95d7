// An engine by itself on a loop, tasks that do as they are told, and servers that say what they should.
#pragma once

#include "core/loop.hpp"
#include "net/engine.hpp"
#include "net/workers.hpp"
#include "plugin/abi.hpp"
#include "plugin/services/host_services.hpp"
#include "support/scripted_http.hpp"
#include "support/turned_timers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::net {

using namespace std::chrono_literals;
using test::ScriptedHttp;
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
    std::size_t body_limit() const override { return limit; }
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
    std::uint64_t unproven() const override { return number; }
    void end(const Trouble* its_trouble) override {
        ++ended;
        if (its_trouble) trouble.emplace(*its_trouble);
        at("end");
    }

    std::string throws_in, body;
    Take take = Take::Whole;
    bool may_be_cut = false, cut = false;
    std::size_t limit = 64u << 10;
    int status = 0;
    std::uint64_t number = 0;
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
        host_.stand_still();
        on(host_.host());
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
    // What is awaited from now on takes its time: so much for each look at whether it is there.
    void let_waiting_take(core::Clock::duration each_look) { each_look_ = each_look; }
    // Of that host; before anything is begun.
    void on(const patchbay_host* host) {
        patchbay_open_params params{};
        params.struct_size = sizeof params;
        params.host = host;
        engine_.reset();
        core_.emplace(params, this);
        engine_.emplace(*core_, workers_, endpoint_, this, Patience{50ms, 10ms});
    }
    // With an answer that has begun; before anything is begun.
    void patience(std::chrono::milliseconds time) {
        engine_.emplace(*core_, workers_, endpoint_, this, Patience{time, 10ms});
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
                host_.skip(each_look_);
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
        for (int i = 0; i < 3; ++i) {
            host_.skip(60ms);
            EXPECT_FALSE(loop_.run_until([] { return false; }, core::Clock::now() + 20ms));
        }
    }
    // What other threads do wakes no loop.
    void look() {
        loop_.after(5ms, [this] { look(); });
    }

    core::Loop loop_;
    plugin::HostServices services_;
    test::TurnedTimers host_{services_.host(), 1};
    core::Clock::duration each_look_{0};
    Endpoint endpoint_{Url{}};
    std::optional<transport::ChannelCore> core_;
    Workers workers_{services_.host()};
    std::optional<Engine> engine_;
    std::vector<std::shared_ptr<Told>> tasks_;
    std::string failed_;
    int rooms_ = 0;
};

}  // namespace patchbay::net
