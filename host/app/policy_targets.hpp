// Which levels of which servers the words of `patchbay policy` mean.
//
// Threads: [loop].
// Errors:  Invalid, NotFound with the nearest server.
#pragma once

#include "app/host.hpp"
#include "service/decision_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

struct PolicyTarget {
    std::string server;  // id
    std::string key;  // of its `tools`: the server's own name of a tool, or the beginning of some
    bool operator==(const PolicyTarget&) const = default;
};

struct PolicyWords {
    std::vector<std::string>
        patterns;        // public, or with `server` or `all` the server's own; none: all tools
    std::string server;  // that one; empty: as the patterns say
    bool all = false;    // every server that is configured
};

// Whether an answer is about one of these.
bool are_meant(const std::vector<PolicyTarget>& targets, const service::Decision& answer);
// Nothing: it is a name, or the beginning of some with * at its end.
std::optional<Error> why_no_key(const std::string& key);

Result<std::vector<PolicyTarget>> policy_targets(const PolicyWords& words, Host& host);

}  // namespace patchbay::app
