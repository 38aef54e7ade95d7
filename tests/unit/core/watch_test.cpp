#include "core/watch.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::core {
namespace {

class WatchTest : public ::testing::Test {
protected:
    WatchTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_), 0); }
    ~WatchTest() override {
        for (const int end : ends_) ::close(end);
    }
    void say() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
    // Whether it was called in one round of the loop.
    bool heard(int& calls) {
        const int before = calls;
        for (int i = 0; i < 3; ++i) static_cast<void>(loop_.run_ready());
        return calls > before;
    }

    Loop loop_;
    int ends_[2] = {-1, -1};
};

TEST_F(WatchTest, TellsUntilItIsStopped) {
    Watch watch(loop_);
    int calls = 0;
    EXPECT_FALSE(watch.running());
    ASSERT_TRUE(watch.start(ends_[0], Loop::kReadable, [&](unsigned events) {
        EXPECT_EQ(events, unsigned{Loop::kReadable});
        ++calls;
    }));
    EXPECT_FALSE(heard(calls));
    say();
    EXPECT_TRUE(heard(calls));
    EXPECT_TRUE(watch.running());
    watch.stop();
    EXPECT_FALSE(watch.running());
    EXPECT_FALSE(heard(calls));
    watch.stop();
}

TEST_F(WatchTest, EndsWithItsOwner) {
    int calls = 0;
    auto watch = std::make_unique<Watch>(loop_);
    ASSERT_TRUE(watch->start(ends_[0], Loop::kReadable, [&](unsigned) { ++calls; }));
    say();
    watch.reset();
    EXPECT_FALSE(heard(calls));
}

TEST_F(WatchTest, WaitsForWhatIsWantedByNow) {
    Watch watch(loop_);
    int calls = 0;
    unsigned last = 0;
    ASSERT_TRUE(watch.start(ends_[0], Loop::kReadable, [&](unsigned events) {
        last = events;
        ++calls;
    }));
    say();
    watch.want(0);
    EXPECT_FALSE(heard(calls));
    watch.want_more(Loop::kWritable);
    EXPECT_TRUE(heard(calls));
    EXPECT_EQ(last, unsigned{Loop::kWritable});
    watch.want_more(Loop::kReadable);
    watch.want_less(Loop::kWritable);
    EXPECT_TRUE(heard(calls));
    EXPECT_EQ(last, unsigned{Loop::kReadable});
}

TEST_F(WatchTest, OfWhatCannotBeWatchedNothingIsHeard) {
    Watch watch(loop_);
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    ::close(file);
    EXPECT_FALSE(watch.start(file, Loop::kReadable, [](unsigned) { FAIL(); }));
    EXPECT_FALSE(watch.running());
    watch.want(Loop::kWritable);
}

}  // namespace
}  // namespace patchbay::core
