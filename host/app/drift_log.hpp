// What servers list otherwise than before, in the log: at warn where an earlier host was told something else, as nobody
// saw it change, at info where it changed meanwhile. In the log of the server too: it is told once, and who hears of no
// warnings (-q) finds it there.
//
// Borrows the loop. Threads: [loop].
// Limits:  one line a server and list within kPause; what is different in between is counted, and the last of it
//          stands in `mcp status`.
#pragma once

#include "catalogue/catalogue.hpp"
#include "core/loop.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace patchbay::app {

class DriftLog final : public catalogue::DriftWatcher {
public:
    static constexpr std::chrono::minutes kPause{1};

    using Note = std::function<void(const std::string& server, const std::string& text)>;
    DriftLog(const core::Loop& loop, Note note) : loop_(loop), note_(std::move(note)) {}
    void on_drift(const catalogue::Drift& drift) override;

private:
    struct Told {
        core::Clock::time_point at;
        unsigned untold = 0;  // since
    };

    const core::Loop& loop_;
    const Note note_;
    std::map<std::pair<std::string, catalogue::List>, Told> told_;
};

}  // namespace patchbay::app
