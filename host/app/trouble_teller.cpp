#include "app/trouble_teller.hpp"

#include "app/output.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::app {

bool print_diagnostics(const std::vector<config::Diagnostic>& diagnostics, bool quiet) {
    bool errors = false;
    for (const auto& diagnostic : diagnostics) {
        const bool error = diagnostic.severity == config::Severity::Error;
        errors = errors || error;
        if (error || !quiet) say(config::to_string(diagnostic));
    }
    return errors;
}

std::vector<config::Diagnostic> troubles_of(
    std::vector<config::Diagnostic> all, const std::vector<std::string>& servers,
    TroubleTeller::Entries entries, const std::function<bool(const std::string&)>& in_force) {
    const auto is_asked_for = [&](const std::string& id) {
        return std::find(servers.begin(), servers.end(), id) != servers.end();
    };
    std::erase_if(all, [&](const config::Diagnostic& each) {
        const bool of_this_run = each.place.scope == config::Scope::Session;
        const bool warning = each.severity == config::Severity::Warning;
        if (each.server.empty()) return warning && !of_this_run;
        // Of one that is not in force the verb ends with why, and not with what was said in vain.
        const bool in_vain = warning && of_this_run;
        const auto is_told_of = [&](const std::string& id) {
            return is_asked_for(id) &&
                   (entries == TroubleTeller::Entries::All || in_vain || in_force(id));
        };
        return !is_told_of(each.server) &&
               std::none_of(each.near.begin(), each.near.end(), is_told_of);
    });
    return all;
}

void TroubleTeller::tell_all() {
    tell(servers_.config().diagnostics);
}

void TroubleTeller::tell_those_of(const std::vector<std::string>& servers, Entries entries) {
    tell(troubles_of(servers_.config().diagnostics, servers, entries,
                     [this](const std::string& id) { return servers_.has(id); }));
}

void TroubleTeller::tell(std::vector<config::Diagnostic> diagnostics) {
    std::map<std::string, std::size_t> left_out;
    std::erase_if(diagnostics, [&](const config::Diagnostic& each) {
        const bool warning = each.severity == config::Severity::Warning;
        if ((warning && quiet_) || !told_.insert(config::to_string(each)).second) return true;
        const bool fits = ++told_of_[each.place.file] <= kMostOfOneFile;
        if (!fits) ++left_out[each.place.file];
        return !fits;
    });
    print_diagnostics(diagnostics, quiet_);
    for (const auto& [file, count] : left_out)
        say(file + ": " + std::to_string(count) +
            " more errors and warnings; `patchbay config check` tells them all");
}

}  // namespace patchbay::app
