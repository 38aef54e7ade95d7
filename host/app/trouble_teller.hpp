// Which of the configuration's diagnostics a person is told, on stderr and each once.
//
// Borrows the servers. Threads: [loop].
// Limits:  kMostOfOneFile; of what is beyond the number is told.
#pragma once

#include "config/config.hpp"
#include "service/servers.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {

class TroubleTeller {
public:
    static constexpr std::size_t kMostOfOneFile = 50;  // each file hides its own alone

    // InForce: where a verb ends with an error about what is not in force.
    enum class Entries { All, InForce };

    // No warnings when `quiet`.
    TroubleTeller(const service::Servers& servers, bool quiet) : servers_(servers), quiet_(quiet) {}

    void tell_all();
    // Those that a verb which names `servers` has to do with, as troubles_of() says.
    void tell_those_of(const std::vector<std::string>& servers, Entries entries = Entries::InForce);

private:
    void tell(std::vector<config::Diagnostic> diagnostics);

    const service::Servers& servers_;
    const bool quiet_;
    std::set<std::string> told_;
    std::map<std::string, std::size_t> told_of_;  // how many of each file
};

// Errors of whole files and tables, what was said for this run, and all about `servers`, or about ones that
// are not there by nearly the same name; InForce: of others than those that `in_force` holds of only what
// was said for this run in vain.
std::vector<config::Diagnostic> troubles_of(
    std::vector<config::Diagnostic> all, const std::vector<std::string>& servers,
    TroubleTeller::Entries entries, const std::function<bool(const std::string&)>& in_force);
// Diagnostics to stderr, warnings unless quiet. True when one is an error.
bool print_diagnostics(const std::vector<config::Diagnostic>& diagnostics, bool quiet);

}  // namespace patchbay::app
