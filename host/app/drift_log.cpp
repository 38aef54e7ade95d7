#include "app/drift_log.hpp"

#include "core/log.hpp"
#include "service/statuses.hpp"

#include <utility>

namespace patchbay::app {

void DriftLog::on_drift(const catalogue::Drift& drift) {
    const auto now = loop_.now();
    const auto [place, first] = told_.try_emplace({drift.server, drift.list}, Told{now});
    auto& told = place->second;
    if (!first && now - told.at < kPause) {
        ++told.untold;
        return;
    }
    std::string text = std::string("lists other ") + catalogue::name_of(drift.list) + " than at " +
                       service::time_of(drift.before) + ": " + catalogue::summary(drift);
    if (!drift.first.empty()) text += "; first " + drift.first;
    if (const auto untold = std::exchange(told.untold, 0); untold > 0)
        text += "; " + std::to_string(untold) + " changes before it were not told";
    told.at = now;
    using core::log::Level;
    core::log::write(drift.of_earlier_host ? Level::Warn : Level::Info,
                     "server \"" + drift.server + "\" " + text);
    note_(drift.server, text);
}

}  // namespace patchbay::app
