#include "app/command_line.hpp"

#include "app/output.hpp"
#include "app/refusal.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

namespace {

constexpr const char* kFooter =
    R"(Examples:
  patchbay mcp status
  patchbay tools 'mcp__files__*'
  patchbay call mcp__files__read_text_file path=README.md
  patchbay batch < requests.jsonl

Exit codes: 0 ok, 1 failure, a list that misses a server's part, or not offered by the server, 2 the tool answered an error, 3 wrong usage or
  arguments, 4 the configuration is wrong, 5 a server that was asked for is not available (auth_required, failed or
  error; of a list of all servers' tools or other things: none is), 6 not found or disabled, 7 denied by policy, hidden by it or not approved, or a file that others can read or change which must be yours alone, 8 timed out, 130 interrupted (what is ended by it as it is meant to be ends with 0: `run` by any signal, `serve` by SIGTERM), 141 nobody reads the output any longer)";

// The options are not read yet when a word before them makes no sense.
bool asks_for_json(int argc, char** argv) {
    return std::any_of(argv, argv + argc,
                       [](const char* word) { return std::strcmp(word, "--json") == 0; });
}

int refuse(const CLI::App& app, const CLI::ParseError& error, const GlobalOptions& global) {
    if (!global.json && lacks_a_verb(app, error)) {
        std::fputs(app.help().c_str(), stderr);
        return kUsage;
    }
    return report({ErrorCode::Invalid, refusal_of(app, error)}, global);
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

// Why a word cannot be taken as it is; empty: it can. What is passed on ends up in JSON, which is UTF-8:
// a server would call it malformed. For an empty value CLI11 would take the next word.
std::string trouble_with_word(std::string_view word) {
    if (!core::valid_utf8(word)) return ", \"" + core::printable(word, 80) + "\", is not UTF-8";
    if (word.empty()) return " is empty: a value is missing";
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
        return ", " + core::printable(word.substr(0, word.size() - 1), 80) + ": a value is missing";
    return {};
}

// One file of verbs, by the names that stand below `patchbay`.
struct VerbFile {
    std::array<std::string_view, 3> names;
    void (*add)(CLI::App&, Choice&);
};
constexpr VerbFile kVerbFiles[] = {
    // in the order of the help
    {{"mcp"}, add_mcp_verbs},
    {{"tools", "call"}, add_tool_verbs},
    {{"why"}, add_why_verb},
    {{"policy"}, add_policy_verbs},
    {{"resources", "prompts", "complete"}, add_thing_verbs},
    {{"batch"}, add_batch_verb},
    {{"serve"}, add_serve_verb},
    {{"run"}, add_run_verb},
    {{"events"}, add_events_verb},
    {{"host"}, add_host_verbs},
    {{"service"}, add_service_verbs},
    {{"connect"}, add_connect_verb},
    {{"init"}, add_init_verb},
    {{"import"}, add_import_verb},
    {{"export"}, add_export_verb},
    {{"resolve", "run-agent"}, add_resolve_verbs},
    {{"config"}, add_config_verbs},
    {{"trust"}, add_trust_verb},
    {{"audit"}, add_audit_verbs},
    {{"secret"}, add_secret_verbs},
    {{"token"}, add_token_verbs},
    {{"plugin"}, add_plugin_verbs},
    {{"completion"}, add_completion_verbs},
    {{"manual"}, add_manual_verb},
};

bool is_named(const VerbFile& file, const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [&](const auto& word) {
        return std::find(file.names.begin(), file.names.end(), word) != file.names.end();
    });
}

// To declare every verb takes a tenth of a short call. So the line is read first with those that one of
// its words names, be it the verb or not; whatever is not understood then is read with all of them.
enum class Verbs { Named, All };

class Reading {
public:
    Reading(const std::vector<std::string>& words, Verbs verbs) : words_(words) {
        app_.footer(kFooter);
        app_.require_subcommand(1);
        app_.fallthrough();
        app_.set_version_flag("-V,--version", "patchbay " PATCHBAY_VERSION);
        add_globals(app_, global);
        for (const auto& file : kVerbFiles)
            if (verbs == Verbs::All || is_named(file, words)) file.add(app_, choice_);
    }

    GlobalOptions global;

    const CLI::App& app() const { return app_; }
    int run() const { return choice_.run(global); }

    void read() {
        auto words = words_;
        // `help VERB` as `VERB --help`; the words of a vector are taken from its end.
        if (const auto verb = place_of_verb(); verb < words.size() && words[verb] == "help") {
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(verb));
            words.push_back("--help");
        }
        std::reverse(words.begin(), words.end());
        app_.parse(words);
    }
    bool understands() {
        try {
            return read(), true;
        } catch (const CLI::ParseError&) {
            return false;
        }
    }

private:
    // Behind options and their values.
    std::size_t place_of_verb() const {
        std::size_t at = 0;
        for (; at < words_.size() && words_[at].starts_with('-'); ++at) {
            const auto* option = app_.get_option_no_throw(words_[at]);
            if (option && option->get_items_expected_max() > 0) ++at;
        }
        return at;
    }

    const std::vector<std::string>& words_;
    CLI::App app_{
        "Patchbay connects to MCP servers through transport plugins and calls their tools by "
        "qualified name.",
        "patchbay"};
    Choice choice_;
};

}  // namespace

void with_all_verbs(const std::function<void(const CLI::App&)>& work) {
    const std::vector<std::string> none;
    work(Reading(none, Verbs::All).app());
}

int delivered(int code) {
    const int failed = stdout_error();
    if (failed == 0) return code;
    if (failed == EPIPE) return kNobodyReads;
    say(std::string("error: cannot write to stdout: ") + std::strerror(failed));
    return code == kOk ? int(kFailure) : code;
}

int run_command_line(int argc, char** argv) {
    // To write where nobody reads, or beyond a limit of size, is an error of that write and no end of
    // this process.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    const std::vector<std::string> words(argv + 1, argv + argc);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto trouble = trouble_with_word(words[i]);
        if (trouble.empty()) continue;
        GlobalOptions global;
        global.json = asks_for_json(argc, argv);
        return report({ErrorCode::Invalid, "argument " + std::to_string(i + 1) + trouble}, global);
    }
    if (Reading named(words, Verbs::Named); named.understands()) return named.run();
    Reading line(words, Verbs::All);
    try {
        line.read();
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0 && unknown_verb(line.app()).empty())
            return print_help(line.app(), error);
        line.global.json = line.global.json || asks_for_json(argc, argv);
        return refuse(line.app(), error, line.global);
    }
    return line.run();
}

}  // namespace patchbay::app
