// The first list waits a moment for the servers, so that it is whole where they are quick; who is
// slower joins later and is told of. Tools that are known of servers from an earlier run need no
// waiting.
//
// Owns:    who waits. Borrows all it is given.
// Threads: [loop].
#pragma once

#include "catalogue/catalogue.hpp"
#include "connection/connection_pool.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "gateway/view.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::gateway {

class Arrival {
public:
    // `joined`: that server is ready; the wait may be over or not.
    Arrival(connection::ConnectionPool& pool, const catalogue::Catalogue& catalogue,
            connection::Caller& caller, const View& view, std::chrono::milliseconds patience,
            std::function<void(const std::string&)> joined)
        : pool_(pool),
          catalogue_(catalogue),
          caller_(caller),
          view_(view),
          patience_(patience),
          joined_(std::move(joined)),
          timer_(pool.loop()) {}

    // Connects the servers, once.
    void begin() {
        if (std::exchange(begun_, true)) return;
        const auto ids = view_.servers(pool_);
        missing_ = ids.size();
        timer_.start(missing_ == 0 ? std::chrono::milliseconds(0) : patience_, [this] { end(); });
        for (const auto& id : ids)
            pool_.connect(caller_, {id}, lifetime_.guard([this, id] { settled(id); }));
    }
    bool over() const { return over_; }
    // At once where it is over.
    void when_over(std::function<void()> then) {
        begin();
        if (over_) return then();
        waiting_.push_back(std::move(then));
    }
    // At once where each of them has listed its tools, if only for an earlier host.
    void when_tools_known(std::function<void()> then) {
        begin();
        const auto ids = view_.servers(pool_);
        const bool known = std::all_of(ids.begin(), ids.end(), [&](const auto& id) {
            return catalogue_.listings().contains(id);
        });
        if (known) return then();
        when_over(std::move(then));
    }

private:
    void settled(const std::string& id) {
        --missing_;
        const auto* held = pool_.held(id, caller_.number());
        if (held && held->state() == connection::State::Ready) joined_(id);
        if (!over_ && missing_ == 0) end();
    }
    void end() {
        timer_.stop();
        over_ = true;
        const auto watch = lifetime_.watch();
        for (auto& then : std::exchange(waiting_, {})) {
            if (watch.expired()) return;
            then();
        }
    }

    connection::ConnectionPool& pool_;
    const catalogue::Catalogue& catalogue_;
    connection::Caller& caller_;
    const View& view_;
    const std::chrono::milliseconds patience_;
    const std::function<void(const std::string&)> joined_;
    core::Timer timer_;
    std::vector<std::function<void()>> waiting_;
    std::size_t missing_ = 0;
    bool begun_ = false, over_ = false;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
