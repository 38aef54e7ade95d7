#include "app/exposed_secrets.hpp"

#include "app/server_words.hpp"
#include "config/git_index.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"

#include <cstdio>
#include <map>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// What is said of a secret in the file, behind "is in clear text in "; empty: it is its owner's alone.
std::string exposure_of(const std::string& file) {
    if (config::git_tracks(file))
        return "a file that git tracks; ${NAME} takes it from a variable, ${secret:NAME} from "
               "`patchbay secret set`";
    return told_of_readers(file);
}

}  // namespace

std::string told_of_readers(const std::string& file) {
    struct stat about {};
    if (!file.starts_with('/') || ::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode) ||
        (about.st_mode & (S_IRGRP | S_IROTH)) == 0)
        return {};
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", unsigned(about.st_mode & 07777));
    return file + ", which others may read (mode " + mode + "); chmod 600 " +
           core::shell_word(file) +
           " makes it its owner's alone, ${secret:NAME} (`patchbay secret set NAME`, or `import "
           "--secrets store`) keeps the secret out of it";
}

void tell_exposed_secrets(config::Config& config) {
    std::map<std::string, std::string> exposures;  // by file
    const auto exposed = [&](const std::string& file) -> const std::string& {
        const auto [known, fresh] = exposures.try_emplace(file);
        if (fresh) known->second = exposure_of(file);
        return known->second;
    };
    const auto tell = [&](const std::string& id, const json::object& settings,
                          const config::Place& of_server) {
        for (const auto& name : clear_secrets(settings)) {
            const auto* origin = config.find_origin("servers." + id + "." + name);
            const auto& place = origin ? *origin : of_server;
            const auto& why = exposed(place.file);
            if (why.empty()) continue;
            config.diagnostics.push_back(
                {config::RuleId::ExposedSecret, config::Severity::Warning, place,
                 "server \"" + id + "\": " + name + " is in clear text in " + why, id});
        }
    };
    for (const auto& server : config.servers) tell(server.id, server.settings, server.place);
    for (const auto& proposal : config.untrusted)
        if (const auto* settings = core::object_in(&proposal.definition, "server"))
            tell(proposal.id, *settings, proposal.place);
}

}  // namespace patchbay::app
