// What the index of a checkout says is tracked, in each of its versions, and in files that are none.
#include "config/git_index.hpp"

#include "support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace patchbay::config {
namespace {

namespace fs = std::filesystem;

std::string number(std::size_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
}

// As git writes it; `extended`: with the second half of the flags.
std::string index_of(int version, const std::vector<std::string>& paths, std::size_t hash = 20,
                     bool extended = false) {
    std::string text =
        "DIRC" + number(static_cast<std::size_t>(version), 4) + number(paths.size(), 4);
    std::string before;
    for (const auto& path : paths) {
        std::string entry(40 + hash, 'x');
        entry += number(path.size() | (extended ? 0x4000u : 0u), 2);
        if (extended) entry += std::string(2, '\0');
        if (version == 4) {
            std::size_t same = 0;
            while (same < before.size() && same < path.size() && before[same] == path[same]) ++same;
            const auto stripped = before.size() - same;
            if (stripped >= 128) entry += static_cast<char>(0x80 | ((stripped >> 7) - 1));
            entry += static_cast<char>(stripped & 0x7f);
            entry += path.substr(same) + '\0';
            before = path;
        } else {
            entry += path;
            entry += std::string(8 - entry.size() % 8, '\0');
        }
        text += entry;
    }
    return text + std::string(hash, 'c');
}

TEST(GitIndex, FindsWhatIsTrackedInEachVersion) {
    const std::string deep(200, 'd');
    const std::vector<std::string> paths{".mcp.json", deep + "/a", "host/a.cpp", "host/ab", "z"};
    for (const int version : {2, 3, 4})
        for (const std::size_t hash : {20u, 32u})
            for (const bool extended : {false, true}) {
                if (extended && version == 2) continue;
                const auto index = index_of(version, paths, hash, extended);
                for (const auto& path : paths)
                    EXPECT_TRUE(index_has(index, path)) << version << ' ' << hash << ' ' << path;
                for (const auto* other : {"host/a", "mcp.json", "host", "", "zz"})
                    EXPECT_FALSE(index_has(index, other)) << version << ' ' << other;
            }
}

TEST(GitIndex, WhatIsNoIndexTracksNothing) {
    const auto index = index_of(2, {"a", "b"});
    for (std::size_t size = 0; size < 70; ++size)
        EXPECT_FALSE(index_has(index.substr(0, size), "a")) << size;
    EXPECT_FALSE(index_has("DIRC" + number(5, 4) + index.substr(8), "a"));
    // A version 4 that takes away more than there is, or without end.
    const auto whole = index_of(4, {"a"});
    auto wrong = whole;
    wrong[12 + 62] = '\x05';
    EXPECT_FALSE(index_has(wrong, "a"));
    EXPECT_FALSE(index_has(whole.substr(0, 12 + 62) + std::string(4096, '\xff'), "a"));
}

TEST(GitIndex, IsFoundAboveTheFileAlsoOfAWorktree) {
    const test::ScratchFolder folder;
    const auto write = [](const fs::path& file, const std::string& text) {
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
    };
    const fs::path top = fs::path(folder.path()) / "repo";
    write(top / ".git/index", index_of(2, {".mcp.json", "sub/config.toml"}));
    write(top / "sub/config.toml", "");
    EXPECT_TRUE(git_tracks(top / ".mcp.json"));
    EXPECT_TRUE(git_tracks(top / "sub/config.toml"));
    EXPECT_FALSE(git_tracks(top / "sub/other"));
    const fs::path tree = fs::path(folder.path()) / "tree";
    write(tree / ".git", "gitdir: ../repo/.git/worktrees/tree\n");
    write(top / ".git/worktrees/tree/index", index_of(2, {"own"}));
    EXPECT_TRUE(git_tracks(tree / "own"));
    EXPECT_FALSE(git_tracks(tree / ".mcp.json"));
    EXPECT_FALSE(git_tracks(fs::path(folder.path()) / "nowhere"));
}

}  // namespace
}  // namespace patchbay::config
