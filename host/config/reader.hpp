// Bytes of a configuration file to a tree of Nodes. Files are untrusted: every reader bounds size,
// depth and the number of values, refuses duplicate keys, NUL and broken UTF-8, and never throws.
//
// Threads: [any], pure.
#pragma once

#include "config/node.hpp"
#include "config/rule_ids.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::config {

inline constexpr std::size_t kFileBytes = 1u << 20;
inline constexpr std::size_t kFileDepth = 64;       // of tables and lists; the file itself is 1
inline constexpr std::size_t kFileNodes = 100'000;  // values after YAML aliases are expanded

// How much of a file is read; a configuration of ours unless somebody says otherwise.
struct Bounds {
    std::size_t bytes = kFileBytes;
    std::size_t nodes = kFileNodes;
};

enum class Format { Toml, Yaml, Json };
// Every suffix that is looked for where files have a given name, and read wherever one is named.
inline constexpr std::array<std::pair<std::string_view, Format>, 5> kSuffixes = {{
    {".toml", Format::Toml},
    {".yaml", Format::Yaml},
    {".yml", Format::Yaml},
    {".json", Format::Json},
    {".jsonc", Format::Json},
}};
// By the suffix of the file name, in any case; nothing for other suffixes.
std::optional<Format> format_of(std::string_view path);

// What is wrong with a file, and where.
struct Problem {
    Mark mark;
    std::string message;  // "not TOML: ...", "the key "a" was already given at line 3, column 1"
    RuleId rule = RuleId::SyntaxError;
};

// Either a tree (always a Map) or a problem; an empty file is an empty Map.
struct Parsed {
    Node root;
    std::optional<Problem> problem;
};
Parsed parse(std::string_view text, Format format, const Bounds& bounds = {});

// Behind parse(), which has checked size and encoding; each in a file of its own.
Parsed parse_toml(std::string_view text, const Bounds& bounds = {});
Parsed parse_yaml(std::string_view text, const Bounds& bounds = {});
// With // and /* */ comments and trailing commas.
Parsed parse_json(std::string_view text, const Bounds& bounds = {});

// The problems all formats share.
Problem too_deep(Mark mark);
Problem too_many_values(Mark mark, const Bounds& bounds);
Problem given_twice(std::string_view key, Mark first, Mark second);
Problem not_a_table(const Node& root);

}  // namespace patchbay::config
