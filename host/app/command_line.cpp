// The only door to CLI11.
#include "app/command_line.hpp"

#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verbs.hpp"
#include "core/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <sstream>
#include <sys/stat.h>

namespace patchbay::app {

namespace {

constexpr double kMostSeconds = 366 * 86400.0;    // also fits every clock
constexpr std::size_t kMostLogLines = 1'000'000;  // above what is kept of any server

constexpr const char* kFooter =
    R"(Examples:
  patchbay mcp status
  patchbay tools 'mcp__files__*'
  patchbay call mcp__files__read_text_file path=README.md
  patchbay batch < requests.jsonl

Exit codes: 0 ok, 1 failure, a list that misses a server's part, or not offered by the server, 2 the tool answered an error, 3 wrong usage or
  arguments, 4 the configuration is wrong, 5 a server that was asked for is not available (auth_required, failed or
  error; of a list of all servers' tools or other things: none is), or none lists such things, 6 not found or disabled, 7 denied by policy, hidden by it or not approved, 8 timed out, 130 interrupted, 141 nobody reads the output any longer)";

// Accepted before and after the verb. One value each time: left to itself, CLI11 gives an option that
// may be repeated every word up to the next option, the verb's own among them.
void add_globals(CLI::App& app, GlobalOptions& global) {
    app.add_option("--config", global.config_files, "Read this configuration file too (repeatable)")
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--set", global.sets,
                   "Set one key, e.g. servers.files.enabled=false (repeatable)")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--plugin-dir", global.plugin_directories,
                   "Look for plugins here first (repeatable)")
        ->type_name("DIR")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--log-level", global.log_level, "trace, debug, info, warn, error or off")
        ->type_name("LEVEL");
    app.add_flag("--json", global.json, "Print JSON");
    app.add_flag("-q,--quiet", global.quiet, "No warnings on stderr");
}

CLI::App& verb(CLI::App& parent, const std::string& name, const std::string& what,
               const std::string& examples) {
    auto& made = *parent.add_subcommand(name, what);
    made.fallthrough();
    made.footer("Examples:\n" + examples +
                "\nOptions of every verb (--json, --config, ...): patchbay --help");
    return made;
}

// What is installed beside the program: <prefix>/share/doc/patchbay/<name>.
std::string document(const std::string& name) {
    std::error_code failed;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    const auto prefix = failed ? std::filesystem::path() : self.parent_path().parent_path();
    return (prefix / "share/doc/patchbay" / name).string();
}

// What somebody may have meant by an option that there is not.
std::string hint_for(const std::string& strange, const CLI::App& app, const CLI::App& verb) {
    if (strange == "-v" || strange == "--verbose" || strange == "--debug")
        return "; --log-level debug tells more, --version which version this is";
    const auto name = strange.substr(0, strange.find('='));
    std::vector<std::string> known;
    for (const auto* each : {&verb, &app}) {
        for (const auto* option : each->get_options()) {
            for (const auto& word : option->get_lnames()) known.push_back("--" + word);
            for (const auto& letter : option->get_snames()) known.push_back("-" + letter);
        }
        if (&verb == &app) break;
    }
    return name.size() > 2 ? core::did_you_mean(name, known) : std::string();
}

// Checks of options, as CLI11 wants them: what is wrong, empty for nothing. Its own conversions
// take "-1" for a huge number and say only that they could not convert.
std::string no_seconds(const std::string& text) {
    double seconds = 0;
    if (CLI::detail::lexical_cast(text, seconds) && seconds >= 0.001 && seconds <= kMostSeconds)
        return {};
    return "\"" + text + "\" is no number of seconds from 0.001 to 31622400";
}

std::string no_line_count(const std::string& text) {
    std::size_t lines = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), lines);
    if (failed == std::errc() && end == text.data() + text.size() && lines >= 1 &&
        lines <= kMostLogLines)
        return {};
    return "\"" + text + "\" is no number of lines from 1 to " + std::to_string(kMostLogLines);
}

// Asked before the tool is called: what it did could not be undone when its answer is lost.
std::string no_folder(const std::string& path) {
    struct stat info {};
    const int failed = ::stat(path.c_str(), &info) != 0 ? errno
                       : S_ISDIR(info.st_mode)          ? 0
                                                        : ENOTDIR;
    if (failed == 0) return {};
    return "nothing can be saved in \"" + path + "\": " + std::strerror(failed);
}

// The options are not read yet when a word before them makes no sense.
bool asks_for_json(int argc, char** argv) {
    return std::any_of(argv, argv + argc,
                       [](const char* word) { return std::strcmp(word, "--json") == 0; });
}

// What may have been meant by a word that is no verb: one that it is near to or the beginning of, or
// an option without its dashes.
std::string hint_for_verb(const std::string& strange, const std::vector<std::string>& known,
                          const CLI::App& app, const std::string& path) {
    if (const auto near = core::did_you_mean(strange, known); !near.empty()) return near;
    for (const auto& verb : known)
        if (strange.size() > 2 && verb.starts_with(strange))
            return core::did_you_mean(verb, {verb});
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames())
            if (name == strange) return "; did you mean \"" + path + " --" + name + "\"?";
    return {};
}

// CLI11 only says that a subcommand is missing; the word that it did not know says more.
int refuse(const CLI::App& app, const CLI::ParseError& error, const GlobalOptions& global) {
    const auto* at = &app;
    std::string path = "patchbay";
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        path += " " + at->get_name();
    }
    std::vector<std::string> known;
    for (const auto* each : at->get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(each->get_name());
    const auto strange = app.remaining(true);
    const bool no_verb =
        !known.empty() && strange.empty() && dynamic_cast<const CLI::RequiredError*>(&error);
    if (no_verb && !global.json) {
        std::fputs(app.help().c_str(), stderr);
        return kUsage;
    }
    std::string told;
    if (no_verb) {
        told = path + " needs a verb: " + core::join(known, ", ");
    } else if (!known.empty() && !strange.empty() && !strange.front().starts_with('-')) {
        told = path + " has no \"" + strange.front() + "\"" +
               hint_for_verb(strange.front(), known, *at, path) +
               "; known: " + core::join(known, ", ");
    } else if (!known.empty() && !strange.empty()) {
        told = path + " has no option \"" + strange.front() + "\"" +
               hint_for(strange.front(), app, *at) + "; `" + path + " --help` tells more";
    } else {
        const auto hint = strange.empty() ? std::string() : hint_for(strange.front(), app, *at);
        told = error.what() + hint + "; `" + path + " --help` tells more";
    }
    return report({ErrorCode::Invalid, told}, global);
}

// Help and version are no errors. CLI11 would print them past us, to std::cout.
int print_help(const CLI::App& app, const CLI::ParseError& error) {
    std::ostringstream text;
    app.exit(error, text, text);
    auto help = text.str();
    if (help.ends_with('\n')) help.pop_back();
    print_line(help);
    return kOk;
}

}  // namespace

int delivered(int code) {
    const int failed = stdout_error();
    if (failed == 0) return code;
    if (failed == EPIPE) return kNobodyReads;
    say(std::string("error: cannot write to stdout: ") + std::strerror(failed));
    return code == kOk ? int(kFailure) : code;
}

int run_command_line(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    GlobalOptions global;
    // What is passed on ends up in JSON, which is UTF-8: a server would call it malformed.
    for (int i = 1; i < argc; ++i) {
        if (core::valid_utf8(argv[i])) continue;
        global.json = asks_for_json(argc, argv);
        return report({ErrorCode::Invalid, "argument " + std::to_string(i) + ", \"" +
                                               core::printable(argv[i], 80) + "\", is not UTF-8"},
                      global);
    }
    // What CLI11 calls back only picks the verb: what goes wrong in one is no error of parsing.
    std::function<int()> chosen;
    CLI::App app(
        "Patchbay connects to MCP servers through transport plugins and calls their tools by "
        "qualified name.",
        "patchbay");
    app.footer(kFooter);
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("-V,--version", "patchbay " PATCHBAY_VERSION);
    add_globals(app, global);

    auto& mcp = verb(app, "mcp", "Servers: status, list, logs, login, logout, auth",
                     "  patchbay mcp status\n  patchbay mcp status github --json\n  patchbay mcp "
                     "logs github -n 50");
    mcp.require_subcommand(1);
    std::string server, name, pattern, uri, file, output_directory = ".";
    std::size_t lines = 100;
    auto& status =
        verb(mcp, "status", "Connect, and show the state of every server or of one",
             "  patchbay mcp status\n  patchbay mcp status files\nExit code 5: a server "
             "that was asked for (without ID: any) is auth_required, failed or in error.");
    status.add_option("ID", server, "Only this server, in detail");
    status.callback([&] { chosen = [&] { return status_verb(global, server); }; });
    auto& list = verb(mcp, "list", "List configured servers without connecting",
                      "  patchbay mcp list --json");
    list.callback([&] { chosen = [&] { return list_verb(global); }; });
    auto& logs = verb(mcp, "logs", "What a server wrote to stderr, and stray lines of its stdout",
                      "  patchbay mcp logs files -n 20");
    logs.add_option("ID", server, "The server")->required();
    logs.add_option("-n,--lines", lines, "At most so many lines")
        ->check(no_line_count)
        ->capture_default_str();
    logs.callback([&] { chosen = [&] { return logs_verb(global, server, lines); }; });

    bool no_browser = false;
    std::string scope;
    auto& login =
        verb(mcp, "login", "Sign in to a server in the browser, and stay signed in",
             "  patchbay mcp login github\n  patchbay mcp login github --no-browser\n  "
             "patchbay mcp login github --scope 'repo read:user'\nThe sign-in is waited for "
             "for 5 minutes; then exit code 8.");
    login.add_option("ID", server, "The server")->required();
    login.add_flag("--no-browser", no_browser,
                   "Show the address, and read the address that the browser ends at");
    login.add_option("--scope", scope, "Ask for these scopes, separated by spaces")
        ->type_name("SCOPES");
    login.callback([&] { chosen = [&] { return login_verb(global, server, no_browser, scope); }; });
    auto& logout =
        verb(mcp, "logout",
             "Forget the sign-in to a server, and tell the server if its definition is in force",
             "  patchbay mcp logout github");
    logout.add_option("ID", server, "The server")->required();
    logout.callback([&] { chosen = [&] { return logout_verb(global, server); }; });
    auto& auth = verb(mcp, "auth", "Who is signed in where: issuer, scopes, expiry; never a token",
                      "  patchbay mcp auth\n  patchbay mcp auth --json");
    auth.callback([&] { chosen = [&] { return auth_verb(global); }; });

    bool schema = false;
    auto& tools = verb(app, "tools", "List tools by their public names",
                       "  patchbay tools\n  patchbay tools mcp__git__log    one tool and its "
                       "arguments\n  patchbay "
                       "tools 'mcp__git*' --schema\n  patchbay tools "
                       "read --server files --json\nTools that a rule denies are marked (denied). "
                       "Exit code 6: no tool matches PATTERN.");
    tools.add_option(
        "PATTERN", pattern,
        "Part of a name or description, or a whole name with * and ?; in any case of letters");
    tools.add_option("--server", server, "Only this server")->type_name("ID");
    tools.add_flag("--schema", schema, "With input schemas");
    tools.callback([&] { chosen = [&] { return tools_verb(global, pattern, server, schema); }; });

    CallOptions call;
    auto& calls = verb(
        app, "call", "Call one tool",
        "  patchbay call mcp__files__read_text_file path=README.md head=10\n  patchbay call "
        "mcp__git__log --args '{\"max\": 3}'\n  patchbay call mcp__x__f 'list:=[1,2]' --timeout "
        "5\nTypes of key=value come from the tool's schema; key:=JSON is taken as it is.");
    calls.add_option("NAME", call.name, "mcp__server__tool")->required();
    calls.add_option("KEY=VALUE", call.pairs, "Arguments");
    calls
        .add_option("--args", call.arguments,
                    "All arguments as one JSON object, @FILE, or - for stdin")
        ->type_name("JSON|@FILE|-");
    calls.add_option("--timeout", call.timeout_seconds, "Give up after so many seconds")
        ->type_name("SECONDS")
        ->check(no_seconds);
    calls.add_option("--output", call.output_directory, "Where images and audio are saved")
        ->type_name("DIR")
        ->check(no_folder)
        ->capture_default_str();
    calls.add_flag("--raw", call.raw, "Print the result as the server sent it");
    calls.callback([&] { chosen = [&] { return call_verb(global, call); }; });

    const auto add_output = [&](CLI::App& to) {
        to.add_option("--output", output_directory, "Where binary content is saved")
            ->type_name("DIR")
            ->check(no_folder)
            ->capture_default_str();
    };
    auto& resources = verb(
        app, "resources", "Resources: list, templates, read",
        "  patchbay resources list\n  patchbay resources read file:///tmp/a.txt --server files");
    resources.require_subcommand(1);
    auto& resources_list =
        verb(resources, "list", "List resources", "  patchbay resources list --server files");
    resources_list.add_option("--server", server, "Only this server")->type_name("ID");
    resources_list.callback(
        [&] { chosen = [&] { return things_verb(global, "resources", server); }; });
    auto& templates =
        verb(resources, "templates", "List resource templates", "  patchbay resources templates");
    templates.add_option("--server", server, "Only this server")->type_name("ID");
    templates.callback([&] { chosen = [&] { return things_verb(global, "templates", server); }; });
    auto& read = verb(resources, "read", "Read one resource",
                      "  patchbay resources read demo://one --server everything");
    read.add_option("URI", uri, "The resource")->required();
    read.add_option("--server", server, "The server; else the one that lists the URI")
        ->type_name("ID");
    add_output(read);
    read.callback([&] {
        chosen = [&] { return read_resource_verb(global, uri, server, output_directory); };
    });

    std::vector<std::string> pairs;
    auto& prompts =
        verb(app, "prompts", "Prompts: list, get",
             "  patchbay prompts list\n  patchbay prompts get review code=@x --server everything");
    prompts.require_subcommand(1);
    auto& prompts_list = verb(prompts, "list", "List prompts", "  patchbay prompts list");
    prompts_list.add_option("--server", server, "Only this server")->type_name("ID");
    prompts_list.callback([&] { chosen = [&] { return things_verb(global, "prompts", server); }; });
    auto& get = verb(prompts, "get", "Get one prompt",
                     "  patchbay prompts get simple-prompt --server everything");
    get.add_option("NAME", name, "The prompt")->required();
    get.add_option("KEY=VALUE", pairs, "Arguments, all strings");
    get.add_option("--server", server, "The server; else the one that lists the prompt")
        ->type_name("ID");
    add_output(get);
    get.callback([&] {
        chosen = [&] { return get_prompt_verb(global, name, server, pairs, output_directory); };
    });

    CompleteOptions complete;
    auto& completes = verb(
        app, "complete", "Ask a server how an argument of a prompt or resource template may go on",
        "  patchbay complete --prompt greet style=fo --server example\n  patchbay complete "
        "--resource 'repo://{owner}/{name}' name=pa --context owner=me");
    auto* of_prompt = completes.add_option("--prompt", complete.prompt, "The prompt");
    auto* of_resource =
        completes.add_option("--resource", complete.resource, "The resource template's URI");
    of_prompt->excludes(of_resource);
    completes.add_option("KEY=VALUE", complete.pair, "The argument and what is typed of it")
        ->required();
    completes.add_option("--server", complete.server, "The server; else the one that lists it")
        ->type_name("ID");
    completes.add_option("--context", complete.context, "An argument that is settled (repeatable)")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    completes.callback([&] {
        if (complete.prompt.empty() && complete.resource.empty())
            throw CLI::RequiredError("--prompt or --resource");
        chosen = [&] { return complete_verb(global, complete); };
    });

    auto& batch = verb(app, "batch",
                       "Many requests over one set of connections: JSON Lines in, JSON Lines out",
                       "  echo "
                       "'{\"id\":1,\"op\":\"tools/"
                       "call\",\"name\":\"mcp__files__list_directory\",\"arguments\":{\"path\":\"."
                       "\"}}' | patchbay batch\nThe format is described in " +
                           document("BATCH.md") + ".");
    batch.add_option("FILE", file, "Requests; default: stdin");
    bool sign_in = false;
    batch.add_flag("--sign-in", sign_in, "Open the browser when a server asks to sign in");
    batch.callback([&] { chosen = [&] { return batch_verb(global, file, sign_in); }; });

    bool origins = false;
    auto& config = verb(app, "config", "Configuration: show, check, paths, plan",
                        "  patchbay config show --origin\n  patchbay config check .mcp.json\n  "
                        "patchbay config paths\n  patchbay config plan");
    config.require_subcommand(1);
    auto& show = verb(config, "show", "The merged configuration, secrets masked",
                      "  patchbay config show --origin");
    show.add_flag("--origin", origins, "Say where every value comes from");
    show.callback([&] { chosen = [&] { return config_show_verb(global, origins); }; });
    auto& check = verb(config, "check", "Check all configuration, or one file",
                       "  patchbay config check\n  patchbay config check .mcp.json");
    check.add_option("FILE", file, "Only this file");
    check.callback([&] { chosen = [&] { return config_check_verb(global, file); }; });
    auto& paths = verb(config, "paths", "Where configuration is looked for, and what was found",
                       "  patchbay config paths");
    paths.callback([&] { chosen = [&] { return config_paths_verb(global); }; });
    bool remember = false;
    auto& plan = verb(
        config, "plan",
        "What the configuration would change, compared with what was remembered of it",
        "  patchbay config plan --remember   keep what is in force now\n  patchbay config plan"
        "              after an edit\nIt says which servers start, stop and restart, and by which "
        "keys, which tools come and go, and which\nrules allow more. Remembered are rules, and "
        "digests in place of values, for each project folder.\nExit code 6: nothing was "
        "remembered here.");
    plan.add_flag("--remember", remember, "Keep what is in force now; nothing else is done");
    plan.callback([&] { chosen = [&] { return config_plan_verb(global, remember); }; });

    TrustOptions trust;
    auto& trusts = verb(app, "trust",
                        "Approve servers and [auth.*] tables that a checkout brings: nothing of "
                        "them runs before",
                        "  patchbay trust                  what waits, and all it says\n  patchbay "
                        "trust files           show it and ask\n  patchbay trust files --yes     "
                        "approve it as it stands now\n  patchbay trust --revoke files\nAny change "
                        "of a definition withdraws its approval, also another path of its program; "
                        "a new file at the\nsame path is not noticed.");
    trusts.add_option("ID", trust.ids, "A server, or auth.NAME");
    auto* yes = trusts.add_flag("-y,--yes", trust.yes, "Approve the ids without asking");
    trusts.add_flag("--revoke", trust.revoke, "Withdraw the approval of the ids")->excludes(yes);
    trusts.callback([&] { chosen = [&] { return trust_verb(global, trust); }; });

    bool load = false;
    auto& plugin =
        verb(app, "plugin", "Plugins: list, info, doctor",
             "  patchbay plugin list\n  patchbay plugin info stdio\n  patchbay plugin doctor");
    plugin.require_subcommand(1);
    auto& plugins =
        verb(plugin, "list", "List plugins and what they provide", "  patchbay plugin list");
    plugins.callback([&] { chosen = [&] { return plugin_list_verb(global); }; });
    auto& info = verb(plugin, "info", "One plugin, by its id or by what it provides",
                      "  patchbay plugin info stdio");
    info.add_option("NAME", name, "Plugin or transport")->required();
    info.callback([&] { chosen = [&] { return plugin_info_verb(global, name); }; });
    auto& doctor = verb(plugin, "doctor",
                        "Every place that was looked at, in order, and why something was refused",
                        "  patchbay plugin doctor --load");
    doctor.add_flag("--load", load, "Load every plugin too");
    doctor.callback([&] { chosen = [&] { return plugin_doctor_verb(global, load); }; });

    // `help VERB` as `VERB --help`; the words of a vector are taken from its end.
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        words.push_back("--help");
    }
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return print_help(app, error);
        global.json = global.json || asks_for_json(argc, argv);
        return refuse(app, error, global);
    }
    return chosen();
}

}  // namespace patchbay::app
