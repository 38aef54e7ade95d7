// What the command line can do. Every verb prints data to stdout, the rest to stderr, and returns
// an exit code.
//
// Threads: the calling one, which runs the loop. Errors: told on stderr; the code says the kind.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace patchbay::config {
class ParsedTexts;
}

namespace patchbay::app {

enum ExitCode : int {
    kOk = 0,
    kFailure = 1,
    kToolError = 2,  // the tool answered isError
    kUsage = 3,      // wrong words or arguments
    kConfigError = 4,
    kUnavailable = 5,  // a server is not there
    kNotFound = 6,
    kDenied = 7,
    kTimedOut = 8,
    kInterrupted = 130,
    kNobodyReads = 141,  // as a shell tells of who SIGPIPE ended
};
ExitCode exit_code_of(ErrorCode code);

struct GlobalOptions {
    std::vector<std::string> config_files;        // --config
    std::vector<std::string> sets;                // --set
    std::vector<std::string> plugin_directories;  // --plugin-dir
    std::string log_level;                        // --log-level; empty: as configured
    std::string servers_of;  // Environment::servers_of, by its name; empty: all
    bool json = false;
    bool quiet = false;    // no warnings
    bool alone = false;    // no running host is asked
    bool verbose = false;  // says whether one is
    // Environment::parsed of a verb that reads the same files many times, and then ends; null: none.
    std::shared_ptr<config::ParsedTexts> parsed = {};
    bool yes = false;  // of verbs that have it: approves of what a rule wants approved
};
// The same, for one run of such a verb.
GlobalOptions parsing_once(GlobalOptions global);

class Choice;

// Each declares its verbs, with their options and examples, below `app`, and has the choice of them
// noted. In the order of the help.
void add_mcp_verbs(CLI::App& app, Choice& choice);
void add_add_verbs(CLI::App& mcp, Choice& choice);  // add, add-json
void add_remove_verb(CLI::App& mcp, Choice& choice);
void add_presets_verb(CLI::App& mcp, Choice& choice);
void add_get_verb(CLI::App& mcp, Choice& choice);
void add_import_verb(CLI::App& app, Choice& choice);
void add_init_verb(CLI::App& app, Choice& choice);
// What other clients have: all that is the person's, those that they pick, or none. What a checkout has for them goes into
// the project's file, all else into the local one beside it. `taken` gets a line a server, as `import` prints them.
enum class Offer { Nothing, All, Ask };
int offer_import(const GlobalOptions& global, Offer offer, boost::json::array& taken);
void add_undo_verb(CLI::App& config, Choice& choice);
// `mcp list` with --scope: what its files say, whether it counts or not.
int list_of_scope(const GlobalOptions& global, const std::string& scope);
// `mcp enable` and `disable` with --scope: in that scope's file.
int switch_in_file(const GlobalOptions& global, const std::vector<std::string>& servers,
                   const std::string& scope, bool on);
void add_diff_verb(CLI::App& mcp, Choice& choice);
// `trust --tools`: approves what these servers list now, and with --revoke forgets what was approved of them.
struct ToolTrust {
    bool yes = false;      // nobody is asked
    bool refresh = false;  // but the servers
};
int trust_tools(const GlobalOptions& global, const std::vector<std::string>& servers,
                ToolTrust how);
int forget_tools(const GlobalOptions& global, const std::vector<std::string>& servers);
void add_logs_verb(CLI::App& mcp, Choice& choice);
void add_auth_verbs(CLI::App& mcp, Choice& choice);
void add_tool_verbs(CLI::App& app, Choice& choice);
void add_policy_verbs(CLI::App& app, Choice& choice);
void add_why_verb(CLI::App& app, Choice& choice);
void add_thing_verbs(CLI::App& app, Choice& choice);  // resources, prompts, complete
void add_batch_verb(CLI::App& app, Choice& choice);
void add_serve_verb(CLI::App& app, Choice& choice);
void add_run_verb(CLI::App& app, Choice& choice);
void add_events_verb(CLI::App& app, Choice& choice);
void add_host_verbs(CLI::App& app, Choice& choice);
void add_service_verbs(CLI::App& app, Choice& choice);
void add_export_verb(CLI::App& app, Choice& choice);
void add_resolve_verbs(CLI::App& app, Choice& choice);  // resolve, run-agent
void add_connect_verb(CLI::App& app, Choice& choice);
void add_config_verbs(CLI::App& app, Choice& choice);
void add_audit_verbs(CLI::App& app, Choice& choice);
void add_plan_verb(CLI::App& config, Choice& choice);
void add_trust_verb(CLI::App& app, Choice& choice);
void add_secret_verbs(CLI::App& app, Choice& choice);
void add_token_verbs(CLI::App& app, Choice& choice);
void add_plugin_verbs(CLI::App& app, Choice& choice);
void add_completion_verbs(CLI::App& app, Choice& choice);
void add_manual_verb(CLI::App& app, Choice& choice);
// With the whole command line as it is declared.
void with_all_verbs(const std::function<void(const CLI::App&)>& work);

}  // namespace patchbay::app
