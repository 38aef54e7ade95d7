// Secrets that a person keeps by name: in the file, behind a secret-tool of our own making, and in files that
// somebody else has written.
#include "auth/named_secrets.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/stat.h>

namespace patchbay::auth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr core::Calendar::time_point kNow{std::chrono::seconds(1'790'000'000)};

class NamedSecretsTest : public ::testing::Test {
protected:
    NamedSecretsTest() { std::signal(SIGPIPE, SIG_IGN); }
    ~NamedSecretsTest() override {
        std::signal(SIGPIPE, SIG_DFL);
        ::setenv("PATH", path.c_str(), 1);
    }
    std::string text() const {
        std::ifstream file(folder.path() + "/state/mcp-secrets.json");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::string read(const NamedSecrets& of, const std::string& name) const {
        const auto value = of.read(name);
        return value ? *value : "error: " + value.error().message;
    }
    void use_tool(const std::string& script) {
        ::chmod(folder.write("bin/secret-tool", script).c_str(), 0700);
        ::setenv("PATH", (folder.path() + "/bin:" + path).c_str(), 1);
        ::setenv("KEYRING_FILE", (folder.path() + "/kept").c_str(), 1);
    }

    const std::string path = std::getenv("PATH");
    const test::PluginFolder folder;
    const std::string state = folder.path() + "/state";
    const NamedSecrets secrets{state, nullptr};
};

TEST_F(NamedSecretsTest, KeepsReplacesListsAndForgets) {
    ASSERT_TRUE(secrets.write("b.token", "two", kNow));
    ASSERT_TRUE(secrets.write("a_1", "one\nline", kNow));
    ASSERT_TRUE(secrets.write("b.token", "three", kNow + std::chrono::hours(1)));
    EXPECT_EQ(read(secrets, "a_1"), "one\nline");
    EXPECT_EQ(read(secrets, "b.token"), "three");
    EXPECT_TRUE(secrets.check("a_1"));
    const auto all = secrets.list();
    ASSERT_EQ(all->size(), 2u);
    EXPECT_EQ((*all)[0].name, "a_1");
    EXPECT_EQ((*all)[1].written, kNow + std::chrono::hours(1));
    struct stat about {};
    ASSERT_EQ(::stat((state + "/mcp-secrets.json").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0600u);
    ASSERT_TRUE(secrets.erase("b.token"));
    EXPECT_EQ(read(secrets, "b.token"),
              "error: no secret \"b.token\" is kept; patchbay secret set b.token keeps one");
    EXPECT_THAT(text(), Not(HasSubstr("three")));
    EXPECT_EQ(secrets.erase("b.token").error().code, ErrorCode::NotFound);
}

TEST_F(NamedSecretsTest, WhatIsNoNameOrNoValueIsRefused) {
    for (const auto* name : {"", ".", "..", "a b", "a/b", "../x", "a:b", "\xc3\xa4"})
        EXPECT_EQ(secrets.write(name, "x", kNow).error().code, ErrorCode::Invalid) << name;
    EXPECT_FALSE(secrets.write(std::string(65, 'a'), "x", kNow));
    EXPECT_TRUE(secrets.write(std::string(64, 'a'), "x", kNow));
    for (const auto& value : {std::string(), std::string("a\0b", 3), std::string("\xff"),
                              std::string(NamedSecrets::kValueBytes + 1, 'x')}) {
        const auto refused = secrets.write("a", value, kNow);
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().message, Not(HasSubstr("xxx")));
    }
    EXPECT_TRUE(secrets.write("a", std::string(NamedSecrets::kValueBytes, 'x'), kNow));
}

TEST_F(NamedSecretsTest, TheSecretServiceHasTheValueAndTheFileTheName) {
    use_tool(
        "#!/bin/sh\necho \"$@\" >> \"$KEYRING_FILE.argv\"\ncase \"$1\" in\nstore) cat > "
        "\"$KEYRING_FILE\" ;;\nlookup) cat \"$KEYRING_FILE\" 2>/dev/null ;;\nclear) rm -f "
        "\"$KEYRING_FILE\" ;;\nesac\n");
    const NamedSecrets kept(state, std::make_unique<Keyring>());
    const auto written = kept.write("gh", "s3cret", kNow);
    ASSERT_TRUE(written);
    EXPECT_TRUE(written->in_keyring);
    EXPECT_THAT(text(), AllOf(HasSubstr("\"keyring\":true"), Not(HasSubstr("s3cret"))));
    EXPECT_EQ(read(kept, "gh"), "s3cret");
    EXPECT_THAT(read(secrets, "gh"), HasSubstr("is in the Secret Service; set [secrets] store"));
    EXPECT_FALSE(secrets.erase("gh"));
    std::ifstream argv(folder.path() + "/kept.argv");
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(argv), {}),
                AllOf(HasSubstr("--label=Patchbay: secret gh"), Not(HasSubstr("s3cret"))));
    ASSERT_TRUE(kept.erase("gh"));
    EXPECT_TRUE(kept.list()->empty());
}

TEST_F(NamedSecretsTest, ASecretServiceThatTakesNothingIsToldOfAndTheFileHasIt) {
    use_tool("#!/bin/sh\nexit 1\n");
    const NamedSecrets kept(state, std::make_unique<Keyring>());
    const auto written = kept.write("gh", "s3cret", kNow);
    ASSERT_TRUE(written);
    EXPECT_THAT(written->warning, HasSubstr("it is kept in " + state + "/mcp-secrets.json"));
    EXPECT_EQ(read(secrets, "gh"), "s3cret");
}

TEST_F(NamedSecretsTest, AFileThatMakesNoSenseLosesNothing) {
    const auto write = [&](const std::string& contents) {
        std::ofstream(state + "/mcp-secrets.json") << contents;
    };
    ASSERT_TRUE(secrets.write("a", "x", kNow));
    write(
        R"({"version": 1, "secrets": {"a": 5, "b": {}, "c": {"value": "v", "written_at": -9e18}}})");
    EXPECT_THAT(read(secrets, "a"), HasSubstr("no secret \"a\""));
    EXPECT_THAT(read(secrets, "b"), HasSubstr("holds no value"));
    EXPECT_EQ(read(secrets, "c"), "v");
    EXPECT_EQ(secrets.list()->size(), 2u);
    write(R"({"version": 2, "secrets": {}})");
    EXPECT_FALSE(secrets.write("a", "y", kNow));
    EXPECT_THAT(text(), HasSubstr("\"version\": 2"));
}

}  // namespace
}  // namespace patchbay::auth
