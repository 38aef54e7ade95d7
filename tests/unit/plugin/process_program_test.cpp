#include "plugin/services/process_program.hpp"

#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

using namespace patchbay;
using namespace patchbay::plugin;
using testing::HasSubstr;

namespace {

struct ProcessProgram : testing::Test {
    ProcessProgram() {
        folder.write("bin/tool", "#!/bin/sh\n");
        folder.write("bin/data", "no program");
        EXPECT_EQ(::chmod((folder / "bin/tool").c_str(), 0700), 0);
        EXPECT_EQ(::chmod((folder / "bin/data").c_str(), 0600), 0);
    }
    // The path, or why there is none.
    std::string found(const std::string& name, const std::string& path,
                      const std::string& cwd = "") {
        Program program;
        program.argv = {name};
        program.cwd = cwd;
        const auto program_path = find_program(program, {"HOME=/", path});
        return program_path ? *program_path : program_path.error().message;
    }
    const test::PluginFolder folder;
};

TEST_F(ProcessProgram, IsLookedForAsExecWould) {
    const auto bin = folder / "bin";
    EXPECT_EQ(found("tool", "PATH=/none:" + bin), bin + "/tool");
    EXPECT_EQ(found("tool", "PATH=bin", folder.path()), "bin/tool") << "from the cwd";
    EXPECT_EQ(found("sh", "PATH=").substr(0, 1), "/") << "an empty one is none";
    EXPECT_EQ(found("sh", "OTHER=/none").substr(0, 1), "/");
    EXPECT_THAT(found("tool", "PATH=x"), HasSubstr("not found in the 1 folder of PATH"));
    EXPECT_THAT(found("data", "PATH=" + bin + ":/none"),
                HasSubstr("2 folders of PATH; " + bin + "/data is not executable"));
}

TEST_F(ProcessProgram, WithASlashInItsNameIsThatFile) {
    EXPECT_EQ(found(folder / "bin/tool", "PATH=/none"), folder / "bin/tool");
    EXPECT_EQ(found("bin/tool", "PATH=/none", folder.path()), "bin/tool");
    EXPECT_EQ(found(folder / "bin/data", ""),
              "command \"" + (folder / "bin/data") + "\" is not executable (chmod +x?)");
    EXPECT_EQ(found("bin/none", "", folder.path()),
              "command \"" + (folder / "bin/none") + "\": No such file or directory");
}

TEST_F(ProcessProgram, IsRunInADirectoryOnly) {
    EXPECT_EQ(found("tool", "PATH=bin", folder / "none"),
              "working directory (cwd) \"" + (folder / "none") + "\": No such file or directory");
    EXPECT_EQ(found("tool", "PATH=bin", folder / "bin/data"),
              "working directory (cwd) \"" + (folder / "bin/data") + "\" is not a directory");
    EXPECT_EQ(found("", ""), "command is empty");
}

}  // namespace
