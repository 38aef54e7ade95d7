// The servers of all fragments: which definition of each counts, what adjusts it, and what of it waits for an approval.
// Internal to this room.
//
// Borrows what comes of merging and the entries, which must outlive it. Threads: [value]. Errors: are noted.
#pragma once

#include "config/merging.hpp"

#include <map>
#include <string>
#include <vector>

namespace patchbay::config {

class ServerMerge {
public:
    explicit ServerMerge(Merging& into) : into_(into) {}

    // Weakest source first.
    void take(const ServerEntry& entry, const Source& source);
    // All have been taken, the tables too. Gives the ids of those that some source defines.
    std::vector<std::string> finish();

private:
    void note_name(const ServerEntry& entry, const Source& source);
    void adjust(Settled& settled, const ServerEntry& entry, const Source& source);
    void define(Settled& settled, const ServerEntry& entry, const Source& source);
    void given_before(const ServerEntry& entry, const Source& source, const Voice& first);
    std::vector<std::string> defined();
    bool denies_for_its_name(const std::string& id, const Settled& settled);
    void tell_withheld(const std::string& id, const Settled& settled);
    void judge_proposal(const std::string& id, const Voice& withheld, Proposal& proposal);
    void pass_on(Server& server) const;

    Merging& into_;
    std::map<std::string, Settled> settled_;
    std::map<std::string, std::string> bare_names_;  // to ids, of what is defined
};

}  // namespace patchbay::config
