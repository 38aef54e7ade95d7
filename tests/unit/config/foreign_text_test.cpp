// How much of what a file says stands in what is told of it.
#include "support/config_of.hpp"
#include "unit/config/support.hpp"

#include <algorithm>

namespace patchbay::config {
namespace {

TEST(ForeignText, AnUnknownKeyIsToldSoFarAndNoFurther) {
    const std::string key(1'000, 'Q');
    const auto told = all(test::config_of("[servers.a]\n" + key + " = 1\n").diagnostics);
    EXPECT_NE(told.find("unknown key \"Q"), std::string::npos) << told;
    EXPECT_EQ(std::count(told.begin(), told.end(), 'Q'), 80);
}

}  // namespace
}  // namespace patchbay::config
