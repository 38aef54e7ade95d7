#include "app/uri_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UriTemplate, NamesItsVariables) {
    EXPECT_THAT(template_variables("repo://{owner}/{name}"), ElementsAre("owner", "name"));
    EXPECT_THAT(template_variables("f://{+path}{?q,lang*}{#part:3}"),
                ElementsAre("path", "q", "lang", "part"));
    for (const char* none : {"", "f://a", "f://{}", "f://{a", "f://a}", "{,}", "{?}"})
        EXPECT_THAT(template_variables(none), IsEmpty()) << none;
}

TEST(UriTemplate, KnowsWhatMayComeOfIt) {
    EXPECT_TRUE(may_come_of("item://3", "item://{n}"));
    EXPECT_TRUE(may_come_of("repo://me/it/issues", "repo://{owner}/{name}/issues"));
    EXPECT_TRUE(may_come_of("f://a/b", "f://{+path}{?q}"));
    EXPECT_TRUE(may_come_of("f://a", "f://a"));
    EXPECT_FALSE(may_come_of("items://3", "item://{n}"));
    EXPECT_FALSE(may_come_of("repo://me", "repo://{owner}/{name}"));
    EXPECT_FALSE(may_come_of("repo://me/it", "repo://{owner}/{name}/issues"));
    EXPECT_FALSE(may_come_of("aba", "{x}ab{y}ba{z}c")) << "the end is not there";
    EXPECT_FALSE(may_come_of("ab", "ab{x}b")) << "one letter is not two";
    EXPECT_FALSE(may_come_of("f://b", "f://a"));
}

}  // namespace
}  // namespace patchbay::app
