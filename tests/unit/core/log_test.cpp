// How a line of the log looks to whom.
#include "core/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::core::log {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

std::string line_in(Style style, Level level) {
    set_style(style);
    CaptureStderr();
    write(level, "two\nlines");
    auto text = GetCapturedStderr();
    set_style(Style::Timed);
    return text;
}

TEST(Log, TellsTheTimeOnlyWhereItGoesOn) {
    EXPECT_EQ(line_in(Style::Plain, Level::Warn), "warning: two lines\n");
    EXPECT_EQ(line_in(Style::Plain, Level::Error), "error: two lines\n");
    EXPECT_THAT(
        line_in(Style::Timed, Level::Warn),
        ::testing::MatchesRegex("[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]+ warning two lines\n"));
}

}  // namespace
}  // namespace patchbay::core::log
