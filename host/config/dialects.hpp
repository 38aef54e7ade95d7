// How the files of other programs say what ours say: each dialect differs in where the servers stand,
// in a few key names, and in what its own function below restates. dialects.cpp finds the servers.
//
// Threads: [any], pure.
#pragma once

#include "config/fragment.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay::config {

// Values in one list or table of a file.
inline constexpr std::size_t kMostInOne = 4'096;

enum Dialect : unsigned {
    kOurs = 1,     // [servers]; Lace, ToolLoop and Kandev files are the same with other values
    kCodex = 2,    // [mcp_servers]
    kDesktop = 4,  // mcpServers: Claude, Cursor, Windsurf, Gemini
    kVsCode = 8,   // servers and inputs
    kNested = 16,  // mcp.servers
    kAll = 31,
};

// Tables at the top of a file in which another program has its servers. A program whose entries are like
// those of a dialect above is a row here; one that says a thing in words of its own is a dialect, with
// rows in dialect_keys.cpp for its keys and a function for what no other name says.
struct ForeignTable {
    std::string_view name;
    Dialect dialect;
};
inline constexpr ForeignTable kForeignTables[] = {{"mcp_servers", kCodex},
                                                  {"mcpServers", kDesktop}};

// Renames what the dialect calls otherwise, and leaves out what means nothing here.
void rename(ServerEntry& entry, Dialect dialect);
void pass_over_foreign(ServerEntry& entry, Dialect dialect, Fragment& out);

// `out` gets the diagnostics; `root` is the whole file.
void restate_codex(ServerEntry& entry);
void restate_desktop(ServerEntry& entry, Fragment& out);
void restate_vs_code(ServerEntry& entry, const Node& root, const Source& source);

// What `patchbay connect` writes into a client's file, which may be one that we read too: each Patchbay
// would start the next, and that one the next. One with settings of its own is another Patchbay.
bool starts_ourselves(const Node& entry);

// Shared by them. The first reason to refuse an entry is kept.
void refuse(ServerEntry& entry, RuleId rule, Mark mark, std::string why);
void note(Fragment& out, RuleId rule, Severity severity, Mark mark, std::string text);
void replace_all(std::string& text, std::string_view what, std::string_view by);
void folders(ServerEntry& entry, const Source& source);

template <class Change>
void change_texts(Node& node, const Change& change) {
    if (node.is(Node::Kind::Text)) change(node);
    for (auto& item : node.items) change_texts(item, change);
    for (auto& member : node.members) change_texts(member.value, change);
}

}  // namespace patchbay::config
