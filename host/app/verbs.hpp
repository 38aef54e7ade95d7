// What the command line can do. Every verb prints data to stdout, the rest to stderr, and returns
// an exit code.
//
// Threads: the calling one, which runs the loop. Errors: told on stderr; the code says the kind.
#pragma once

#include "core/result.hpp"

#include <optional>
#include <string>
#include <vector>

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
    bool json = false;
    bool quiet = false;  // no warnings
};

struct CallOptions {
    std::string name;
    std::vector<std::string> pairs;  // key=value, key:=json
    std::string arguments;           // JSON, @FILE or -
    double timeout_seconds = 0;      // 0: the server's
    std::string output_directory = ".";
    bool raw = false;
};

struct CompleteOptions {
    std::string prompt, resource;      // one of them: a prompt's name, a template's URI
    std::string server;                // empty: the one that lists it
    std::string pair;                  // ARGUMENT=WHAT IS TYPED SO FAR
    std::vector<std::string> context;  // key=value of arguments that are settled
};

struct TrustOptions {
    std::vector<std::string> ids;
    bool yes = false;  // nobody is asked
    bool revoke = false;
};

int status_verb(const GlobalOptions& global, const std::string& server);
int list_verb(const GlobalOptions& global);
int logs_verb(const GlobalOptions& global, const std::string& server, std::size_t lines);
int tools_verb(const GlobalOptions& global, const std::string& pattern, const std::string& server,
               bool schema);
int call_verb(const GlobalOptions& global, const CallOptions& call);
// kind: "resources" or "templates" or "prompts"
int things_verb(const GlobalOptions& global, const std::string& kind, const std::string& server);
int read_resource_verb(const GlobalOptions& global, const std::string& uri,
                       const std::string& server, const std::string& output_directory);
int get_prompt_verb(const GlobalOptions& global, const std::string& name, const std::string& server,
                    const std::vector<std::string>& pairs, const std::string& output_directory);
int complete_verb(const GlobalOptions& global, const CompleteOptions& complete);
// no_browser: shows the address and reads the redirect. scope empty: the method's choice.
int login_verb(const GlobalOptions& global, const std::string& server, bool no_browser,
               const std::string& scope);
int logout_verb(const GlobalOptions& global, const std::string& server);
int auth_verb(const GlobalOptions& global);
// sign_in: a browser may be opened for a server that asks for it.
int batch_verb(const GlobalOptions& global, const std::string& file, bool sign_in);
int trust_verb(const GlobalOptions& global, const TrustOptions& options);
int config_show_verb(const GlobalOptions& global, bool origins);
int config_check_verb(const GlobalOptions& global, const std::string& file);
int config_paths_verb(const GlobalOptions& global);
// remember: keeps what is read now to be compared with later.
int config_plan_verb(const GlobalOptions& global, bool remember);
int plugin_list_verb(const GlobalOptions& global);
int plugin_info_verb(const GlobalOptions& global, const std::string& name);
int plugin_doctor_verb(const GlobalOptions& global, bool load);

}  // namespace patchbay::app
