#include "app/entry_check.hpp"

#include "app/output.hpp"
#include "app/server_words.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;
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

namespace {

bool others_may_read(const std::string& file) {
    std::error_code failed;
    const auto about = std::filesystem::status(file, failed);
    using std::filesystem::perms;
    return !failed && std::filesystem::exists(about) &&
           (about.permissions() & (perms::group_read | perms::others_read)) != perms::none;
}

}  // namespace

void warn_of_secrets(const std::string& id, const json::object& entry, Scope scope,
                     const std::string& file, const GlobalOptions& global) {
    const auto names = clear_secrets(entry);
    if (names.empty() || global.quiet) return;
    if (scope != Scope::Project && others_may_read(file))
        say("warning: server \"" + id + "\": " + core::join(names, ", ") + " is in clear text in " +
            file +
            ", which others of this machine may read; ${secret:NAME} takes it from `patchbay "
            "secret set`, as `patchbay import --secrets store` writes it, or chmod 600 that file");
    if (scope != Scope::Project) return;
    say("warning: server \"" + id + "\": " + core::join(names, ", ") +
        " is in clear text in a file that comes with the checkout; ${NAME} takes it from a "
        "variable, ${secret:NAME} from `patchbay secret set`, --scope local or user keeps it out");
}

}  // namespace patchbay::app
