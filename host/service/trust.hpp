// What a checkout brings and nobody has approved yet: how it stands, all it says, and its JSON.
//
// Threads: [loop].
// Errors:  NotFound: nothing of that id waits for an approval.
#pragma once

#include "service/trust_file.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::service {

enum class Stage { New, Changed, Approved };  // the last: what it waits for is not
Stage stage_of(const config::Proposal& proposal, const TrustFile& trust);

// Whole: with the [auth.*] table that a server would use, which may be the user's, unless that is
// one of `shown` itself.
boost::json::object definition_of(const config::Proposal& proposal,
                                  const std::vector<config::Proposal>& shown,
                                  const config::Config& config);

// Of this checkout and approved as it stands now, though it may not work: what was changed since waits
// again.
bool is_approved(const std::string& id, const config::Config& config);

// Those that wait, by their ids. Names no other id as the one that may be meant: what is approved
// must have been looked at.
Result<std::vector<config::Proposal>> chosen(const std::vector<std::string>& ids,
                                             const config::Config& config);

boost::json::object to_json(const config::Proposal& proposal, const TrustFile& trust,
                            const config::Config& config);

}  // namespace patchbay::service
