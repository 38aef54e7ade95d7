// One process of the login stress: a whole host with the login that is stored, and threads that
// call a tool of server "guarded" again and again.
//   patchbay-login-worker STATE_DIRECTORY URL SECONDS THREADS
// Prints one JSON line: {"calls": N, "failures": N, "first_failure": "..."}
#include "app/host.hpp"
#include "app/local_caller.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace patchbay;
using std::chrono::milliseconds;

constexpr milliseconds kPause{20};  // of a thread between two calls

struct Score {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    std::size_t calls = 0, failures = 0;
    std::string first_failure;
};

router::Call who() {
    router::Call call;
    call.name = "mcp__guarded__who";
    call.timeout = milliseconds(20'000);
    return call;
}

void call_until(app::Host& host, connection::Caller& caller, core::Clock::time_point end,
                Score& score) {
    while (core::Clock::now() < end) {
        bool answered = false;
        host.loop().post([&] {
            host.router().call(caller, who(), [&](Result<connection::Reply> reply) {
                const std::scoped_lock lock(score.mutex);
                ++score.calls;
                const bool well = reply && reply->error.empty() && !reply->is_error;
                if (!well && score.failures++ == 0)
                    score.first_failure =
                        reply ? std::string(reply->error) + std::string(reply->result)
                              : reply.error().message;
                answered = true;
                score.changed.notify_all();
            });
        });
        std::unique_lock lock(score.mutex);
        score.changed.wait(lock, [&] { return answered; });
        score.changed.wait_for(lock, kPause, [] { return false; });
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fputs("usage: patchbay-login-worker STATE_DIRECTORY URL SECONDS THREADS\n", stderr);
        return 64;
    }
    app::HostOptions options;
    options.environment.working_directory = options.environment.home = "/";
    options.environment.config_home = options.environment.enterprise_directory = "/nonexistent";
    options.environment.sets = {std::string("servers.guarded.url=") + argv[2]};
    options.state_directory = argv[1];
    app::Host host(std::move(options));
    app::LocalCaller caller(host.callers(),
                            {core::Principal::Kind::Embedder, "1", "worker", core::Trust::Approves},
                            {host.config().client, {}});
    const auto end = core::Clock::now() + std::chrono::seconds(std::atoi(argv[3]));
    Score score;
    std::vector<std::thread> threads;
    for (int i = 0; i < std::atoi(argv[4]); ++i)
        threads.emplace_back([&] { call_until(host, caller, end, score); });
    // The threads wait for answers that this one brings.
    std::size_t ended = 0;
    std::thread joiner([&] {
        for (auto& thread : threads) thread.join();
        host.loop().post([&] { ended = threads.size(); });
    });
    host.run_until([&] { return ended == threads.size(); });
    joiner.join();
    const boost::json::object told{{"calls", score.calls},
                                   {"failures", score.failures},
                                   {"first_failure", score.first_failure}};
    std::puts(boost::json::serialize(told).c_str());
    return score.failures == 0 ? 0 : 1;
}
