// patchbay completion: scripts for shells, and the words that they ask for.
#include "app/completion.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "config/executors.hpp"
#include "gateway/access/token_file.hpp"

#include <algorithm>
#include <memory>

namespace patchbay::app {

namespace {

// Each asks `completion words`, the word that is being typed behind `=`: an empty one is passed on so, too. Of a path that is not
// whole the program in PATH is asked: `./patchbay` of a checkout runs nothing before it is entered.
constexpr const char* kBash = R"(_patchbay() {
    local IFS=$'\n' files=
    COMPREPLY=()
    local current=${COMP_WORDS[COMP_CWORD]}
    local line
    [ "$current" != = ] || current=
    local program=patchbay
    case ${COMP_WORDS[0]} in /*) program=${COMP_WORDS[0]} ;; esac
    while read -r line; do
        case $line in
            :files) files=1 ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <(command "$program" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "=$current" 2>/dev/null)
    [ -z "$files" ] || { compopt -o filenames; COMPREPLY+=($(compgen -f -- "$current")); }
}
complete -F _patchbay patchbay)";

constexpr const char* kZsh = R"(#compdef patchbay
_patchbay() {
    local -a found
    local line files= program=patchbay
    [[ ${words[1]} != /* ]] || program=${words[1]}
    while IFS= read -r line; do
        case $line in
            :files) files=1 ;;
            *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            *) found+=("${line//:/\\:}") ;;
        esac
    done < <(command "$program" completion words -- "${(@)words[2,CURRENT-1]}" "=${words[CURRENT]}" 2>/dev/null)
    (( ${#found} )) && _describe patchbay found
    [[ -z $files ]] || _files
}
compdef _patchbay patchbay
[[ ${funcstack[1]} != _patchbay ]] || _patchbay)";

constexpr const char* kFish = R"(function __patchbay_words
    set -l all (commandline -opc)
    set -l current (commandline -ct)
    for line in (command patchbay completion words -- $all[2..-1] "=$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            printf '%s\n' $line
        end
    end
end
complete -c patchbay -f -a '(__patchbay_words)')";

// As far as the configuration can be read; nobody is asked, and nothing is said of what is wrong with it.
class Configured {
public:
    explicit Configured(GlobalOptions global) : global_(std::move(global)) { global_.quiet = true; }
    std::vector<std::string> servers() {
        std::vector<std::string> ids;
        if (!open()) return ids;
        for (const auto& status : session_->servers().statuses()) ids.push_back(status.id);
        return ids;
    }
    // What servers listed before.
    std::vector<std::string> tools() {
        std::vector<std::string> names;
        if (!open()) return names;
        auto& host = session_->host();
        host.recall_lists(host.connections().ids());
        for (const auto& tool : host.router().tools(session_->caller()))
            names.push_back(tool.public_name);
        return names;
    }

    std::vector<std::string> agents() {
        std::vector<std::string> names;
        if (!open()) return names;
        for (const auto& agent : session_->host().config().agents) names.push_back(agent.name);
        return names;
    }
    std::vector<std::string> bundles() {
        std::vector<std::string> names;
        if (!open()) return names;
        for (const auto& bundle : session_->host().config().bundles) names.push_back(bundle.name);
        return names;
    }
    std::vector<std::string> transports() {
        if (!open()) return {};
        return session_->host().plugins().transports();
    }
    std::vector<std::string> secrets() {
        std::vector<std::string> names;
        if (!open()) return names;
        if (const auto kept = session_->host().named_secrets().list())
            for (const auto& each : *kept) names.push_back(each.name);
        return names;
    }
    std::vector<std::string> executors() {
        if (!open()) return {};
        return config::executor_names(session_->host().config());
    }
    std::vector<std::string> tokens() const {
        std::vector<std::string> names;
        const gateway::TokenFile file(default_state_directory(environment_of(global_)));
        if (const auto kept = file.read())
            for (const auto& each : kept->all()) names.push_back(each.name);
        return names;
    }
    std::vector<std::string> waiting() {
        std::vector<std::string> ids;
        if (!open()) return ids;
        for (const auto& each : session_->host().config().untrusted) ids.push_back(each.id);
        return ids;
    }
    std::vector<std::string> approved() {
        if (!open()) return {};
        return session_->host().trust().ids(session_->host().project());
    }

private:
    bool open() {
        if (!session_) session_ = Session::open(global_, Session::Life::Offline);
        return session_ != nullptr;
    }
    GlobalOptions global_;
    std::unique_ptr<Session> session_;
};

int words_verb(const GlobalOptions& global, std::vector<std::string> words) {
    if (words.empty() || !words.back().starts_with('='))
        return report({ErrorCode::Invalid,
                       "completion words: expected the words before, and behind = what is typed of "
                       "the next: patchbay completion words -- mcp =re"},
                      global);
    const auto begun = words.back().substr(1);
    words.pop_back();
    Configured configured(global);
    const KnownNames known{.servers = [&] { return configured.servers(); },
                           .tools = [&] { return configured.tools(); },
                           .agents = [&] { return configured.agents(); },
                           .bundles = [&] { return configured.bundles(); },
                           .transports = [&] { return configured.transports(); },
                           .secrets = [&] { return configured.secrets(); },
                           .executors = [&] { return configured.executors(); },
                           .tokens = [&] { return configured.tokens(); },
                           .waiting = [&] { return configured.waiting(); },
                           .approved = [&] { return configured.approved(); }};
    with_all_verbs([&](const CLI::App& app) {
        const auto completion = complete_line(app, words, begun, known);
        for (const auto& each : completion.candidates)
            print_line(each.what.empty() ? each.word : each.word + "\t" + each.what);
        if (completion.files) print_line(":files");
    });
    return kOk;
}

}  // namespace

void add_completion_verbs(CLI::App& app, Choice& choice) {
    auto& completion =
        add_verb(app, "completion", "Have a shell complete verbs, options, servers and tools",
                 "  source <(patchbay completion bash)\n"
                 "  patchbay completion zsh > ~/.zfunc/_patchbay\n"
                 "  patchbay completion fish > "
                 "~/.config/fish/completions/patchbay.fish");
    completion.require_subcommand(1);
    for (const auto& [shell, script] : {std::pair{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}) {
        auto& verb = add_verb(completion, shell, std::string("The script for ") + shell,
                              std::string("  patchbay completion ") + shell);
        choice.on(verb, [script = script](const auto&) {
            print_line(script);
            return int(kOk);
        });
    }
    const auto line = std::make_shared<std::vector<std::string>>();
    auto& words =
        add_verb(completion, "words", "What may stand next, a line each: what the scripts ask",
                 "  patchbay completion words -- mcp =re");
    words.add_option("WORDS", *line, "Those before, and = with what is typed of the next");
    choice.on(words, [line](const auto& global) { return words_verb(global, *line); });
}

}  // namespace patchbay::app
