// Which file a server's command leads to: what is approved is that file, not a name for it.
//
// Threads: [any]. Looks for files, opens none.
#pragma once

#include "config/load.hpp"
#include "config/node.hpp"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace patchbay::config {

struct Launch {
    std::string command;
    std::optional<std::string> path;  // PATH of its `env`; absent: ours
    std::string cwd;                  // as written
    std::string folder;               // of the file it is written in: relative paths begin there
    bool expands = true;              // false: a `${...}` stands for itself
};

// As a server's entry, with its `expand`, or an [auth.*] table writes it; nothing: it starts no
// program.
std::optional<Launch> launch_of_server(const Node& body, std::string folder);
std::optional<Launch> launch_of_table(const Node& body, std::string folder);
// As it is about to be started, everything expanded; a table's command may be a list.
std::optional<Launch> launch_of(const boost::json::object& settings);

// The file behind all links. Empty: there is none, at its path or in any folder of PATH. No value: a
// `${...}` decides about it.
std::optional<std::string> program_of(const Launch& launch, const Environment& environment);

// Why it cannot be started; empty: it can, or a `${...}` decides.
std::string fault_of_program(const Launch& launch, const Environment& environment);

// What one reading looks for: each command once, however many servers have it. Borrows `environment`.
class ProgramSearch {
public:
    struct Found {
        std::optional<std::string> program;  // as program_of() has it
        std::string fault;                   // as fault_of_program() has it
    };
    explicit ProgramSearch(const Environment& environment) : environment_(environment) {}
    const Found& look(const Launch& launch);

private:
    using Key = std::tuple<std::string, std::optional<std::string>, std::string, std::string, bool>;
    const Environment& environment_;
    std::map<Key, Found> found_;
};

// A warning for each enabled server whose program or `cwd` is not here, unless a `${...}` decides. For
// whoever asks what would not work: a start says it by itself, and a file may be meant for another
// machine.
void check_programs(Config& config, const Environment& environment);

// Of a program that ended at once: an argument that is a file beside the configuration, while the
// program was started somewhere else. Empty: there is none.
std::string hint_of_cwd(const Server& server);

}  // namespace patchbay::config
