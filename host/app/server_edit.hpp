// One server in the file of one scope, as a verb changes it: what it was told, whether that file has such an entry, and
// what is said once it is written. What all verbs share that write to such a file; entry_check.hpp judges the text.
//
// A verb goes through it in this order, so that nothing is on the disk that would not work: the words become an entry
// (server_words), the file and its text are found within the turn (scope_file), the text with that entry is judged, the
// file is replaced, and only then is what was typed approved (typed_entry): an approval of a file that was not written
// would be one of somebody else's.
//
// Threads: [loop]. Errors: Invalid and NotFound, before anything is written.
#pragma once

#include "app/definitions.hpp"
#include "app/host.hpp"
#include "app/scope_file.hpp"
#include "app/server_words.hpp"
#include "app/typed_entry.hpp"
#include "app/verb.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

struct EditOptions : ServerWords {
    std::string id, scope = "project", file, text;
    bool replace = false;
    std::string by;  // the command, for whoever takes the change back: "mcp add docs"
};

Error invalid(std::string why);
config::Scope scope_of(const EditOptions& options);
// ID, --scope and --file.
void take_place(CLI::App& verb, EditOptions& options);

Result<void> check_id(const std::string& id);
// A list of servers has no keys to change one by.
Result<void> check_list(const ScopeFile& file, const std::string& id,
                        const std::vector<Definition>& definitions);
Error not_there(const ScopeFile& file, const std::string& id, const Host& host,
                const std::vector<Definition>& definitions);

// What is one person's own is not to go along with the checkout.
void keep_out_of_git(const GlobalOptions& global);

// Says what was done and what counts by now, and approves of what was typed. The exit code.
int tell(const EditOptions& options, const std::string& state, const ScopeChange& done,
         const GlobalOptions& global, const IsTyped& typed);

}  // namespace patchbay::app
