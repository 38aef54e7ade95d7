#include "protocol/uri_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
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
    const struct {
        const char *uri, *form;
        bool may;
    } cases[] = {
        {"item://3", "item://{n}", true},
        {"repo://me/it/issues", "repo://{owner}/{name}/issues", true},
        {"f://a/b", "f://{+path}{?q}", true},
        {"f://a", "f://a", true},
        {"items://3", "item://{n}", false},
        {"repo://me", "repo://{owner}/{name}", false},
        {"repo://me/it", "repo://{owner}/{name}/issues", false},
        {"aba", "{x}ab{y}ba{z}c", false},  // the end is not there
        {"ab", "ab{x}b", false},           // one letter is not two
        {"f://b", "f://a", false},
    };
    for (const auto& c : cases) EXPECT_EQ(may_come_of(c.uri, c.form), c.may) << c.form;
}

}  // namespace
}  // namespace patchbay::protocol
