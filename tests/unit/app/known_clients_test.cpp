// Where clients keep their files, on each platform: data, which needs no such platform to be judged.
#include "app/known_clients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace patchbay::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Places : public testing::Test {
protected:
    Places() {
        environment.home = "~";
        environment.config_home = "~/.config";
        environment.variable = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
        };
    }
    std::string of(const char* client, Platform platform) const {
        return file_of(*find_client(client), environment, platform);
    }

    config::Environment environment;
    std::map<std::string, std::string> variables;
};

TEST_F(Places, AreThoseOfTheTableInTheReadme) {
    std::ifstream readme(std::string(PATCHBAY_SOURCE_DIR) + "/config/README.md");
    std::vector<std::string> told, known;
    bool there = false;
    for (std::string line; std::getline(readme, line);) {
        there = there ? line.starts_with('|')
                      : line == "| client | Linux | macOS | Windows | moved by |";
        if (there && line.starts_with("| `")) told.push_back(line);
    }
    for (const auto& client : known_clients()) {
        std::string row = "| `" + std::string(client.id) + "` | ";
        for (const auto platform : {Platform::Linux, Platform::MacOs})
            row += "`" + of(client.id, platform) + "` | ";
        // As a share of another machine, which is a whole path there.
        variables = {{"USERPROFILE", R"(\\%USERPROFILE%)"}, {"APPDATA", R"(\\%APPDATA%)"}};
        row += "`" + of(client.id, Platform::Windows).substr(2) + "` | ";
        variables.clear();
        known.push_back(row + (client.variable ? "`" + std::string(client.variable) + "` |" : "|"));
    }
    EXPECT_EQ(told, known);
}

TEST_F(Places, OnMacOsOfApplicationsAreInTheLibraryAndOfProgramsOfTheTerminalInTheHome) {
    environment.home = "/Users/ann";
    environment.config_home = "/Users/ann/.config";
    EXPECT_EQ(of("claude-desktop", Platform::MacOs),
              "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json");
    EXPECT_EQ(of("vscode", Platform::MacOs),
              "/Users/ann/Library/Application Support/Code/User/mcp.json");
    EXPECT_EQ(of("claude", Platform::MacOs), "/Users/ann/.claude.json");
    environment.config_home = "/Volumes/x/config";
    EXPECT_EQ(of("goose", Platform::MacOs), "/Volumes/x/config/goose/config.yaml");
    EXPECT_EQ(of("zed", Platform::MacOs), "/Users/ann/.config/zed/settings.json")
        << "it asks for XDG_CONFIG_HOME on Linux alone";
}

TEST_F(Places, OnWindowsBeginAtTheFoldersThatItsVariablesSay) {
    environment.home = "/home/ann";
    variables = {{"USERPROFILE", R"(C:\Users\ann)"}, {"APPDATA", R"(D:\Roaming)"}};
    EXPECT_EQ(of("codex", Platform::Windows), R"(C:\Users\ann/.codex/config.toml)");
    EXPECT_EQ(of("goose", Platform::Windows), R"(D:\Roaming/Block/goose/config/config.yaml)");
    EXPECT_EQ(of("opencode", Platform::Windows), R"(C:\Users\ann/.config/opencode/opencode.json)");
    variables.erase("APPDATA");
    EXPECT_EQ(of("zed", Platform::Windows), R"(C:\Users\ann/AppData/Roaming/Zed/settings.json)");
    variables.clear();
    EXPECT_EQ(of("codex", Platform::Windows), "/home/ann/.codex/config.toml");
}

TEST_F(Places, AreMovedByAWholePathAndByNoOther) {
    environment.home = "/home/ann";
    variables = {{"CODEX_HOME", "/elsewhere"}};
    EXPECT_EQ(of("codex", Platform::Linux), "/elsewhere/config.toml");
    EXPECT_EQ(of("codex", Platform::MacOs), "/elsewhere/config.toml");
    variables = {{"CODEX_HOME", "elsewhere"}};
    for (const auto platform : {Platform::Linux, Platform::MacOs, Platform::Windows})
        EXPECT_EQ(of("codex", platform), "/home/ann/.codex/config.toml");
    variables = {{"CODEX_HOME", R"(E:\codex)"}};
    EXPECT_EQ(of("codex", Platform::Windows), R"(E:\codex/config.toml)");
    EXPECT_EQ(of("codex", Platform::Linux), "/home/ann/.codex/config.toml");
}

TEST_F(Places, AreUnknownWithoutAHome) {
    environment.home.clear();
    environment.config_home.clear();
    for (const auto& client : known_clients())
        for (const auto platform : {Platform::Linux, Platform::MacOs, Platform::Windows}) {
            EXPECT_THAT(file_of(client, environment, platform), IsEmpty()) << client.id;
            EXPECT_THAT(profile_files_of(client, environment, platform), IsEmpty()) << client.id;
        }
}

TEST_F(Places, OfTwoFoldersTheOneThatHasTheFileCounts) {
    namespace fs = std::filesystem;
    auto pattern = (fs::temp_directory_path() / "patchbay-places-XXXXXX").string();
    const fs::path home = ::mkdtemp(pattern.data());
    environment.home = home;
    environment.config_home = home / ".config";
    const auto usual = home / ".cline/data/settings/cline_mcp_settings.json";
    EXPECT_EQ(of("cline", Platform::MacOs), usual);
    const auto older = home /
                       "Library/Application Support/Code/User/globalStorage"
                       "/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
    fs::create_directories(older.parent_path());
    std::ofstream(older) << "{}";
    EXPECT_EQ(of("cline", Platform::MacOs), older);
    EXPECT_EQ(of("cline", Platform::Linux), usual);
    const auto profile = home / "Library/Application Support/Code/User/profiles/a/mcp.json";
    fs::create_directories(profile.parent_path());
    std::ofstream(profile) << "{}";
    EXPECT_THAT(profile_files_of(*find_client("vscode"), environment, Platform::MacOs),
                ElementsAre(profile.string()));
    fs::remove_all(home);
}

}  // namespace
}  // namespace patchbay::app
