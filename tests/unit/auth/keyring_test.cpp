// The Secret Service behind a secret-tool of our own making: one that keeps what it is told in a
// file, one that hangs, and none at all.
#include "auth/secret_store.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace patchbay::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr const char* kKeeps = R"(#!/bin/sh
case "$1" in
store) cat > "$KEYRING_FILE"; echo "$@" > "$KEYRING_FILE.argv" ;;
lookup) cat "$KEYRING_FILE" 2>/dev/null ;;
clear) rm -f "$KEYRING_FILE" ;;
esac
)";

class KeyringTest : public ::testing::Test {
protected:
    ~KeyringTest() override { ::setenv("PATH", path_.c_str(), 1); }
    // Empty: there is no such program.
    void use_tool(const std::string& script) {
        if (!script.empty()) ::chmod(folder.write("bin/secret-tool", script).c_str(), 0700);
        ::setenv("PATH", (folder.path() + "/bin" + (script.empty() ? "" : ":" + path_)).c_str(), 1);
        ::setenv("KEYRING_FILE", (folder.path() + "/kept").c_str(), 1);
    }
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    void put(const std::string& record) {
        bool done = false;
        store.put("mine", "demo", record, [&](Result<void> told) {
            EXPECT_TRUE(told) << told.error().message;
            done = true;
        });
        ASSERT_TRUE(until([&] { return done; }));
    }
    std::string get() {
        std::optional<Result<std::string>> outcome;
        store.get("mine", "demo", [&](Result<std::string> told) { outcome = told; });
        EXPECT_TRUE(until([&] { return outcome.has_value(); }));
        return *outcome ? **outcome : outcome->error().message;
    }
    std::string in_file() { return test::read_file(folder.path() + "/state/mcp-auth.json"); }

    const std::string path_ = std::getenv("PATH");
    const test::PluginFolder folder;
    core::Loop loop;
    SecretStore store{loop, folder.path() + "/state", std::make_unique<Keyring>()};
};

TEST_F(KeyringTest, KeepsSecretsOutOfTheFileAndOutOfEveryCommandLine) {
    use_tool(kKeeps);
    put(R"({"access_token":"top-secret","scope":"a","expires_at":5})");
    EXPECT_THAT(in_file(), Not(HasSubstr("top-secret")));
    EXPECT_THAT(in_file(), HasSubstr("\"scope\":\"a\""));
    EXPECT_THAT(test::read_file(folder.path() + "/kept.argv"), Not(HasSubstr("top-secret")));
    EXPECT_THAT(get(), HasSubstr("\"access_token\":\"top-secret\""));
    EXPECT_THAT(get(), HasSubstr("\"scope\":\"a\""));
    put("");
    EXPECT_EQ(get(), "");
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/kept"));
}

TEST_F(KeyringTest, FallsBackToTheFileWhenTheServiceHangs) {
    use_tool("#!/bin/sh\nexec sleep 60\n");
    ::testing::internal::CaptureStderr();
    put(R"({"access_token":"top-secret"})");
    const auto said = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("no answer within 2 s"));
    EXPECT_THAT(said, HasSubstr("it is kept in " + folder.path() + "/state/mcp-auth.json"));
    EXPECT_THAT(in_file(), HasSubstr("top-secret"));
    EXPECT_THAT(get(), HasSubstr("top-secret")) << "and is read from there without the service";
}

TEST_F(KeyringTest, FallsBackToTheFileWhenThereIsNoSuchProgram) {
    use_tool("");
    put(R"({"access_token":"top-secret"})");
    EXPECT_THAT(get(), HasSubstr("top-secret"));
}

}  // namespace
}  // namespace patchbay::auth
