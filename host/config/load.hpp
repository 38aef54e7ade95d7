// From files, environment and flags to a Config: find the sources, read each into a Fragment, merge
// purely, compile. See merge.hpp for the rules.
//
// Threads: [any]; blocks for the disk. Errors: diagnostics of the Config, with their place.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"
#include "core/secrets.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

// The secrets that this user keeps by name: what `${secret:NAME}` leads to. Both block.
struct StoredSecrets {
    std::function<Result<std::string>(const std::string& name)> read;
    std::function<Result<void>(const std::string& name)> check;  // whether there is one
};

class ClientFiles;  // followed.hpp
class ParsedTexts;  // parsed_texts.hpp

// Everything the outside world contributes, so that tests can bring their own.
struct Environment {
    std::string working_directory;
    std::string home;         // where the project search stops
    std::string config_home;  // $XDG_CONFIG_HOME or ~/.config
    std::string enterprise_directory = "/etc/patchbay";
    std::vector<std::string> config_files;  // --config FILE, in order
    std::vector<std::string> sets;          // --set key=value, in order
    std::string log_level;                  // --log-level; empty: not given
    // Servers of the files of this scope alone, with what an enterprise file says of them; none: of all.
    std::optional<Scope> servers_of;
    // getenv, or a fake. Empty optional: not set.
    std::function<std::optional<std::string>(const std::string&)> variable;
    StoredSecrets stored_secrets;  // empty: there are none here
    // Takes what secret references hold, and masks it as long as it lives; null: core::log::mask.
    core::Secrets* secrets = nullptr;
    const ClientFiles* client_files = nullptr;  // null: nobody knows any, so [import] follows none
    // Of one command, on one thread: what it reads again is not parsed again. Null: it is.
    std::shared_ptr<ParsedTexts> parsed = {};

    static Environment of_this_process();
};

// One place that was looked at; for `config paths`.
struct Candidate {
    Scope scope;
    std::string path;
    enum class Found { Absent, Read, Unreadable, Broken, Ignored } found = Found::Absent;
    std::string note;  // why it was ignored or broken
};

struct PluginFragment {  // [servers.*] of one plugin manifest
    std::string manifest_path;
    std::string text;  // the manifest, TOML
};

struct Loaded {
    Config config;
    std::vector<Candidate> candidates;  // in order of search, strongest last
    // The folder that the files of a project speak for which were read, ours or a client's; empty: none was.
    std::string project;
};

// Which definitions of a checkout this user has approved. Implemented by whoever keeps the record.
class Approvals {
public:
    virtual ~Approvals() = default;
    virtual bool approved(const Proposal& proposal) const = 0;
    // Whether where its command leads to matters: one that nobody is shown and nobody has ever approved needs no
    // search of PATH.
    virtual bool looks_for_program(const Proposal&) const { return true; }
    // The id of the plugin that provides a transport, empty when there is none: it is part of what
    // is approved.
    virtual std::string plugin_of(const std::string& transport) const = 0;
    // The same of an auth method.
    virtual std::string plugin_of_auth(const std::string& method) const = 0;
};

// Never fails as a whole: what is broken is a diagnostic, and the rest is loaded. Without
// `approvals` nothing of a project or local file is approved.
Loaded load(const Environment& environment, const std::vector<PluginFragment>& plugins = {},
            const Approvals* approvals = nullptr);

// What `path` means in `scope`, with what is weaker or as strong as it, as if all of it were approved;
// for `config check FILE`. Diagnostics are those of all these files.
Config check_file(const std::string& path, Scope scope, const Environment& environment,
                  const std::vector<PluginFragment>& plugins = {});
// The same were `text` in that file.
Config check_text(std::string_view text, const std::string& path, Scope scope,
                  const Environment& environment, const std::vector<PluginFragment>& plugins = {});

// Judges settings by a plugin's JSON Schema: one sentence for each thing that is wrong. This room
// may not include `protocol`, which has the validator; the app joins them. A schema is compiled
// once, for however many servers.
using SettingsValidator = std::function<std::vector<std::string>(const boost::json::object&)>;
using SchemaCompiler = std::function<SettingsValidator(const boost::json::value& schema)>;

// The second pass, when plugins are known. Unknown transports and settings that the plugin's schema
// refuses are errors, and those servers leave `config.servers`. A setting the schema does not name
// is a warning with the nearest name, and is dropped. Settings that still hold `${...}` are judged
// by name only. Without a compiler only names are judged.
void check_transports(Config& config, const std::vector<KnownTransport>& known,
                      const SchemaCompiler& compiler = {});

// `${VAR}`, `${VAR:-default}`, `$${` and secret references in the settings of `server` (command,
// args, cwd, env, url, headers), once, at connect time. The error names the missing variable.
// Denied: the command of an approved server leads to another file now (Server::program).
// Values that came from secret references or from variables that look like secrets are masked in
// logs: Environment::secrets. Blocks its caller for as long as files and programs take; a request
// to stop ends those programs.
Result<boost::json::object> expand(const Server& server, const Environment& environment,
                                   const std::stop_token& stop = {});
// The same for every text in the settings of the [auth.*] table that `server` names; its place and its
// program are those of that table.
Result<boost::json::object> expand_auth(const Server& server, const boost::json::object& settings,
                                        const Environment& environment,
                                        const std::stop_token& stop = {});
// What no environment could expand in the settings of `server`, a reference that is not closed or not
// allowed where it stands; empty: nothing. Pure.
std::string fault_of_references(const Server& server);
// A warning for each variable, file and secret that a `${...}` of an enabled server, or of the [auth.*] table that
// it names, leads to and that is not here. For whoever asks what would not work, as check_programs().
// Runs nothing; blocks for files.
void check_references(Config& config, const Environment& environment);
// Whether expanding these settings, the server's own or those of its [auth.*] table, reads a file,
// fetches a secret or runs a program: then it is work for a thread that may wait.
bool expansion_waits(const boost::json::object& settings);

}  // namespace patchbay::config
