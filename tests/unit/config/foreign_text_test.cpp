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

TEST(ForeignText, ATemplateInAnotherProgramsWordsIsNotPassedOverInSilence) {
    for (const auto* table : {"mcpServers", "mcp_servers"}) {
        const auto read = read_fragment(
            std::string("{\"") + table + "\": {\"a\": {\"command\": \"x\", \"template\": \"t\"}}}",
            Format::Json, {Scope::User, 0, "mcp.json"});
        EXPECT_NE(all(read.diagnostics)
                      .find("server \"a\": \"template\" is not read; templates are "
                            "for entries below \"servers\""),
                  std::string::npos)
            << all(read.diagnostics);
    }
}

}  // namespace
}  // namespace patchbay::config
