#include "app/server_log.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// The host cuts lines by `[limits] stderr_line_bytes`, as it is configured.
TEST(ServerLog, CutsALineAtItsLimitInMemoryAndInTheFile) {
    const test::PluginFolder folder;
    const std::string line = "0123456789abcdefghij";
    {
        ServerLog log(folder.path(), 10);
        log.add("s", false, line);
        EXPECT_THAT(log.tail("s", 1).at(0), HasSubstr(" stderr 0123456789"));
        EXPECT_THAT(log.tail("s", 1).at(0), Not(HasSubstr("abcdefghij")));
    }
    EXPECT_THAT(test::read_file(folder.path() + "/s.log"), Not(HasSubstr("abcdefghij")));
    ServerLog wide(folder.path(), 9'000);
    const std::string longer(8'500, 'x');
    wide.add("s", false, longer);
    EXPECT_THAT(wide.tail("s", 1).at(0), EndsWith(longer)) << "cut at the default of 8 KiB";
}

}  // namespace
}  // namespace patchbay::app
