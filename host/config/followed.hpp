// `[import] follow`: the servers that other programs have in their own files, read as they are each time that
// configuration is read. Weaker than what the user's own files say, and of clients the first that is named is the
// strongest. What a checkout has in such a file waits for an approval as its other servers do.
//
// Threads: [any]; blocks for the disk.
// Errors:  of a file that cannot be read an Error of its fragment, which takes out nothing else; of an entry that
//          cannot be taken a Warning. A client that nobody knows: an Error at the place of its name.
#pragma once

#include "config/fragment.hpp"
#include "config/load.hpp"

#include <set>
#include <string>
#include <vector>

namespace patchbay::config {

// Where other programs keep their servers, and in which words. Implemented by whoever knows them.
class ClientFiles {
public:
    struct File {
        Candidate place;
        std::vector<Fragment> fragments;  // the strongest first; none where it is not there
    };

    virtual ~ClientFiles() = default;
    virtual std::vector<std::string> clients() const = 0;
    // Those of the user and of `project`, the strongest first. `project`: the folder whose files are read, empty:
    // none has any of ours. `own`: what is read as configuration of ours already, and left to that.
    virtual std::vector<File> read(const std::string& client, const Environment& environment,
                                   const std::string& project,
                                   const std::set<std::string>& own) const = 0;
};

// What `fragments` of user and enterprise files name, for environments that know clients. `closed_by`: see Sources.
struct Followed {
    std::vector<ClientFiles::File> files;  // their fragments have their rank
    std::vector<Diagnostic> diagnostics;
};
Followed follow(const std::vector<Fragment>& fragments, const std::vector<Candidate>& candidates,
                const std::string& closed_by, const Environment& environment);

}  // namespace patchbay::config
