// Which key of `tools` counts for a name; what it means for calls is tried in policy_ladder_test.
#include "config/levels.hpp"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::config {
namespace {

TEST(Levels, AreFoundAlikeWhetherANameIsLongerThanThereAreKeys) {
    Server few;
    few.id = "s";
    few.tools = {{"*", Level::AllowAlways},
                 {"aa*", Level::Deny},
                 {"aaaa*", Level::RequireApproval},
                 {"aaaaab", Level::AllowOnce}};
    Server many = few;
    for (int i = 0; i < 100; ++i) many.tools["z" + std::to_string(i)] = Level::Deny;
    for (const char* name :
         {"", "a", "aa", "aaa", "aaaa", "aaaaab", "aaaaabc", "b", "aa*", "aaaaa*", "*"}) {
        const auto* one = deciding_key(few, name);
        const auto* other = deciding_key(many, name);
        ASSERT_TRUE(one && other) << name;
        EXPECT_EQ(*one, *other) << name;
    }
    EXPECT_EQ(*deciding_key(few, "aaaaabc"), "aaaa*") << "the most specific of one source";
}

// A name of a file may be as long as the file: its beginnings are not looked for one by one.
TEST(Levels, OfANameOfAMegabyteAreFound) {
    const std::string name(1u << 20, 'a');
    Server server;
    server.id = "s";
    server.tools = {{name, Level::Deny}, {"a*", Level::AllowAlways}};
    EXPECT_EQ(level_for(server, name, Level::RequireApproval), Level::Deny);
    EXPECT_EQ(level_for(server, name + "b", Level::RequireApproval), Level::AllowAlways);
}

}  // namespace
}  // namespace patchbay::config
