// Options of `patchbay serve` that a client is to start it with: judged here, where a person reads why not,
// by what `serve` itself takes.
//
// Threads: the calling one. Errors: Invalid, with the nearest option.
#pragma once

#include "core/result.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

// `words` as they are to be written into a client's file: what was meant from the folder `here` is found from
// any. None of them may have it listen: a client that starts a program speaks to it over stdio.
Result<std::vector<std::string>> serve_words(std::vector<std::string> words,
                                             const std::string& here);

// What they name that a configuration has or not.
struct NamesInServe {
    std::vector<std::string> servers, agents;
};
NamesInServe names_in_serve(const std::vector<std::string>& words);

}  // namespace patchbay::app
