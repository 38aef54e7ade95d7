// What a checkout brings runs only after a person has approved exactly that: every server and every
// [auth.*] table of a project or local file is compared with what was approved before it is merged.
// Decision 13.
//
// The digest of a server covers its whole entry, the entries of other project and local files that
// adjust it, the file its command leads to behind all links (launch.hpp), the folder it is written
// in, the plugins of the transports and of the auth method it would use, and the digest of the
// [auth.*] table it would use, of which it has no copy: many servers may name one. That of a table
// covers the table, the file its command leads to, and the plugin of its method. Neither covers what stands in those files, nor in files that arguments name.
//
// Threads: [any]. Reads no file but to see whether a program is there; expands no `${...}`.
#pragma once

#include "config/fragment.hpp"
#include "config/load.hpp"

#include <string>
#include <vector>

namespace patchbay::config {

// Whether `scope` is that of files which come with a checkout.
bool from_project(Scope scope);

// Takes effect away from what `approvals` does not know: marks servers (ServerEntry::withheld) and
// takes out tables (Fragment::withheld_auth), and those of a name that a file of equal strength has
// given before. Of the others it notes the program, which expand() compares with what is there when
// the server starts. Without approvals nothing is approved.
void withhold(std::vector<Fragment>& fragments, const Approvals* approvals,
              const Environment& environment);

// Of a definition, as a Proposal has it.
std::string digest_of(const boost::json::value& definition);

// What shows and approves it, fit to be pasted: a checkout names its tables as it likes.
std::string trust_command(const std::string& id);
// Why the server of `proposal` cannot be used, and the command that ends that.
std::string why_inert(const Proposal& proposal);
// Its last part, from the semicolon: names only what is not approved yet.
std::string how_to_approve(const Proposal& proposal);

}  // namespace patchbay::config
