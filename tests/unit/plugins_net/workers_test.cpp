// The threads of a plugin that blocks.
#include "net/workers.hpp"

#include "core/escapes.hpp"
#include "plugin/abi.hpp"
#include "plugin/services/host_services.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <set>

namespace patchbay::net {
namespace {

class WorkersTest : public ::testing::Test {
protected:
    ~WorkersTest() override { workers_.stop(); }
    // On which thread it ran.
    std::thread::id ran() {
        std::promise<std::thread::id> where;
        workers_.run([&] { where.set_value(std::this_thread::get_id()); });
        return where.get_future().get();
    }

    plugin::HostServices services_{"dev.patchbay.test", plugin::offered_extensions()};
    Workers workers_{services_.host()};
};

TEST(ThreadedPlugin, EachHostsPluginHasThreadsOfItsOwn) {
    ThreadedPlugin one(nullptr), other(nullptr);
    std::promise<void> over;
    const auto held = over.get_future().share();
    one.workers().run([held] { held.wait(); });
    std::atomic<bool> ran{false};
    other.workers().run([&ran] { ran = true; });
    other.workers().stop();  // waits for its own alone
    EXPECT_TRUE(ran);
    over.set_value();
}

TEST_F(WorkersTest, WorkWaitsForNoOtherWork) {
    constexpr int kMany = 10;
    std::promise<void> all;
    const auto released = all.get_future().share();
    std::atomic<int> there{0};
    std::mutex mutex;
    std::set<std::thread::id> threads;
    for (int i = 0; i < kMany; ++i)
        workers_.run([&, released] {
            {
                const std::scoped_lock lock(mutex);
                threads.insert(std::this_thread::get_id());
            }
            if (++there == kMany) all.set_value();
            released.wait();
        });
    EXPECT_EQ(released.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    workers_.stop();
    EXPECT_EQ(threads.size(), static_cast<std::size_t>(kMany));
}

TEST_F(WorkersTest, AThreadOutlivesWhatItsWorkThrows) {
    std::promise<std::thread::id> first;
    workers_.run([&] {
        first.set_value(std::this_thread::get_id());
        throw std::runtime_error("oh");
    });
    first.get_future().get();
    ran();
    workers_.stop();
    EXPECT_EQ(core::take_escapes(), 1u);
}

TEST_F(WorkersTest, SignalsAreBlockedInThemAndOnlyThere) {
    sigset_t inside, outside;
    sigemptyset(&outside);
    pthread_sigmask(SIG_SETMASK, nullptr, &outside);
    std::promise<void> looked;
    workers_.run([&] {
        pthread_sigmask(SIG_SETMASK, nullptr, &inside);
        looked.set_value();
    });
    looked.get_future().get();
    EXPECT_EQ(sigismember(&inside, SIGPIPE), 1);
    EXPECT_EQ(sigismember(&inside, SIGTERM), 1);
    EXPECT_EQ(sigismember(&outside, SIGTERM), 0);
    sigset_t after;
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    EXPECT_EQ(sigismember(&after, SIGTERM), 0);
}

TEST_F(WorkersTest, TheEndWaitsForWhatIsUnderWayAndForWhatWaits) {
    std::atomic<int> done{0};
    for (int i = 0; i < 20; ++i) workers_.run([&] { ++done; });
    workers_.stop();
    EXPECT_EQ(done, 20);
    EXPECT_NE(ran(), std::this_thread::get_id()) << "and it can be begun anew";
}

TEST_F(WorkersTest, WhatWorkHoldsMayBringMoreWorkInItsEnd) {
    std::promise<void> more;
    std::shared_ptr<void> last(nullptr, [&](void*) { workers_.run([&] { more.set_value(); }); });
    workers_.run([last = std::move(last)] {});
    ASSERT_EQ(more.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST_F(WorkersTest, WhatWorkHoldsIsGoneWithIt) {
    auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> left = held;
    workers_.run([held = std::move(held)] {});
    workers_.stop();
    EXPECT_TRUE(left.expired());
}

}  // namespace
}  // namespace patchbay::net
