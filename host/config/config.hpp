// What the rest of the host sees of configuration: plain values, each server with the place it
// came from. Reading and merging are elsewhere in this room (load.hpp); nothing here does I/O.
//
// Source: config/README.md. Threads: [value].
#pragma once

#include "config/rule_ids.hpp"
#include "core/limits.hpp"

#include <boost/json.hpp>

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::config {

// Weakest first; the order is the strength.
// Client: what this person has in the files of other programs that [import] follows; ClientProject: what a
// checkout has in theirs. Both are called "client".
enum class Scope {
    BuiltIn,
    Plugin,
    Client,
    ClientProject,
    User,
    Project,
    Local,
    Session,
    Enterprise
};
const char* name_of(Scope scope);                         // "built-in", "plugin", "user", ...
bool is_followed(Scope scope);                            // of a client's file
std::optional<Scope> scope_named(std::string_view name);  // nothing: none is called so

// Where a value was written. `file` is a path, or "--set", "PATCHBAY_CONFIG_JSON".
struct Place {
    Scope scope = Scope::BuiltIn;
    std::string file;
    unsigned line = 0;    // from 1; 0: unknown
    unsigned column = 0;  // from 1; 0: unknown

    // Typed for this one run: a word that means nothing there is a mistake.
    bool is_flag() const { return scope == Scope::Session && file.starts_with("--"); }
    bool operator==(const Place&) const = default;
};
// `project config .mcp.json:14:16`
std::string to_string(const Place& place);

enum class Severity { Warning, Error };
struct Diagnostic {
    RuleId rule;  // what it is about, whatever the message says
    Severity severity = Severity::Error;
    Place place;
    std::string message;  // `server "github": unknown transport "htpp"; ...`
    std::string server;   // id it concerns; empty: the whole file or a table
    // Servers by nearly that id, when none has it: whoever asks for them should know.
    std::vector<std::string> near = {};
};
std::string to_string(const Diagnostic& diagnostic);    // `error: project config a.toml:1:2: ...`
std::string sentence_of(const Diagnostic& diagnostic);  // without its severity

// Weakest first.
enum class Level {
    Disable,
    Deny,
    RequireApproval,
    AllowOnce,
    AllowSession,
    AllowProject,
    AllowAlways
};
const char* name_of(Level level);  // "require-approval"
std::optional<Level> level_from(std::string_view name);

// In whose words an entry of a server is written. Another program may have keys there that mean
// nothing here; in our own words what nothing reads was meant for this host.
enum class Words { Ours, AnotherPrograms };

// When a server whose connection is lost comes back by itself.
enum class Restart { Never, OnFailure, Always };
const char* name_of(Restart restart);  // "on-failure"

// In milliseconds: what servers get that say nothing.
inline constexpr const char* kStartupTimeoutVariable = "MCP_TIMEOUT";
inline constexpr const char* kToolTimeoutVariable = "MCP_TOOL_TIMEOUT";

struct Server {
    std::string id;
    Place place;
    std::string agent = {};     // whose own it is; empty: everybody's
    Words words = Words::Ours;  // of its definition
    bool enabled = true;
    std::string transport;  // "stdio", "tcp", ...; never empty after merge
    bool local = false;     // a program of this machine, as check_transports() learns of the plugin
    // All settings of the transport itself (command, args, cwd, env, url, host, port, headers and
    // keys only the plugin knows), normalised: command string + args become `command` (string) and
    // `args` (array). Still with ${...} unless `expand` is false: see load.hpp.
    boost::json::object settings;
    bool expand = true;

    std::string auth;  // id of an [auth.*] entry; empty: none
    std::string bearer_token_env_var;
    boost::json::object oauth;  // as written

    std::chrono::milliseconds startup_timeout{60'000};
    std::chrono::milliseconds request_timeout{30'000};
    std::chrono::milliseconds tool_timeout{
        97'200'000};  // 27 h; kToolTimeoutVariable changes the default

    // What set them, for whoever waited so long.
    const char* startup_timeout_from = "startup_timeout_sec";
    const char* request_timeout_from = "request_timeout_ms";
    const char* tool_timeout_from = "tool_timeout_sec";

    std::optional<std::vector<std::string>> enabled_tools;  // raw tool names; absent: all
    std::vector<std::string> disabled_tools;
    std::map<std::string, Level> tools;  // by raw name, or by the beginning of some: levels.hpp
    std::string trust;                   // "", "trusted", "untrusted"
    std::string pins;                    // "", "block", "warn", "off"
    std::string mode;
    bool lazy = false;
    // How long a shared connection that nobody holds is kept; 0: for ever. None: as `lazy` says.
    std::optional<std::chrono::milliseconds> idle_timeout;
    unsigned warm = 0;              // connections that are kept ready for callers to come: 0 or 1
    std::string protocol = "auto";  // or one revision
    std::vector<std::string> fallback;         // transports tried in order
    std::vector<std::string> forward_headers;  // of clients' requests; in lower case
    bool required = false;
    bool check_arguments = true;  // of its tools, by what it says of them, before they are sent
    Restart restart = Restart::OnFailure;

    std::string written;  // the name in the file, where no id could be made of it as it is
    // What was approved as the file that the command leads to, empty when it led to none; no value:
    // nothing was.
    std::optional<std::string> program;
    // Where its rules were written: "enabled", "enabled_tools", "disabled_tools", "tools.NAME",
    // "trust", "pins"; "disabled_tools.NAME" of a tool that another file than the rest disables.
    std::map<std::string, Place> rules;
    const Place& place_of_rule(const std::string& rule) const {
        const auto it = rules.find(rule);
        return it == rules.end() ? place : it->second;
    }
    const Place& place_of_rule(const std::string& rule, std::string_view tool) const {
        const auto it = rules.find(rule + "." + std::string(tool));
        return it == rules.end() ? place_of_rule(rule) : it->second;
    }
    // Of one that is off: what turns it on again, by the key that turns it off and for whoever may.
    std::string turn_on = "set enabled = true";
};
// Of one that is off: `disabled (user config mcp.json:7:1); set enabled = true`
std::string why_disabled(const Server& server);

// A server or an [auth.*] table that a project or local file brings, as a person approves it:
// without that it is inert. approval.hpp says what the digest covers.
struct Proposal {
    std::string id;         // of the server; of a table "auth." and its name
    std::string directory;  // the project's, absolute; with the id the key of an approval
    Place place;
    std::string digest;              // SHA-256 of the definition
    boost::json::object definition;  // whole, as written, with what it leads to
    bool is_table() const { return id.starts_with("auth."); }  // no id of a server has a dot
    std::string waits_for;  // the proposal it needs first: "auth.corp"; empty: none
    bool approved = false;  // itself, as it is now: only what it waits for is not
    // Of Server::program; unbound: it has a command, but `${...}` decides which file that is.
    std::optional<std::string> program = {};
    bool unbound = false;
    // Why it would not work even if it were approved, one sentence each; and what the server would
    // be, for the judges that come later.
    std::vector<Diagnostic> faults = {};
    std::optional<Server> server = {};
};

struct ClientSettings {  // [client]: what we say of ourselves to servers
    std::string name = "patchbay";
    std::string version;  // empty: the host's own
    std::string title;
    std::vector<std::string> roots;  // file:// URIs or paths, offered by roots/list
    // "refuse" (default), "defaults" (accept with the schema's defaults), "fixed", "ask"
    std::string elicitation = "refuse";
    boost::json::object elicitation_content;  // for "fixed"
    // "refuse" (default), "fixed"
    std::string sampling = "refuse";
    std::string sampling_text;         // for "fixed"
    boost::json::object capabilities;  // added to what the above implies
};

struct HealthSettings {  // [health]
    std::chrono::milliseconds ping_interval{30'000};
    std::chrono::milliseconds ping_timeout{5'000};
    unsigned misses = 5;                             // in a row, before the connection is given up
    std::chrono::milliseconds reconnect_first{100};  // doubling
    std::chrono::milliseconds reconnect_most{10'000};
    unsigned reconnect_attempts = 5;
    std::chrono::milliseconds stable{300'000};  // ready for so long: past failures are forgiven
    std::chrono::milliseconds tool_cache{300'000};
};

struct LogSettings {  // [log]
    std::string level = "warn";
    // What servers write: a file is put aside when it is as large or as old, and only so many are kept.
    std::size_t server_bytes = 1u << 20;
    std::chrono::milliseconds server_age{7 * 24 * 3'600'000LL};
    unsigned server_files = 3;
};

struct AuditSettings {  // [audit]
    bool enabled = true;
    bool required = false;   // what cannot be recorded is not asked
    bool arguments = false;  // they are recorded, masked
    // A file is put aside when it is as large or as old, and only so many are kept.
    std::size_t file_bytes = 8u << 20;
    std::chrono::milliseconds file_age{30 * 24 * 3'600'000LL};
    unsigned files = 12;
};

struct Permissions {  // [permissions]; patterns as in config/README.md
    std::optional<std::vector<std::string>> allow;
    std::vector<std::string> deny;
    std::vector<std::string> ask = {};  // of what else is allowed
    std::string closed = {};            // not empty: why nothing is allowed, whatever the lists say
    // Every list that has to match, weakest first: `allow` is what is in all of them.
    struct AllowList {
        std::vector<std::string> patterns;
        Place place;
    };
    std::vector<AllowList> allow_lists = {};
    // Where each pattern was written; of several places the last one read.
    std::map<std::string, Place> allow_places = {}, deny_places = {}, ask_places = {};
};

struct PluginSettings {                    // [plugins]
    std::vector<std::string> directories;  // searched after --plugin-dir and PATCHBAY_PLUGIN_PATH
    std::vector<std::string> disabled;     // plugin ids
    // What a plugin's call may take once a signal, or a command's own time, has asked for the end.
    std::chrono::milliseconds hang_limit{5'000};
    std::vector<std::string> stdio_pass_env;  // joins the pass_env of every stdio server
};

struct HostSettings {  // [host]
    // How long the loop may poll before it sleeps, where that pays (core/spin.hpp); 0: never.
    std::chrono::microseconds spin{50};
    // Whether a program of this machine may serve several callers, where its `mode` is "shared".
    bool stdio_sharing = false;
};

// Where `patchbay serve` listens and who may come in, by the names of its options (--oauth-issuer is
// oauth_issuer). An empty text is as good as none.
struct ListenerSettings {
    std::string http;           // where; empty: over stdio
    bool sse = false;           // the older transport beside it
    std::string auth = "auto";  // "none", "token"; "auto": none on loopback, token elsewhere
    std::string public_url;     // of the endpoint, as clients know it
    std::vector<std::string> allow_host;  // other names that clients call it by
    std::vector<std::string>
        allow_origin;               // whose pages of the web may come beside those of its names
    std::string tls_cert, tls_key;  // files; both or neither
    bool allow_plain = false;       // beyond this machine without TLS
    std::vector<std::string> oauth_issuer;  // authorization servers; none: no OAuth
    std::vector<std::string> oauth_scope;   // that a token of theirs needs
    std::string oauth_audience;             // of their tokens; empty: the endpoint's URL
    std::string oauth_keys;  // URL or file of the one issuer's; empty: found by its metadata
    std::string metrics;     // where else /metrics and /healthz are
};

struct GatewaySettings {  // [gateway]: the host as a server of others
    // Who approves what a client of `serve` calls where nobody wrote a level: "client" (default: it
    // asks its own user before it calls), "ask" (we do, in its window), "rules" (nobody; a rule has
    // to allow it). A "require-approval" that somebody wrote is asked in the first two.
    std::string approvals = "client";
    std::chrono::milliseconds first_list{1'000};  // that the first list waits for servers; 0: not
    bool host_tools = false;                      // tools of the host itself, beside the servers'
    ListenerSettings listener;
    // Not empty: what cannot be read, with its place. It may have been meant to keep somebody out, so
    // nobody is let in until it is mended.
    std::string fault = {};
};

// Who an agent is, for whoever lists several of them.
struct AgentMeta {
    std::string name, description, url, icon;
};

// [agents.NAME]: what a client that comes as this agent is shown. It narrows, and allows nothing.
struct Agent {
    std::string name;
    Place place;
    bool enabled = true;
    // Ids, those of its own among them; absent: all but what is another agent's own. Until merge() is through
    // "agents.NAME" stands for what that one has.
    std::optional<std::vector<std::string>> servers;
    std::optional<std::vector<std::string>> tools;  // patterns as in Permissions; absent: all
    std::map<std::string, std::string> modes = {};  // by id: instead of the server's own
    std::string bundle = {};  // and no more than that one holds; empty: of none
    Place bundle_place = {};
    std::string description;
    AgentMeta meta = {};
    std::string fault;  // not empty: why it cannot be used; what it would hide is not known
    // Where each of `servers`, of `tools` and of `modes` was written; of several places the first.
    std::map<std::string, Place> server_places = {}, tool_places = {}, mode_places = {};
};

// [bundles.NAME]: some servers, and of their tools some, that a client is shown together. Like an agent it allows nothing.
struct Bundle {
    std::string name;
    Place place;
    std::vector<std::string> servers = {};  // ids, one at least
    std::string mode = "direct";            // "meta": by way of the host's own tools alone
    std::optional<std::vector<std::string>> allow = {};  // patterns as in Permissions; absent: all
    std::vector<std::string> deny = {};                  // of these again
    std::string trust = {};  // "", "trusted", "untrusted": then `allow` has to be there
    std::string fault = {};  // not empty: why it cannot be used
    // Where each of `servers`, of `allow` and of `deny` was written.
    std::map<std::string, Place> server_places = {}, allow_places = {}, deny_places = {};
};

// A URL that begins with `from` begins with `to` where an executor runs; see executors.hpp.
struct UrlRewrite {
    std::string from, to;
    Place place;
};

// The transports that an executor may be told of, each by the key `allow_NAME`.
inline constexpr std::array kExecutorTransports = {"stdio",           "http", "sse",
                                                   "streamable_http", "ws",   "tcp"};

// [executors.TYPE]: what a place where agents run can reach, and what servers find there.
struct Executor {
    std::string name;
    Place place;
    std::map<std::string, bool> allow = {};  // by name of kExecutorTransports, where it was said
    std::vector<UrlRewrite> http_url_rewrite = {};
    std::map<std::string, std::string> env_injection = {};  // of programs, by name
    std::vector<std::string> env_server_wins = {};  // names, or beginnings of names ending in "*"
    std::string fault = {};                         // not empty: why it cannot be used
    // Where "allow_stdio", "env_injection.NAME" were written.
    std::map<std::string, Place> places = {};
};

struct Config {
    std::vector<Server> servers;  // merged, valid, sorted by id; disabled ones included
    std::map<std::string, boost::json::object> auth;                  // [auth.*], as written
    std::map<std::string, std::optional<std::string>> auth_programs;  // as Server::program
    ClientSettings client;
    HealthSettings health;
    Permissions permissions;
    core::Limits limits;
    PluginSettings plugins;
    HostSettings host;
    GatewaySettings gateway;
    std::vector<Agent> agents;          // sorted by name, faulty ones included
    std::vector<Executor> executors;    // the same
    std::vector<Bundle> bundles;        // the same
    std::string secret_store = "file";  // [secrets] store: "file" or "secret-service"
    LogSettings log;
    AuditSettings audit;
    std::vector<std::string> follow;  // [import] follow: ids of clients, the strongest first
    bool deny_all = false;            // broken enterprise file; `stop` says why
    // Why only enterprise files were read: "/etc/patchbay/enterprise.toml is exclusive"; empty: the
    // others were too.
    std::string closed_by;
    // Other files that are there and do not count, each with why: "/p/.mcp.json: not read, since ...".
    std::vector<std::string> passed_over;
    // By the name that a file has for it, each server whose id is another, whatever becomes of it.
    struct Named {
        std::string id;
        Place place;
    };
    std::map<std::string, Named> names;
    // What a checkout defines and is approved as it stands, usable or not: ids as in Proposal.
    std::set<std::string> approved;
    // All ids that this user has approved in this checkout, whatever has become of them.
    std::set<std::string> consents;
    // For whoever keeps to what was in force before, as this has a fault: servers that are left out for one, with the
    // rules of theirs that make sense, and the files that name them; and the files that cannot be read.
    struct Faulty {
        Server rules;
        std::set<std::string> files;
    };
    std::vector<Faulty> faulty;
    // Whether that is why its server is not there. Of a followed file it is a warning: it is nobody's file of ours.
    bool takes_out(const Diagnostic& diagnostic) const;
    std::set<std::string> unread;
    // Not empty: something that was named on the command line or in the environment is not there
    // or makes no sense; nothing may run without it.
    std::string stop;
    std::vector<Proposal> untrusted;  // what waits for an approval, sorted by id; not in the above
    std::vector<Diagnostic> diagnostics;  // in the order of discovery
    // Levels that a stronger source forbids by the same key: a matter of who looks at the files, and not of each command.
    std::vector<Diagnostic> contradictions;
    // Sorted: every effective value by dotted key ("servers.github.url", "health.misses") with its place;
    // secrets (env, headers, oauth.client_secret) are shown as "***". For `config show --origin`.
    std::vector<std::pair<std::string, Place>> origins;
    // Who has said one of them in vain, the weakest first, by the same key.
    std::map<std::string, std::vector<Place>> overruled;
    const Place* find_origin(std::string_view key) const;  // null: nobody has set it
};

// What the config room needs to know of loaded plugins. An unknown transport is an error only
// when this list is given; `config check` without plugins skips that rule.
struct KnownTransport {
    std::string name;
    boost::json::value schema;  // JSON Schema of its settings; null: anything goes
    std::string unusable{};     // not empty: who would provide it, and why that does not
    bool local = false;         // its servers are programs of this machine
};

}  // namespace patchbay::config
