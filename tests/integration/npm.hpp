// Servers and clients that come from npm (scripts/dev/npm_servers). Without them a test that needs them says so
// and is skipped, or fails when PATCHBAY_REQUIRE_NPM=1.
#pragma once

#include "integration/home.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace patchbay::test {

class NpmTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::filesystem::exists(kNode) && std::filesystem::exists(kServers)) return;
        const std::string why =
            "no npm servers in " + kNpm.string() + "; run scripts/dev/npm_servers";
        const char* required = std::getenv("PATCHBAY_REQUIRE_NPM");
        if (required && std::string_view(required) == "1") FAIL() << why;
        GTEST_SKIP() << why;
    }

    // A script that an older installation may not have.
    static std::string needs(const std::filesystem::path& script) {
        EXPECT_TRUE(std::filesystem::exists(script)) << script << "; run scripts/dev/npm_servers";
        return script;
    }

    const std::filesystem::path kNpm = std::filesystem::path(PATCHBAY_SOURCE_DIR) / "build/npm";
    const std::filesystem::path kNode = kNpm / "bin/node";
    const std::filesystem::path kModules = kNpm / "node_modules";
    const std::filesystem::path kServers = kModules / "@modelcontextprotocol";
    Home home;
};

}  // namespace patchbay::test
