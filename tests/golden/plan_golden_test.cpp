// Runs every plans/*.case: two configurations as written, then what moving from the one to the other
// does, in the words of `patchbay config plan`.
//
//   == running config.toml      content until the next == or dashes
//   == wanted config.toml
//   ----                        four dashes
//   restart git: command
//
// PATCHBAY_UPDATE_GOLDEN=1 rewrites the last part; read the difference before you commit it.
#include "registry/plan.hpp"
#include "support/config_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace patchbay::registry {
namespace {

namespace fs = std::filesystem;

struct Case {
    std::string inputs, plan;
    std::map<std::string, std::string> files;  // "running", "wanted"
};

Case read_case(const fs::path& path) {
    std::ifstream in(path);
    Case result;
    std::string* file = nullptr;
    bool dashed = false;
    for (std::string line; std::getline(in, line);) {
        if (dashed) {
            result.plan += line + "\n";
            continue;
        }
        dashed = line == "----";
        if (dashed) continue;
        result.inputs += line + "\n";
        if (line.starts_with("== "))
            file = &result.files[line.substr(3, line.find(' ', 3) - 3)];
        else if (file)
            *file += line + "\n";
    }
    return result;
}

class PlanGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(PlanGolden, IsAsWritten) {
    const auto path = fs::path(PATCHBAY_SOURCE_DIR) / "tests/golden/plans" / (GetParam() + ".case");
    const auto the_case = read_case(path);
    const auto running = snapshot_of(test::config_of(the_case.files.at("running")));
    const auto wanted = snapshot_of(test::config_of(the_case.files.at("wanted")));
    std::string told;
    for (const auto& line : lines_of(plan(*running, *wanted)))
        told += line.what + " " + line.whom + (line.how.empty() ? "" : ": " + line.how) + "\n";
    if (std::getenv("PATCHBAY_UPDATE_GOLDEN")) {
        std::ofstream(path) << the_case.inputs << "----\n" << told;
        return;
    }
    EXPECT_EQ(told, the_case.plan);
    EXPECT_TRUE(plan(*wanted, *wanted).empty());
}

std::vector<std::string> all_cases() {
    std::vector<std::string> names;
    for (const auto& entry :
         fs::directory_iterator(fs::path(PATCHBAY_SOURCE_DIR) / "tests/golden/plans"))
        if (entry.path().extension() == ".case") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, PlanGolden, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace patchbay::registry
