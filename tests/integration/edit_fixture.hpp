// A home in which the verbs are run that change servers in the files of scopes.
//
// Threads: one. Errors: what does not start or end is reported by gtest.
#pragma once

#include "integration/home.hpp"

#include <filesystem>
#include <string>
#include <utility>

namespace patchbay::test {

namespace fs = std::filesystem;
using ::testing::AnyOf;

class EditVerbs : public ::testing::Test {
protected:
    Outcome edit(Words words, std::string input = {}) {
        words.insert(words.begin(), "mcp");
        return home.run(std::move(words), std::move(input));
    }
    Words example(Words words) const {
        words.insert(words.end(), {"--", example_server()});
        return words;
    }
    std::string text(const std::string& file) const { return read_file(home.work() / file); }
    bool works(const std::string& id) {
        return home.run({"call", "mcp__" + id + "__echo", "message=hi"}).exit_code == 0;
    }
    Home home;
    const std::string project = ".patchbay/config.toml";
};

}  // namespace patchbay::test
