// A home with the files of clients that `patchbay connect` writes.
//
// Threads: one. Errors: what does not start or end is reported by gtest.
#pragma once

#include "integration/home.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace patchbay::test {

namespace fs = std::filesystem;

class Connect : public ::testing::Test {
protected:
    // Below the home, which has its configuration in `config`.
    std::string file(const std::string& name) const { return (home.root() / name).string(); }
    std::string text(const std::string& name) const { return read_file(home.root() / name); }
    std::string put(const std::string& name, std::string_view text) const {
        fs::create_directories((home.root() / name).parent_path());
        std::ofstream(home.root() / name, std::ios::binary) << text;
        return file(name);
    }
    Outcome connect(Words words) const {
        words.insert(words.begin(), "connect");
        return home.run(std::move(words));
    }
    // Every file there is, with its text.
    std::map<std::string, std::string> all() const {
        std::map<std::string, std::string> found;
        for (const auto& each : fs::recursive_directory_iterator(home.root()))
            found[each.path()] = each.is_regular_file() ? read_file(each.path()) : "";
        return found;
    }
    static mode_t mode_of(const std::string& path) {
        struct stat info {};
        return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
    }

    Home home;
    const std::string program = built("bin/patchbay");
};

}  // namespace patchbay::test
