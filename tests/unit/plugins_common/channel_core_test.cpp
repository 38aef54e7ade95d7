// What every channel of a bundled transport stands on, with a host that is turned by hand.
#include "channel_core.hpp"

#include "unit/plugins_common/scripted_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace patchbay;
using namespace patchbay::transport;
using namespace patchbay::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class ChannelCoreTest : public testing::Test {
protected:
    ScriptedHost host_;
    ChannelCore core_{host_.params()};
    patchbay_op op_ = 0;
    using Turn = ChannelCore::Turn;
};

TEST_F(ChannelCoreTest, NeedsAReactor) {
    host_.has_reactor = false;
    EXPECT_THROW(ChannelCore another(host_.params()), sdk::Failure);
}

TEST_F(ChannelCoreTest, TellsTheEndOnceWhenNothingIsOpenAnyMore) {
    {
        const Turn turn(core_);
        ASSERT_TRUE(core_.watch(0, ChannelCore::kReadable, this, nullptr, op_));
        core_.departed();
        core_.finish(PATCHBAY_E_IO, "wire cut", PATCHBAY_ERR_RETRYABLE);
        EXPECT_TRUE(core_.over());
    }
    EXPECT_THAT(host_.told, IsEmpty());
    {
        const Turn turn(core_);
        core_.end(op_);
        EXPECT_EQ(op_, 0u);
        core_.end(op_);  // it is not open
    }
    EXPECT_THAT(host_.told, IsEmpty()) << "one is still open";
    {
        const Turn turn(core_);
        core_.arrived();
        core_.finish(PATCHBAY_E_LIMIT, "too late");
    }
    { const Turn turn(core_); }
    EXPECT_THAT(host_.told, ElementsAre("closed -6 wire cut /1"));
}

TEST_F(ChannelCoreTest, TellsAnEndThatWasAskedForWithoutAReason) {
    {
        const Turn turn(core_);
        core_.finish(PATCHBAY_OK, "");
    }
    EXPECT_THAT(host_.told, ElementsAre("closed"));
}

TEST_F(ChannelCoreTest, TellsABetterReasonThatCameLater) {
    {
        const Turn turn(core_);
        core_.finish(PATCHBAY_E_IO, "gone");
        core_.explain("gone with code 3");
    }
    EXPECT_THAT(host_.told, ElementsAre("closed -6 gone with code 3"));
}

TEST_F(ChannelCoreTest, LetsTheFirstReasonTellMoreThanText) {
    int told = 0;
    {
        const Turn turn(core_);
        core_.finish([&](const sdk::Sink&) { ++told; });
        core_.finish([&](const sdk::Sink&) { told += 10; });
        EXPECT_TRUE(core_.over());
    }
    EXPECT_EQ(told, 1);
    EXPECT_THAT(host_.told, IsEmpty());
}

TEST_F(ChannelCoreTest, CountsNothingThatTheHostRefuses) {
    host_.refuses = true;
    {
        const Turn turn(core_);
        EXPECT_FALSE(core_.watch(0, ChannelCore::kReadable, this, nullptr, op_));
        EXPECT_FALSE(core_.after({}, this, nullptr, op_));
        EXPECT_FALSE(core_.post(this, nullptr));
        core_.finish(PATCHBAY_OK, "");
    }
    EXPECT_THAT(host_.told, ElementsAre("closed"));
}

TEST_F(ChannelCoreTest, CountsWhatTheHostTakes) {
    patchbay_op timer = 0;
    {
        const Turn turn(core_);
        EXPECT_TRUE(core_.after(
            std::chrono::nanoseconds(-5), this, [](void*, patchbay_status) noexcept {}, timer));
        EXPECT_TRUE(core_.post(this, nullptr));
        EXPECT_EQ(host_.operations.at(timer).delay_ns, 0u) << "what is past is due";
        core_.finish(PATCHBAY_OK, "");
    }
    {
        const Turn turn(core_);
        core_.end(timer);
    }
    EXPECT_THAT(host_.told, IsEmpty()) << "what was posted is still to come";
    {
        const Turn turn(core_);
        core_.arrived();
    }
    EXPECT_THAT(host_.told, ElementsAre("closed"));
}

TEST_F(ChannelCoreTest, WorksAfterATurnWithTheLockFree) {
    std::vector<int> done;
    {
        const Turn turn(core_);
        core_.departed();
        core_.after_turn([&] {
            const Turn inner(core_);
            done.push_back(1);
        });
        core_.after_turn([&] { done.push_back(2); });
        EXPECT_THAT(done, IsEmpty());
    }
    { const Turn turn(core_); }
    EXPECT_THAT(done, ElementsAre(1, 2));
}

// A channel that breaks at its edges.
struct BrokenCore : public testing::Test, ChannelCore::Owner {
    void broken(const std::string& why) override {
        broken_by.push_back(why);
        if (breaks_again) throw std::runtime_error("again");
        core.finish(PATCHBAY_E_INTERNAL, why);
    }

    ScriptedHost host;
    ChannelCore core{host.params(), this};
    std::vector<std::string> broken_by;
    bool breaks_again = false;
};

TEST_F(BrokenCore, IsEndedByItsOwnerAndTheHostHearsOfTheBug) {
    core.enter("a step", [] {});
    EXPECT_THAT(host.told, IsEmpty());
    core.enter("a step", [] { throw std::runtime_error("oh"); });
    const std::string why = "internal error: a step threw: oh";
    EXPECT_THAT(broken_by, ElementsAre(why));
    EXPECT_THAT(host.logged, ElementsAre("5 " + why));
    EXPECT_THAT(host.told, ElementsAre("closed -1 " + why));
    core.enter("another", [] { throw 7; });
    EXPECT_EQ(host.logged.back(), "5 internal error: another threw no std::exception");
    EXPECT_EQ(host.told.size(), 1u);
}

TEST_F(BrokenCore, CallsItNoBugWhenMemoryIsOut) {
    core.enter("a step", [] { throw std::bad_alloc(); });
    EXPECT_THAT(host.logged, ElementsAre("4 a step: out of memory"));
    EXPECT_THAT(host.told, ElementsAre("closed -1 a step: out of memory"));
}

TEST_F(BrokenCore, IsEndedAlsoWhenItsOwnerBreaks) {
    breaks_again = true;
    core.enter("a step", [] { throw std::runtime_error("oh"); });
    EXPECT_EQ(host.logged.size(), 2u);
    EXPECT_THAT(host.told, ElementsAre("closed -1 "));
}

TEST_F(BrokenCore, GoesOnBehindAPartThatIsContained) {
    bool behind = false;
    core.enter("all", [&] {
        core.contain("a part", [] { throw std::runtime_error("oh"); });
        behind = true;
    });
    EXPECT_TRUE(behind);
    EXPECT_THAT(broken_by, ElementsAre("internal error: a part threw: oh"));
}

TEST_F(BrokenCore, TakesATurnForWhatAThreadThrew) {
    core.work("a worker", [&] {
        const ChannelCore::Turn turn(core);  // nobody holds one
        throw std::runtime_error("oh");
    });
    EXPECT_THAT(host.told, ElementsAre("closed -1 internal error: a worker threw: oh"));
}

TEST_F(BrokenCore, IsClosedWhenTheTellingOfTheReasonBreaks) {
    {
        const ChannelCore::Turn turn(core);
        core.finish([](const sdk::Sink&) { throw std::runtime_error("oh"); });
    }
    EXPECT_THAT(host.logged, ElementsAre("5 internal error: the end of a channel threw: oh"));
    EXPECT_THAT(host.told, ElementsAre("closed -1 "));
}

TEST_F(BrokenCore, DoesWhatFollowsATurnAllTheSame) {
    bool second = false;
    {
        const ChannelCore::Turn turn(core);
        core.after_turn([] { throw std::runtime_error("oh"); });
        core.after_turn([&] { second = true; });
    }
    EXPECT_TRUE(second);
    EXPECT_THAT(host.logged, ElementsAre("5 internal error: what follows a turn threw: oh"));
}

}  // namespace
