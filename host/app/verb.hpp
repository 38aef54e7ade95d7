// What a verb's file declares itself with: CLI11, and what all verbs have alike. The door to CLI11.
//
// Threads: the calling one, before anything else runs.
#pragma once

#include "app/verbs.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {

// The verb that was written. CLI11's callbacks only note it: what goes wrong in a verb is no error
// of parsing.
class Choice {
public:
    using Run = std::function<int(const GlobalOptions&)>;
    // `what` owns what the options of `verb` are written to.
    void on(CLI::App& verb, Run what) {
        verb.callback([this, what = std::move(what)] { pick(what); });
    }
    void pick(Run what) { run_ = std::move(what); }
    int run(const GlobalOptions& global) const { return run_(global); }

private:
    Run run_;
};

// A verb below `parent`, with examples below its help.
CLI::App& add_verb(CLI::App& parent, const std::string& name, const std::string& what,
                   const std::string& examples);

// The options that every verb has, accepted before and after it.
void add_globals(CLI::App& app, GlobalOptions& global);
// Those that several have.
void take_server(CLI::App& verb, std::string& server, const std::string& what = "Only this server");
// --yes, in place of the questions that rules have asked.
void take_yes(CLI::App& verb, bool& yes);
GlobalOptions with_yes(GlobalOptions global, bool yes);
void take_output_directory(CLI::App& verb, std::string& directory, const std::string& what);
// One value each time, however often: left to itself, CLI11 gives an option that may be repeated
// every word up to the next option, the verb's own among them.
void take_each(CLI::App& verb, const std::string& option, std::vector<std::string>& values,
               const std::string& type, const std::string& what);

}  // namespace patchbay::app
