// A folder of one test's own, gone with the object: tests run side by side, and a name that two of
// them use is a test that fails on some days. Its path has no links in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace patchbay::test {

class ScratchFolder {
public:
    ScratchFolder() {
        auto name = (std::filesystem::temp_directory_path() / "patchbay-test-XXXXXX").string();
        if (!::mkdtemp(name.data())) std::abort();
        path_ = std::filesystem::canonical(name).string();
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

}  // namespace patchbay::test
