#include "app/refusal.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace patchbay::app {

namespace {

// What somebody may have meant by an option that there is not.
std::string hint_for(const std::string& strange, const CLI::App& app, const CLI::App& verb) {
    if (strange == "--debug")
        return "; --log-level debug tells more, --version which version this is";
    const auto name = strange.substr(0, strange.find('='));
    std::set<std::string> known;  // --help is of every verb
    for (const auto* each : {&verb, &app}) {
        for (const auto* option : each->get_options()) {
            for (const auto& word : option->get_lnames()) known.insert("--" + word);
            for (const auto& letter : option->get_snames()) known.insert("-" + letter);
        }
        if (&verb == &app) break;
    }
    return name.size() > 2 ? core::did_you_mean(name, {known.begin(), known.end()}) : std::string();
}

// Without its value, which may be a secret.
std::string named_by(const std::string& strange) {
    return core::printable(strange.substr(0, strange.find('=')), 80);
}

// Whose option it is, where a verb has it: "tools", "mcp logs".
void add_owners(const std::string& option, const CLI::App& verb, const std::string& path,
                std::vector<std::string>& owners) {
    for (const auto* each : verb.get_subcommands([](const CLI::App*) { return true; })) {
        const auto own = path + (path.empty() ? "" : " ") + each->get_name();
        if (each->get_option_no_throw(option)) owners.push_back("\"" + own + "\"");
        add_owners(option, *each, own, owners);
    }
}

// That an option of some verb stands before it, or behind another one; empty: no verb has it.
std::string misplaced(const std::string& strange, const CLI::App& app, const CLI::App& verb,
                      const std::string& path) {
    const auto option = named_by(strange);
    if (option.size() < 2 || option.front() != '-') return {};
    if (verb.get_option_no_throw(option)) return option + " belongs behind \"" + path + "\"";
    std::vector<std::string> owners;
    add_owners(option, app, {}, owners);
    if (owners.empty()) return {};
    return path + " has no option \"" + option + "\"; it belongs behind " +
           core::join(owners, " or ");
}

// An option behind the first word of a program is the program's, whatever else it would be of ours; empty: it is not.
std::string of_the_program(const std::string& strange, const CLI::App& verb,
                           const std::string& path) {
    const auto* program = verb.get_option_no_throw("PROGRAM");
    if (!strange.starts_with('-') || strange == "--" || !program || program->count() == 0 ||
        verb.get_option_no_throw(named_by(strange)))
        return {};
    const auto word = core::printable(program->results().front(), 80);
    return path + " has no option \"" + named_by(strange) + "\"; if it is one of \"" + word +
           "\", write -- ahead of that: " + path + " ID -- " + word + " " +
           core::printable(strange, 80);
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

// The verb that was written, as deep as it is known, and its words.
std::pair<const CLI::App*, std::string> verb_of(const CLI::App& app) {
    const auto* at = &app;
    std::string path = "patchbay";
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        path += " " + at->get_name();
    }
    return {at, std::move(path)};
}

std::vector<std::string> verbs_below(const CLI::App& verb) {
    std::vector<std::string> known;
    for (const auto* each : verb.get_subcommands([](const CLI::App*) { return true; }))
        if (!each->get_group().empty()) known.push_back(each->get_name());  // else it is hidden
    return known;
}

}  // namespace

std::string unknown_verb(const CLI::App& app) {
    const auto [verb, path] = verb_of(app);
    const auto known = verbs_below(*verb);
    const auto strange = app.remaining(true);
    if (known.empty() || strange.empty() || strange.front().starts_with('-')) return {};
    return core::behind_hint(path + " has no \"" + core::printable(strange.front(), 80) + "\"" +
                                 hint_for_verb(strange.front(), known, *verb, path),
                             "known: " + core::join(known, ", "));
}

bool lacks_a_verb(const CLI::App& app, const CLI::ParseError& error) {
    return !verbs_below(*verb_of(app).first).empty() && app.remaining(true).empty() &&
           dynamic_cast<const CLI::RequiredError*>(&error);
}

// CLI11 only says that a subcommand is missing; the word that it did not know says more.
std::string refusal_of(const CLI::App& app, const CLI::ParseError& error) {
    const auto [at, path] = verb_of(app);
    const auto known = verbs_below(*at);
    const auto strange = app.remaining(true);
    // The most likely slip where a verb takes a program's words: they begin with one that is none of ours.
    const bool takes_words =
        at->get_option_no_throw("PROGRAM") || at->get_option_no_throw("COMMAND");
    const auto more =
        std::string(takes_words ? "; a program stands with its words behind --" : "") + "; `" +
        path + " --help` tells more";
    if (lacks_a_verb(app, error)) return path + " needs a verb: " + core::join(known, ", ");
    if (auto told = unknown_verb(app); !told.empty()) return told;
    if (strange.empty()) return error.what() + more;
    const auto& first = strange.front();
    if (auto told = of_the_program(first, *at, path); !told.empty())
        return told + "; `" + path + " --help` tells more";
    if (const auto elsewhere = misplaced(first, app, *at, path); !elsewhere.empty())
        return elsewhere + more;
    // CLI11 would name it behind what follows it.
    const bool strange_option =
        first.starts_with('-') && dynamic_cast<const CLI::ExtrasError*>(&error);
    if (!known.empty() || strange_option)
        return path + " has no option \"" + named_by(first) + "\"" + hint_for(first, app, *at) +
               more;
    const bool takes_server = at->get_option_no_throw("--server") && !first.starts_with('-');
    return error.what() + hint_for(first, app, *at) +
           (takes_server ? "; a server is named by --server ID" : "") + more;
}

}  // namespace patchbay::app
