#include "connection/tenure.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace patchbay::connection {
namespace {

using Use = Tenure::Use;
using Event = std::function<void(Tenure&)>;

const Event kHold = [](Tenure& tenure) { tenure.hold(); };
const Event kRelease = [](Tenure& tenure) { tenure.release(); };
const Event kExpire = [](Tenure& tenure) { tenure.expire(); };
const Event kRetire = [](Tenure& tenure) { tenure.retire(); };

TEST(Tenure, FollowsItsTable) {
    struct Row {
        const char* what;
        Tenure first;
        std::vector<Event> events;
        Use use;
    };
    const auto one = Tenure::of_one(), all = Tenure::of_all();
    const Row rows[] = {
        {"kept ready", one, {}, Use::Spare},
        {"taken", one, {kHold}, Use::Own},
        {"its caller goes", one, {kHold, kRelease}, Use::Leaving},
        {"a spare that is not wanted", one, {kRetire}, Use::Leaving},
        {"nobody has come yet", all, {}, Use::Unheld},
        {"the first", all, {kHold}, Use::Shared},
        {"two of them", all, {kHold, kHold}, Use::Shared},
        {"one goes", all, {kHold, kHold, kRelease}, Use::Shared},
        {"the last goes", all, {kHold, kHold, kRelease, kRelease}, Use::Unheld},
        {"somebody comes back", all, {kHold, kRelease, kHold}, Use::Shared},
        {"nobody comes back", all, {kHold, kRelease, kExpire}, Use::Leaving},
        {"its server goes", all, {kHold, kHold, kRetire}, Use::Leaving},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.what);
        auto tenure = row.first;
        for (const auto& event : row.events) event(tenure);
        EXPECT_EQ(tenure.use(), row.use);
    }
}

}  // namespace
}  // namespace patchbay::connection
