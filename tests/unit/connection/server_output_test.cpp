#include "connection/server_output.hpp"

#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

TEST(ServerOutput, SaysNothingOfAServerThatWroteNothing) {
    const ServerOutput output;
    EXPECT_EQ(output.with_stderr("gone"), "gone");
    EXPECT_EQ(output.with_strays("gone"), "gone");
    EXPECT_FALSE(output.has_strays());
}

TEST(ServerOutput, IsKeptWholeInALog) {
    EXPECT_EQ(with_log("gone", "s"), "gone; see patchbay mcp logs s");
}

TEST(ServerOutput, TellsTheFirstLineOfStderrAndTheLastOnes) {
    ServerOutput output;
    for (const char* line : {"1", "2", "3", "4", "5", "6"}) output.keep_stderr(line);
    EXPECT_EQ(output.with_stderr("gone"), "gone; stderr: 1 | 2 | 3 | 4 | 5 | 6");
    output.keep_stderr("7");
    output.keep_stderr("8");
    EXPECT_EQ(output.with_stderr("gone"), "gone; stderr: 1 | ... | 4 | 5 | 6 | 7 | 8");
}

TEST(ServerOutput, TellsTheFirstStrayLineAndHowManyThereWere) {
    ServerOutput output;
    output.keep_stray("Listening");
    EXPECT_TRUE(output.has_strays());
    EXPECT_EQ(output.with_strays("gone"),
              "gone; it wrote a line that is no JSON-RPC message: \"Listening\"");
    output.keep_stray("Hello");
    EXPECT_EQ(output.with_strays("gone"),
              "gone; it wrote 2 lines that are no JSON-RPC messages, the first: \"Listening\"");
}

}  // namespace
}  // namespace patchbay::connection
