// The public JSON-Schema-Test-Suite, when PATCHBAY_JSON_SCHEMA_SUITE names a checkout of it. It is
// in no package registry, so it is not part of a usual run; see host/decisions/0003.
#include "protocol/schema.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

json::value read(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return json::parse(text.str());
}

struct Tally {
    int right = 0, refused = 0;
    std::vector<std::string> wrong;
};

void run(const fs::path& path, const char* dialect, Tally& tally) {
    const auto groups = read(path);
    for (const auto& group : groups.get_array()) {
        auto text = group.at("schema");  // the suite leaves $schema out where a folder says it
        if (text.is_object()) text.get_object().emplace("$schema", dialect);
        const auto schema = Schema::compile(text);
        for (const auto& test : group.at("tests").get_array()) {
            if (!schema || !schema->notes().empty()) {
                ++tally.refused;  // another document, or a pattern that RE2 does not know
                continue;
            }
            const bool valid = schema->validate(test.at("data")).empty();
            if (valid == test.at("valid").get_bool()) {
                ++tally.right;
            } else {
                tally.wrong.push_back(path.filename().string() + ": " +
                                      json::serialize(group.at("description")) + ": " +
                                      json::serialize(test.at("description")));
            }
        }
        if (!schema && std::getenv("PATCHBAY_VERBOSE")) {
            std::cout << path.filename().string() << ": " << schema.error().message << "\n";
        }
    }
}

TEST(SchemaSuite, AgreesWithThePublicOne) {
    const char* suite = std::getenv("PATCHBAY_JSON_SCHEMA_SUITE");
    if (!suite) GTEST_SKIP() << "PATCHBAY_JSON_SCHEMA_SUITE names no checkout";
    const std::pair<const char*, const char*> drafts[] = {
        {"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
        {"draft7", "http://json-schema.org/draft-07/schema#"}};
    for (const auto& [draft, dialect] : drafts) {
        Tally tally;
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(fs::path(suite) / "tests" / draft)) {
            if (entry.path().extension() == ".json") files.push_back(entry.path());
        }
        ASSERT_FALSE(files.empty()) << draft;
        std::sort(files.begin(), files.end());
        for (const auto& file : files) run(file, dialect, tally);
        for (const auto& each : tally.wrong) ADD_FAILURE() << draft << " " << each;
        std::cout << draft << ": " << tally.right << " right, " << tally.wrong.size() << " wrong, "
                  << tally.refused << " refused\n";
        EXPECT_LT(tally.refused * 10, tally.right);
    }
}

}  // namespace
}  // namespace patchbay::protocol
