#include "app/entry_check.hpp"

#include "app/exposed_secrets.hpp"
#include "app/output.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <vector>

namespace patchbay::app {
using config::Scope;

Result<void> judge(const Host& host, const std::string& file, const std::string& text,
                   const std::string& id, const GlobalOptions& global) {
    const auto before = host.check_file(file);
    auto told = host.check_text(file, text);
    std::erase_if(told, [&](const config::Diagnostic& each) {
        if (each.server == id) return false;
        return !each.server.empty() || each.severity != config::Severity::Error ||
               std::any_of(before.begin(), before.end(), [&](const config::Diagnostic& old) {
                   return old.message == each.message && old.server == each.server;
               });
    });
    for (const auto& each : told)
        if (each.severity == config::Severity::Error)
            return Error{ErrorCode::Invalid,
                         "nothing is written, it would not work: " + config::sentence_of(each)};
    if (!global.quiet)
        for (const auto& each : told) say("warning: " + config::sentence_of(each));
    return {};
}

void warn_of_secrets(const ClearSecrets& secrets, const std::string& file, Scope scope,
                     const GlobalOptions& global) {
    std::vector<std::string> told;
    for (const auto& [id, names] : secrets)
        if (!names.empty())
            told.push_back("server \"" + core::printable(id, 80) +
                           "\": " + core::join(names, ", "));
    if (told.empty() || global.quiet) return;
    const auto readers =
        scope == Scope::Project
            ? "a file that comes with the checkout; ${NAME} takes it from a variable, "
              "${secret:NAME} from `patchbay secret set`, --scope local or user keeps it out"
            : told_of_readers(file);
    if (!readers.empty())
        say("warning: " + core::join(told, "; ") + " is in clear text in " + readers);
}

}  // namespace patchbay::app
