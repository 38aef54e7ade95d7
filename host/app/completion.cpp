#include "app/completion.hpp"

#include "app/known_clients.hpp"
#include "app/log_levels.hpp"
#include "app/presets.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {

namespace {

// "TEXT:{local,project,user}", as CLI::IsMember writes a type; of others nothing.
std::vector<std::string> members_of(const std::string& type) {
    const auto open = type.find('{'), close = type.rfind('}');
    if (open == type.npos || close == type.npos || close < open) return {};
    std::vector<std::string> members;
    for (auto at = open + 1; at < close;) {
        const auto end = std::min(type.find(',', at), close);
        members.push_back(type.substr(at, end - at));
        at = end + 1;
    }
    return members;
}

class Line {
public:
    Line(const CLI::App& app, const KnownNames& known) : verb_(&app), known_(known) {}

    // What has been typed before.
    void pass(const std::string& word) {
        if (rest_) return;
        // bash has `--scope=user` as three words.
        if (waiting_ && word == "=") return;
        if (std::exchange(waiting_, nullptr)) return;
        passed_.insert(word);
        if (word == "--") {
            rest_ = true;
        } else if (word.starts_with('-')) {
            // One that nobody knows takes no word with it: the verb behind it is found all the same.
            const auto* option = find(word);
            if (option && option->get_items_expected_max() > 0) waiting_ = option;
        } else if (const auto* verb = verb_below(word)) {
            verb_ = verb;
            given_ = 0;
        } else {
            ++given_;
        }
    }

    Completion end_in(const std::string& begun) const {
        Completion completion;
        if (const auto equals = begun.find('='); begun.starts_with("--") && equals != begun.npos)
            return value_in(begun.substr(0, equals), begun.substr(equals + 1));
        if (rest_)
            completion.files = true;
        else if (waiting_)
            return values_of(*waiting_, begun);
        else if (begun.starts_with('-'))
            add_options(completion);
        else
            add_words(completion);
        std::erase_if(completion.candidates,
                      [&](const auto& each) { return !each.word.starts_with(begun); });
        return completion;
    }

private:
    const CLI::Option* find(const std::string& word) const {
        for (const auto* app = verb_; app; app = app->get_parent())
            if (const auto* option = app->get_option_no_throw(word)) return option;
        return nullptr;
    }

    const CLI::App* verb_below(const std::string& word) const {
        for (const auto* each : verb_->get_subcommands({}))
            if (each->check_name(word)) return each;
        return nullptr;
    }

    // Of one word, as other shells have it.
    Completion value_in(const std::string& option, const std::string& begun) const {
        Completion completion;
        if (const auto* found = rest_ ? nullptr : find(option))
            completion = values_of(*found, begun);
        for (auto& each : completion.candidates) each.word.insert(0, option + "=");
        return completion;
    }

    // Of a list with commas the last one is being typed.
    Completion values_of(const CLI::Option& option, const std::string& begun) const {
        Completion completion;
        add_values(option, completion);
        const auto comma = begun.rfind(',');
        if (option.get_type_name().ends_with(",...") && comma != begun.npos)
            for (auto& each : completion.candidates) each.word.insert(0, begun, 0, comma + 1);
        std::erase_if(completion.candidates,
                      [&](const auto& each) { return !each.word.starts_with(begun); });
        return completion;
    }

    // By what its help calls the value.
    void add_values(const CLI::Option& option, Completion& completion) const {
        const auto type = option.get_type_name();
        const auto name = option.get_positional() ? option.get_name(true) : type;
        for (const auto& member : members_of(type)) completion.candidates.push_back({member, {}});
        if (name == "ID" && verb_->get_name() == "trust")
            add(passed_.contains("--revoke") ? known_.approved : known_.waiting, completion);
        else if (name == "ID" || name == "ID,..." || name == "SERVER")
            add(known_.servers, completion);
        if (name == "AGENT") add(known_.agents, completion);
        if (name == "BUNDLE") add(known_.bundles, completion);
        if (name == "TRANSPORT") add(known_.transports, completion);
        const bool of_tools = verb_->get_name() == "call" || verb_->get_name() == "why";
        if (name == "NAME" && of_tools) add(known_.tools, completion);
        const bool of_policy = verb_->get_parent() && verb_->get_parent()->get_name() == "policy";
        if (name == "PATTERN" && of_policy) add(known_.tools, completion);
        if (name == "PATTERN" && is_verb("policy", "set"))
            for (const auto* level : {"disable", "deny", "require-approval", "allow-once",
                                      "allow-session", "allow-project", "allow-always"})
                completion.candidates.push_back({level, {}});
        if (name == "NAME" && verb_->get_name() == "why") add(known_.servers, completion);
        if (name == "NAME" && is_verb("secret", "rm")) add(known_.secrets, completion);
        if (name == "NAME" && is_verb("token", "rm")) add(known_.tokens, completion);
        if (name == "EXECUTOR") add(known_.executors, completion);
        if (name == "CLIENT" && option.check_lname("format"))
            completion.candidates.push_back({"patchbay", {}});
        if (name == "CLIENT")
            for (const auto& client : known_clients())
                completion.candidates.push_back({client.id, client.title});
        if (const auto known = name == "PRESET" ? presets() : std::vector<Preset>{})
            for (const auto& preset : *known)
                completion.candidates.push_back({preset.id, preset.title});
        if (name == "LEVEL")
            for (const auto* level : kLogLevels) completion.candidates.push_back({level, {}});
        if (name == "FILE" || name == "DIR" || name == "PROGRAM") completion.files = true;
    }

    bool is_verb(std::string_view parent, std::string_view name) const {
        return verb_->get_name() == name && verb_->get_parent() &&
               verb_->get_parent()->get_name() == parent;
    }

    static void add(const KnownNames::Names& names, Completion& completion) {
        for (auto& name : names()) completion.candidates.push_back({std::move(name), {}});
    }

    // Those of all verbs may stand behind any of them.
    void add_options(Completion& completion) const {
        for (const auto* app = verb_; app; app = app->get_parent())
            for (const auto* option : app->get_options())
                for (const auto& name : option->get_lnames())
                    completion.candidates.push_back({"--" + name, option->get_description()});
    }

    void add_words(Completion& completion) const {
        for (const auto* each : verb_->get_subcommands({}))
            if (!each->get_group().empty())  // it is hidden
                completion.candidates.push_back({each->get_name(), each->get_description()});
        if (verb_->get_name() == "tools") add(known_.tools, completion);
        // The first that has not all its words takes this one.
        std::size_t at = 0;
        for (const auto* option : verb_->get_options()) {
            if (!option->get_positional()) continue;
            const auto most = static_cast<std::size_t>(option->get_items_expected_max());
            if (given_ < (at += most)) return add_values(*option, completion);
        }
    }

    const CLI::App* verb_;
    const KnownNames& known_;
    const CLI::Option* waiting_ = nullptr;  // for its value
    std::size_t given_ = 0;                 // words of the verb
    std::set<std::string> passed_;          // words, options among them
    bool rest_ = false;                     // behind `--`: another program's
};

}  // namespace

Completion complete_line(const CLI::App& app, const std::vector<std::string>& words,
                         const std::string& begun, const KnownNames& known) {
    Line line(app, known);
    for (const auto& word : words) line.pass(word);
    return line.end_in(begun);
}

}  // namespace patchbay::app
