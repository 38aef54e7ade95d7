// Tells the person behind `patchbay serve` of rules, and of patterns of what is shown, that match no tool:
// at the start what no server's list could make meaningful, the rest as servers list theirs. Each is told
// once, on stderr.
//
// Borrows the session. Threads: [loop].
// Limits:  one look each kPause, however many servers list; kMost things are told, whatever they list.
#pragma once

#include "app/session.hpp"
#include "catalogue/catalogue.hpp"
#include "core/timer.hpp"

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {

class RuleTeller final : catalogue::Watcher {
public:
    static constexpr std::chrono::milliseconds kPause{500};
    static constexpr std::size_t kMost = 100;

    // `shown`: the patterns of --tools.
    RuleTeller(Session& session, std::vector<std::string> shown);
    ~RuleTeller();
    RuleTeller(const RuleTeller&) = delete;

private:
    void on_published() override;
    void look();
    bool is_news(const config::Diagnostic& found);

    Session& session_;
    const std::vector<std::string> shown_;
    std::set<std::string> told_;
    core::Timer pause_;
    bool due_ = false;
};

}  // namespace patchbay::app
