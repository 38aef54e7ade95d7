// What may stand where somebody is typing a command line, from the verbs and options as they are declared.
//
// Threads: the calling one. Errors: none; what nobody knows has no candidates.
#pragma once

#include "app/verb.hpp"

#include <functional>
#include <string>
#include <vector>

namespace patchbay::app {

struct Candidate {
    std::string word, what;  // `what`: a few words about it, or nothing
};

// What only the configuration and the store of secrets know, asked for when it is needed.
struct KnownNames {
    using Names = std::function<std::vector<std::string>()>;
    Names servers, tools, agents, bundles, transports, secrets, executors, tokens;
    Names waiting, approved;  // for the approval of somebody; what has it
};

struct Completion {
    std::vector<Candidate> candidates;
    bool files = false;  // names of files may stand there as well
};

// `words`: those before it, without the program's; `begun`: what is typed of it.
Completion complete_line(const CLI::App& app, const std::vector<std::string>& words,
                         const std::string& begun, const KnownNames& known);

}  // namespace patchbay::app
