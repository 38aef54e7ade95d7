#include "core/shell_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace patchbay::core {
namespace {

// What a shell makes of it: one word, or several, or another command's output.
std::string after_the_shell(const std::string& word) {
    const auto command = "printf '<%s>' " + word;
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::array<char, 512> bytes{};
    const auto size = std::fread(bytes.data(), 1, bytes.size(), pipe.get());
    return {bytes.data(), size};
}

TEST(ShellWord, PlainTextStaysAsItIs) {
    for (const auto* text : {"files", "mcp__a__b-c.d", "/home/me/.config/x+y,z@1:2"})
        EXPECT_EQ(shell_word(text), text);
}

TEST(ShellWord, WhateverItHoldsTheShellSeesOneWordAndRunsNothing) {
    for (const std::string text :
         {"a'; echo INJECTED; '", "$(echo x)", "`echo x`", "$HOME", "a b", "*", "~", "", "a\\",
          "\"", "a;b", "#x", "!x", "x=y", "'", "''", "caf\xc3\xa9"})
        EXPECT_EQ(after_the_shell(shell_word(text)), "<" + text + ">") << text;
}

TEST(ShellWord, WhatCannotBeSeenIsNotInIt) {
    EXPECT_EQ(shell_word("a\nb"),
              "'a\xe2\x86\xb5"
              "b'");
}

}  // namespace
}  // namespace patchbay::core
