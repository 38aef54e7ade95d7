// `policy set` and `reset`: levels in the file of a scope, and answers that were kept.
#include "app/decided_otherwise.hpp"
#include "app/definitions.hpp"
#include "app/distant_host.hpp"
#include "app/entry_check.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/policy_list.hpp"
#include "app/policy_targets.hpp"
#include "app/server_edit.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "config/levels.hpp"
#include "config/show.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using config::Level;
using config::Scope;

namespace {

const std::vector<std::string>& level_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (auto level = Level::Disable; level <= Level::AllowAlways;
             level = static_cast<Level>(static_cast<int>(level) + 1))
            all.emplace_back(config::name_of(level));
        return all;
    }();
    return names;
}

struct PolicyOptions {
    PolicyWords words;
    std::string scope = "user";
    bool exact = false;  // of reset: the keys as they are written, and no other that begins so
    Scope where() const { return config::scope_named(scope).value_or(Scope::User); }
};

// ---- set, reset

// A level for all that leaves out the servers of a file that cannot be read, or that finds none at all, would look as if
// it held for them.
std::optional<int> why_not_all(const Host& host, const PolicyWords& words,
                               const Result<std::vector<PolicyTarget>>& targets,
                               const GlobalOptions& global) {
    const auto& told = host.config().diagnostics;
    const bool unread = std::any_of(told.begin(), told.end(), [](const auto& each) {
        return each.severity == config::Severity::Error && each.server.empty();
    });
    const bool of_all = words.all || std::find(words.patterns.begin(), words.patterns.end(),
                                               "mcp__*") != words.patterns.end();
    if (unread && (of_all || !targets || targets->empty())) {
        print_diagnostics(told, global.quiet);
        report(
            {ErrorCode::Invalid, "nothing is written, as it is not known which servers there are"},
            global);
        return kConfigError;
    }
    if (!targets) return report(targets.error(), global);
    if (targets->empty())
        return report(
            {ErrorCode::NotFound, "no server is configured, so there is nothing to change"},
            global);
    return {};
}

// A name that was misspelt would forbid nothing.
void warn_of_strange_tools(Host& host, const std::vector<PolicyTarget>& targets) {
    for (const auto& target : targets) {
        const auto found = host.catalogue().listings().find(target.server);
        if (config::is_beginning(target.key) || found == host.catalogue().listings().end() ||
            !found->second->whole)
            continue;
        std::vector<std::string> names;
        for (const auto& tool : found->second->tools) names.push_back(tool.name);
        if (std::find(names.begin(), names.end(), target.key) == names.end())
            say("warning: server \"" + target.server + "\" had no tool \"" +
                core::printable(target.key, 80) + "\" when it was asked last" +
                core::did_you_mean(target.key, names));
    }
}

// All that one command writes.
struct Writing {
    const GlobalOptions& global;
    const PolicyOptions& options;
    std::string by;
    Turn turn;
    std::size_t targets;
    std::set<std::string> faulty;  // servers: what is wrong there is wrong with their files
    std::map<std::string, ScopeChange> changes = {};  // so far, by the file
    json::array told = {};
    int code = kOk;  // of the first target that could not be served
};

struct Written {
    std::string file;
    bool changed = false;
    std::optional<Error> unapproved = {};  // it is written, and its server was approved before
};

using Edit = std::function<Result<std::string>(const ScopeFile& file, json::object& entry)>;

// Changes the entry of that server in the file of the scope.
Result<Written> write(Writing& all, const std::string& id, const Edit& edit) {
    const auto environment = environment_of(all.global);
    const auto scope = all.options.where();
    const auto file = ScopeFile::choose(scope, id, {}, environment,
                                        default_state_directory(environment), all.turn);
    if (!file) return file.error();
    const auto definitions = definitions_of(id, environment);
    Host host(host_options(all.global));
    if (definitions.empty()) return not_there(*file, id, host, definitions);
    if (auto listed = check_list(*file, id, definitions); !listed) return listed.error();
    // A weaker file adjusts nothing of a stronger one's.
    if (!file->entry() && definitions.front().place.scope > scope)
        return invalid("\"" + id + "\" is defined in " +
                       config::to_string(definitions.front().place) + "; say --scope " +
                       config::name_of(definitions.front().place.scope));
    const auto* entry = file->entry() ? file->entry()->if_object() : nullptr;
    const auto before = entry ? json::value(*entry) : json::value();
    auto after = entry ? *entry : json::object();
    auto text = edit(*file, after);
    if (!text) return text.error();
    const auto approved = approved_digest(host, id);
    if (auto fine = judge(host, file->path(), *text, id, all.global); !fine) return fine.error();
    const auto earlier = all.changes.find(file->path());
    const auto* last = earlier == all.changes.end() ? nullptr : &earlier->second;
    auto note = approval_of(host, id, scope);
    if (last) note = joined_notes(last->note, note);
    auto written = file->write(std::move(*text), all.by, std::move(note), last);
    if (!written) return written.error();
    if (written->before == written->after) return Written{file->path(), false};
    all.changes[file->path()] = *written;
    Host now(host_options(all.global));
    auto kept = approve(now, id, is_switched(*file, before, json::value(after), approved));
    if (written->made && scope == Scope::Local) keep_out_of_git(all.global);
    Written done{file->path(), true};
    if (!kept) done.unapproved = kept.error();
    return done;
}

void tell(Writing& all, const PolicyTarget& target, const Written& written,
          const std::string& level, const Standing& standing) {
    json::object line{{"server", target.server},
                      {"key", target.key},
                      {"level", level.empty() ? json::value() : json::value(level)},
                      {"file", written.file},
                      {"changed", written.changed}};
    const auto& by = standing.overruled_by;
    if (!by.empty()) line["overruled_by"] = by;
    if (!standing.exceptions.empty()) {
        auto& exceptions = line["exceptions"].emplace_array();
        for (const auto& each : standing.exceptions) exceptions.push_back(to_json(each));
    }
    if (standing.more > 0) line["exceptions_more"] = standing.more;
    if (written.unapproved) {
        if (all.code == kOk) all.code = exit_code_of(written.unapproved->code);
        line["error"] = core::log::masked(written.unapproved->message);
    }
    all.told.push_back(std::move(line));
    if (all.global.json) return;
    say((written.changed ? "" : "unchanged: ") + target.server + ": " +
        core::printable(target.key, 200) +
        (level.empty() ? " is taken out of " : " = " + level + " in ") + written.file);
    if (written.unapproved)
        say("error: " + target.server + " is not approved any more: " +
            core::log::masked(written.unapproved->message) + "; patchbay trust " + target.server);
    if (!by.empty()) say("it does not count: " + by + (standing.in_force ? " is stronger" : ""));
    // Of one tool there is no part for which it counts.
    const std::string exception =
        config::is_beginning(target.key) ? "it does not count for all: " : "it does not count: ";
    for (const auto& each : standing.exceptions) say(exception + to_string(each, target.server));
    if (standing.more > 0)
        say("it does not count for all: and " + std::to_string(standing.more) +
            " more, see patchbay policy list --server " + target.server);
}

// What is wrong with one server keeps what is said from no other; where nothing can be written, that ends it.
bool is_of_one(const Error& error) {
    return error.code != ErrorCode::Io && error.code != ErrorCode::Timeout;
}

void fail(Writing& all, const PolicyTarget& target, const Error& error) {
    const int code = all.faulty.count(target.server) ? kConfigError : code_of_file(error);
    if (all.code == kOk) all.code = code;
    if (all.targets == 1) {
        report(error, all.global);
        return;
    }
    all.told.push_back(json::object{{"server", target.server},
                                    {"key", target.key},
                                    {"error", core::log::masked(error.message)},
                                    {"changed", false}});
    if (!all.global.json) say("error: " + target.server + ": " + core::log::masked(error.message));
}

int end(const Writing& all) {
    const bool reported = all.told.empty() && all.code != kOk;
    if (all.global.json && !reported) print_json(json::serialize(all.told));
    return all.code;
}

std::set<std::string> faulty_in(const Host& host) {
    std::set<std::string> ids;
    for (const auto& each : host.config().faulty) ids.insert(each.rules.id);
    return ids;
}

std::string command_of(const char* verb, const PolicyOptions& options,
                       const std::string& level = {}) {
    auto words = std::string("policy ") + verb;
    for (const auto& pattern : options.words.patterns) words += " " + pattern;
    if (!level.empty()) words += " " + level;
    if (!options.words.server.empty()) words += " --server " + options.words.server;
    if (options.words.all) words += " --all";
    return words + " --scope " + options.scope;
}

int set_verb(const GlobalOptions& global, PolicyOptions options) {
    auto& patterns = options.words.patterns;
    const auto level = config::level_from(patterns.back());
    if (!level)
        return report(
            invalid("\"" + core::printable(patterns.back(), 80) +
                    "\" is no level: expected one of " + core::join(level_names(), ", ") +
                    " behind what it is for" + core::did_you_mean(patterns.back(), level_names())),
            global);
    patterns.pop_back();
    if (patterns.empty() && options.words.server.empty() && !options.words.all)
        return report(invalid("for which tools? expected a pattern like mcp__SERVER__*, --server "
                              "SERVER or --all"),
                      global);
    const std::string name = config::name_of(*level);
    auto turn = take_turn(default_state_directory(environment_of(global)));
    if (!turn) return report(turn.error(), global);
    std::optional<std::vector<PolicyTarget>> targets;
    std::set<std::string> faulty;
    {
        Host host(host_options(global));
        host.recall_lists();
        auto meant = policy_targets(options.words, host);
        if (const auto code = why_not_all(host, options.words, meant, global)) return *code;
        if (!global.quiet) warn_of_strange_tools(host, *meant);
        targets = std::move(*meant);
        faulty = faulty_in(host);
    }
    Writing all{global,           options,         command_of("set", options, name),
                std::move(*turn), targets->size(), std::move(faulty)};
    for (const auto& target : *targets) {
        const auto written =
            write(all, target.server, [&](const ScopeFile& file, json::object& entry) {
                auto& tools = entry["tools"];
                if (!tools.is_object()) tools.emplace_object();
                tools.get_object()[target.key] = name;
                return file.with({"tools", target.key}, json::value(name));
            });
        if (written)
            tell(all, target, *written, name, standing_of(global, target, *level));
        else
            fail(all, target, written.error());
        const auto wrong = written ? written->unapproved : std::optional(written.error());
        if (wrong && !is_of_one(*wrong)) break;
    }
    return end(all);
}

// Keys of `tools` in that entry that are meant: that one, or also those that begin so.
std::vector<std::string> keys_meant(const json::value* entry, const std::string& key, bool exact) {
    std::vector<std::string> keys;
    const auto* object = entry ? entry->if_object() : nullptr;
    if (const auto* tools = core::object_in(object, "tools"))
        for (const auto& member : *tools)
            if (exact ? member.key() == key : protocol::matches(key, std::string(member.key())))
                keys.emplace_back(member.key());
    return keys;
}

Result<void> reset_levels(Writing& all, const PolicyTarget& target) {
    const auto environment = environment_of(all.global);
    const auto file = ScopeFile::choose(all.options.where(), target.server, {}, environment,
                                        default_state_directory(environment), all.turn);
    // A scope that has no place here says nothing.
    if (!file && file.error().code == ErrorCode::NotFound) return {};
    if (!file) return file.error();
    for (const auto& key : keys_meant(file->entry(), target.key, all.options.exact)) {
        const auto written =
            write(all, target.server, [&](const ScopeFile& now, json::object& entry) {
                if (auto* tools = entry["tools"].if_object()) tools->erase(key);
                return now.without({"tools", key});
            });
        if (!written) return written.error();
        tell(all, {target.server, key}, *written, {}, {});
        if (written->unapproved) break;
    }
    return {};
}

// Those of sessions belong to no scope: whoever resets what counts everywhere means them too.
Result<std::size_t> forget_session_answers(const GlobalOptions& global,
                                           const std::vector<PolicyTarget>& targets) {
    auto silent = global;
    silent.quiet = true;  // what is wrong with the configuration is no matter of answers
    const auto session = Session::open(silent, Session::Life::Offline);
    if (!session) return Error{ErrorCode::Invalid, "the configuration cannot be used"};
    auto line = host_if_any(*session, Guest::Person);
    if (!line) return within("answers of sessions are not forgotten", line.error());
    if (!*line) return std::size_t{0};
    auto gone = DistantHost(session->servers(), std::move(*line)).forget_session_answers(targets);
    if (!gone) return within("answers of sessions may not be forgotten", gone.error());
    return gone;
}

int reset_verb(const GlobalOptions& global, PolicyOptions options) {
    auto& words = options.words;
    if (words.patterns.empty() && words.server.empty() && !words.all)
        return report(invalid("of which tools? expected a pattern like mcp__SERVER__*, --server "
                              "SERVER or --all"),
                      global);
    auto turn = take_turn(default_state_directory(environment_of(global)));
    if (!turn) return report(turn.error(), global);
    Host host(host_options(global));
    host.recall_lists();
    const auto targets = policy_targets(words, host);
    if (const auto code = why_not_all(host, words, targets, global)) return *code;
    Writing all{global,           options,         command_of("reset", options),
                std::move(*turn), targets->size(), faulty_in(host)};
    for (const auto& target : *targets)
        if (auto done = reset_levels(all, target); !done) {
            fail(all, target, done.error());
            if (!is_of_one(done.error())) break;
        }
    if (all.told.empty() && all.code != kOk) return end(all);
    const bool everywhere = options.where() == Scope::User;
    // Answers are about tools, not about beginnings of names.
    std::vector<PolicyTarget> answered;
    for (const auto& target : *targets)
        if (!options.exact || !config::is_beginning(target.key)) answered.push_back(target);
    auto gone = host.decisions().file().forget([&](const service::Decision& answer) {
        const bool here = host.decisions().counts_here(answer) &&
                          (everywhere || answer.level == Level::AllowProject);
        return here && are_meant(answered, answer);
    });
    if (!gone) return report(gone.error(), global);
    if (everywhere && !answered.empty()) {
        const auto of_sessions = forget_session_answers(global, answered);
        if (!of_sessions) return report(of_sessions.error(), global);
        *gone += *of_sessions;
    }
    if (!global.json && *gone > 0)
        say(std::to_string(*gone) + (*gone == 1 ? " answer is" : " answers are") + " forgotten");
    if (!global.json && *gone == 0 && all.told.empty())
        say("nothing of that was set in the " + options.scope + " scope, and no answer was kept");
    if (global.json) all.told.push_back(json::object{{"answers_forgotten", *gone}});
    return end(all);
}

void take_words(CLI::App& verb, PolicyOptions& options, const std::string& what) {
    verb.add_option("PATTERN", options.words.patterns, what);
    auto* server = verb.add_option("--server", options.words.server,
                                   "Of this server, by its own names of tools")
                       ->type_name("ID");
    verb.add_flag("--all", options.words.all, "Of every server")->excludes(server);
}

void take_scope(CLI::App& verb, PolicyOptions& options) {
    verb.add_option("--scope", options.scope, "Whose file: local, project or user")
        ->check(CLI::IsMember({"local", "project", "user"}))
        ->capture_default_str();
}

}  // namespace

void add_policy_verbs(CLI::App& app, Choice& choice) {
    const auto options = std::make_shared<PolicyOptions>();
    auto& policy = add_verb(app, "policy", "Which tools may be called, and what a call needs",
                            "  patchbay policy list\n  patchbay policy set 'mcp__git__push*' deny");
    policy.require_subcommand(1);
    auto& list =
        add_verb(policy, "list", "What counts for each tool, and by which rule",
                 "  patchbay policy list --server git\n  patchbay policy list "
                 "'mcp__git__delete_*' --json\nTools that servers have listed, and those that "
                 "rules name; starts nothing. ANSWERS: what was answered when a call was "
                 "asked\nabout, which counts as long as the tool is described as it was; "
                 "allow-session: in the host that runs, until who gave it has gone. Exit code "
                 "6: no tool that is known fits.");
    take_words(list, *options, "Public names, or beginnings of names ending in *; default: all");
    choice.on(list, [options](const auto& global) { return list_policy(global, options->words); });
    auto& set = add_verb(
        policy, "set", "Write levels into the file of a scope",
        "  patchbay policy set mcp__git__push deny\n  patchbay policy set 'mcp__git__create_*' "
        "mcp__git__tag require-approval\n  patchbay policy set --server git deny\n  patchbay "
        "policy "
        "set --all require-approval --scope local\nA project or local file lowers levels of "
        "servers "
        "that others define, and raises none. Back with: patchbay config undo");
    take_words(set, *options,
               "What it is for (mcp__git__push, mcp__git__create_*, with --server push, create_*), "
               "and last the level: disable, deny, require-approval, allow-once, allow-session, "
               "allow-project, allow-always");
    set.get_option("PATTERN")->required();
    take_scope(set, *options);
    choice.on(set, [options](const auto& global) { return set_verb(global, *options); });
    auto& reset = add_verb(
        policy, "reset", "Take levels out of the file of a scope, and forget answers",
        "  patchbay policy reset mcp__git__push\n  patchbay policy reset --all --scope local\n"
        "  patchbay policy reset --server git resources/read   what was answered about a "
        "request\nWith "
        "--scope user all answers that count here are forgotten, those for a session in the host "
        "that runs too, with project or local those for this project folder.\nLevels are back "
        "with: patchbay config undo");
    take_words(reset, *options,
               "What is taken away; a beginning of names ending in * takes each that begins so");
    take_scope(reset, *options);
    reset.add_flag("--exact", options->exact,
                   "Only the keys that are written so: create_*, and not create_tag");
    choice.on(reset, [options](const auto& global) { return reset_verb(global, *options); });
}

}  // namespace patchbay::app
