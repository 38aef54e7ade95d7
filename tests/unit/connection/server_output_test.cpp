#include "connection/server_output.hpp"

#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

TEST(ServerOutput, SaysNothingOfAServerThatWroteNothing) {
    const ServerOutput output;
    EXPECT_EQ(output.with_stderr("gone"), "gone");
    EXPECT_EQ(output.with_strays("gone", "s"), "gone");
}

TEST(ServerOutput, TellsTheLastLinesOfStderr) {
    ServerOutput output;
    for (const char* line : {"1", "2", "3", "4", "5", "6"}) output.keep_stderr(line);
    EXPECT_EQ(output.with_stderr("gone"), "gone; stderr: 2 | 3 | 4 | 5 | 6");
}

TEST(ServerOutput, TellsTheFirstStrayLineAndHowManyThereWere) {
    ServerOutput output;
    output.keep_stray("Listening");
    EXPECT_EQ(output.with_strays("gone", "s"),
              "gone; it wrote a line that is no JSON-RPC message: \"Listening\"; see patchbay mcp "
              "logs s");
    output.keep_stray("Hello");
    EXPECT_EQ(output.with_strays("gone", "s"),
              "gone; it wrote 2 lines that are no JSON-RPC messages, the first: \"Listening\"; see "
              "patchbay mcp logs s");
}

}  // namespace
}  // namespace patchbay::connection
