// The clients that `patchbay connect` and `import` know: where each keeps its MCP servers on each platform, and in
// which words. One row a client, with the page that says so; a new client is a new row.
//
// The functions of a row (`program`, `url`, `restate`, EntryWords::sse) are pure and know nothing of files: who writes
// an entry into a client's file is client_entry, who writes it for one run given_file, and who reads one
// foreign_servers. What a client does not say in its documentation is not in its row, even where it is known to work.
//
// Threads: [any]; looks at which of a client's files are there. Where a client looks is told by the environment, as the
//          client itself does it.
// Errors:  none; a place that nobody knows is an empty path.
// Source:  KnownClient::source of each; config/README.md has the table of places, which a test holds against this one.
#pragma once

#include "config/edit/edit.hpp"
#include "config/load.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

enum class Platform { Linux, MacOs, Windows };
#if defined(__APPLE__)
inline constexpr auto kThisPlatform = Platform::MacOs;
#elif defined(_WIN32)
inline constexpr auto kThisPlatform = Platform::Windows;
#else
inline constexpr auto kThisPlatform = Platform::Linux;
#endif

// Home: $HOME, %USERPROFILE%. Config: $XDG_CONFIG_HOME or ~/.config, of programs that keep to it on every platform.
// Applications: where those of the platform have their settings; as Config on Linux, else
// ~/Library/Application Support or %APPDATA%.
enum class Base { Home, Config, Applications };
struct ClientFolder {
    Base base;
    const char* name;  // below it; empty: itself
};
using ClientFolders = std::array<ClientFolder, 3>;  // by Platform

// What a client starts.
struct Launch {
    std::string entry;  // its name there
    std::string command;
    std::vector<std::string> arguments;
    // Of an entry with a URL, where it is to send a token: the variable that has it, and the header in
    // the client's words for that; empty: none.
    std::string token_variable = {}, authorization = {};
};

// What it reads of an entry beside its program or URL, and how it is told of a file for one run; null: it does not, as
// far as its documentation says.
struct EntryWords {
    const char* env = "env";
    const char* cwd = nullptr;
    const char* headers = "headers";
    const char* tools = nullptr;  // a list of the names of those that it is to use
    // An entry for a URL of HTTP with SSE; null: the client does not speak it.
    boost::json::object (*sse)(const Launch& launch, const std::string& url) = nullptr;
    // Where it reads KnownClient::reference. Codex has keys of their own for what is a variable and nothing else.
    enum class Variables { Headers, Everywhere, ByName } variables = Variables::Everywhere;
    bool defaults = false;  // `${NAME:-default}` too
    const char* opening =
        nullptr;  // of what it takes for a variable, where that is not how a reference begins
    const char* run = nullptr;                // its program
    std::vector<const char*> run_words = {};  // for that, with {config} for the file
    const char* run_variable = nullptr;       // has the file
    bool run_in_folder =
        false;  // the variable has the folder of the file, which is all that it reads
    // What it starts gets but a few of its own variables (HOME, PATH, the language), and `env`.
    bool drops_variables = false;
};

struct KnownClient {
    const char* id;     // as it is written on the command line
    const char* title;  // as people know it
    config::Format format;
    // Its own file for all that a person does: `variable` has its folder, else it is the first of `folders`
    // that has one. Of several names the first that is there counts; where none is, the first in the first folder.
    const char* variable;  // null: none moves it
    std::vector<ClientFolders> folders;
    std::vector<const char*> files;
    std::vector<const char*>
        project_files;  // below the project's folder; none: it has no such file
    const char*
        profiles;  // below its folder, one folder each, with files as above; null: it has none
    // Tables from the top of the file to that of the servers; the first that is there counts, else the
    // first.
    std::vector<config::edit::Path> tables;
    boost::json::object (*program)(const Launch& launch);
    // An entry for a URL of Streamable HTTP; null: the client takes none from its file.
    boost::json::object (*url)(const Launch& launch, const std::string& url);
    // An entry in its words, in ours; null: they are those of a dialect that files of ours may have too.
    Result<boost::json::object> (*restate)(boost::json::object entry);
    // How it reads a variable in a header of that entry, with * for its name; null: not at all, as far as
    // its documentation says.
    const char* reference;
    const char* source;  // the documentation that says all this
    EntryWords words = {};
};

std::span<const KnownClient> known_clients();
const KnownClient* find_client(std::string_view id);  // null: none

// "stdio", "http" and "sse", as far as it takes them from its file.
std::vector<std::string> transports_of(const KnownClient& client);

// Where its file is, or would be. Empty: nobody knows, as there is no home.
std::string file_of(const KnownClient& client, const config::Environment& environment,
                    Platform platform = kThisPlatform);
// Those of its profiles that are there, by name.
std::vector<std::string> profile_files_of(const KnownClient& client,
                                          const config::Environment& environment,
                                          Platform platform = kThisPlatform);
// The same of a project's folder; empty: it has no such file.
std::string project_file_of(const KnownClient& client, const std::string& folder);
// Of a file that says `root`.
const config::edit::Path& table_of(const KnownClient& client, const boost::json::object& root);

// Whether an entry, of whichever client, starts `patchbay serve`: by that name, or by the path `self`.
bool runs_patchbay(const boost::json::value& entry, const std::string& self);

}  // namespace patchbay::app
