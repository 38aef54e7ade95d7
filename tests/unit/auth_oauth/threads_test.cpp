// Callbacks from every thread at once: the strand keeps them apart.
#include "crypto.hpp"
#include "dpop.hpp"
#include "fake_host.hpp"
#include "strand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <thread>
#include <vector>

namespace patchbay::oauth::test {
namespace {

// A host that is nothing but a reactor with a thread of its own.
class Loop : public patchbay_host {
public:
    Loop() : patchbay_host{} {
        table_.struct_size = sizeof table_;
        table_.post = [](const patchbay_host* host, void* ctx,
                         void (*fn)(void*) noexcept) noexcept { return of(host).add(ctx, fn); };
        get_extension = [](const patchbay_host* host, const char*) noexcept -> const void* {
            return &of(host).table_;
        };
        thread_ = std::thread([this] { work(); });
    }
    ~Loop() { stop(); }

    void stop() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }
    std::thread::id id() const { return thread_.get_id(); }

private:
    static Loop& of(const patchbay_host* host) {
        return *static_cast<Loop*>(const_cast<patchbay_host*>(host));
    }
    patchbay_status add(void* ctx, void (*fn)(void*) noexcept) {
        const std::lock_guard lock(mutex_);
        if (over_) return PATCHBAY_E_CLOSED;
        waiting_.emplace_back([ctx, fn] { fn(ctx); });
        changed_.notify_all();
        return PATCHBAY_OK;
    }
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            const auto next = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            next();
            lock.lock();
        }
    }

    patchbay_host_reactor table_{};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    bool over_ = false;
    std::thread thread_;
};

TEST(Strand, runs_everything_once_in_order_on_one_thread) {
    constexpr int kEach = 2000;
    Loop loop;
    const auto strand = std::make_shared<Strand>(&loop);
    std::vector<int> seen[4];  // touched by the strand alone
    std::atomic<int> elsewhere{0};
    std::vector<std::thread> posters;
    for (int poster = 0; poster < 4; ++poster) {
        posters.emplace_back([&, poster] {
            for (int i = 0; i < kEach; ++i) {
                strand->post([&, poster, i] {
                    seen[poster].push_back(i);
                    if (std::this_thread::get_id() != loop.id()) ++elsewhere;
                });
            }
        });
    }
    for (auto& poster : posters) poster.join();
    loop.stop();
    EXPECT_EQ(elsewhere, 0);
    for (const auto& order : seen) {
        ASSERT_EQ(order.size(), static_cast<std::size_t>(kEach));
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
}

TEST(Strand, never_runs_what_is_posted_from_inside_at_once) {
    Loop loop;
    const auto strand = std::make_shared<Strand>(&loop);
    std::string order;
    strand->post([&] {
        strand->post([&] { order += 'b'; });
        order += 'a';
    });
    loop.stop();
    EXPECT_EQ(order, "ab");
}

TEST(Strand, runs_in_place_when_the_reactor_is_gone) {
    Loop loop;
    const auto strand = std::make_shared<Strand>(&loop);
    loop.stop();
    bool ran = false;
    strand->post([&] { ran = true; });
    EXPECT_TRUE(ran);
}

TEST(Prover, signs_on_many_threads_while_the_token_changes) {
    Prover prover;
    prover.use(SigningKey::generate(), "t0");
    std::vector<std::thread> signers;
    std::atomic<int> proofs{0};
    for (int i = 0; i < 3; ++i) {
        signers.emplace_back([&] {
            for (int n = 0; n < 50; ++n)
                proofs += !prover.proof("POST", "https://mcp.example/mcp", n).empty();
        });
    }
    for (int n = 0; n < 20; ++n) {
        prover.use(SigningKey::generate(), "t" + std::to_string(n));
        prover.learn_nonce("https://mcp.example/", "n" + std::to_string(n));
    }
    for (auto& signer : signers) signer.join();
    EXPECT_EQ(proofs, 150);
}

TEST(Strand, GoesOnBehindWhatAStepThrows) {
    FakeHost host;
    const auto strand = std::make_shared<Strand>(&host);
    bool second = false;
    strand->post([] { throw std::runtime_error("oh"); });
    strand->post([&] { second = true; });
    host.run();
    EXPECT_TRUE(second);
    EXPECT_EQ(host.log_level, 5);
    EXPECT_EQ(host.logged, "internal error: a step of a sign-in threw: oh\n");
}

}  // namespace
}  // namespace patchbay::oauth::test
