#include "plugin/current_call.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unistd.h>

using namespace patchbay::plugin;

namespace {

std::string written() {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    write_call(ends[1], current_call());
    ::close(ends[1]);
    char text[256];
    const auto size = ::read(ends[0], text, sizeof text);
    ::close(ends[0]);
    return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

TEST(CurrentCall, SaysWhichPluginIsInWhichSlotForWhichServer) {
    EXPECT_EQ(written(), "no plugin's call");
    {
        const CallMark outer("stdio", "send", "demo");
        EXPECT_EQ(written(), "plugin \"stdio\" in send for server \"demo\"");
        {
            const CallMark inner("http", nullptr, nullptr);
            EXPECT_EQ(written(), "plugin \"http\" in a call");
        }
        EXPECT_EQ(written(), "plugin \"stdio\" in send for server \"demo\"") << "restored";
    }
    EXPECT_EQ(written(), "no plugin's call");
}

}  // namespace
