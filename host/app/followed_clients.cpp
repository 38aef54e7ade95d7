#include "app/followed_clients.hpp"

#include "app/foreign_servers.hpp"
#include "app/scope_file.hpp"
#include "app/wanted_entry.hpp"
#include "config/dialects.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::app {

namespace {

using config::Candidate;
using config::note;
using config::RuleId;
using config::Scope;
using config::Severity;

void take(const ForeignServer& server, config::Fragment& into) {
    if (server.is_part) return;
    const auto name = "server \"" + core::printable(server.id, 80) + "\": ";
    if (!server.left.empty())
        return note(into, RuleId::NotFollowed, Severity::Warning, server.mark,
                    name + "not followed: " + server.left);
    for (const auto& warning : server.warnings)
        note(into, RuleId::ForeignKey, Severity::Warning, server.mark,
             warning.starts_with(name) ? warning : name + warning);
    into.servers.push_back(server.read);
}

// What others may have written in a checkout is as good as absent, as with the files that are ours.
void tell_fault(const ForeignFile& file, config::Fragment& fragment, Candidate& place) {
    const bool of_others = file.of_checkout && file.fault->code == ErrorCode::Denied;
    place.found = of_others                                ? Candidate::Found::Ignored
                  : file.fault->code == ErrorCode::Invalid ? Candidate::Found::Broken
                                                           : Candidate::Found::Unreadable;
    place.note = file.fault->message;
    note(fragment, RuleId::NotFollowed, of_others ? Severity::Warning : Severity::Error,
         file.fault_mark, file.fault->message + "; nothing of it is followed");
}

config::ClientFiles::File restated(const ForeignFile& file, const std::string& project) {
    const auto scope = file.of_checkout ? Scope::ClientProject : Scope::Client;
    const auto folder = file.of_checkout ? project : std::string();
    config::ClientFiles::File out{{scope, file.path, Candidate::Found::Absent, {}}, {}};
    if (!file.there && !file.fault) return out;
    out.place.found = Candidate::Found::Read;
    config::Fragment of_project, of_all;
    of_project.source = of_all.source = {scope, 0, file.path, folder};
    if (file.fault) tell_fault(file, of_all, out.place);
    for (const auto& server : file.servers) take(server, server.of_project ? of_project : of_all);
    out.fragments.push_back(std::move(of_project));
    out.fragments.push_back(std::move(of_all));
    return out;
}

}  // namespace

std::vector<std::string> FollowedClients::clients() const {
    std::vector<std::string> ids;
    for (const auto& each : known_clients()) ids.emplace_back(each.id);
    return ids;
}

std::vector<config::ClientFiles::File> FollowedClients::read(
    const std::string& client, const config::Environment& environment, const std::string& project,
    const std::set<std::string>& own) const {
    std::vector<File> files;
    const auto* known = find_client(client);
    if (!known) return files;
    const auto folder = project.empty() ? project_folder(environment) : project;
    // What the user's own file has for no project in particular begins nowhere: in the folder that we happen to be in
    // a stranger's program may have that name.
    const Lookout out{environment, folder, {}, self_path(), own};
    for (const auto& path : foreign_files(*known, out))
        files.push_back(restated(read_foreign(*known, path, out), folder));
    return files;
}

}  // namespace patchbay::app
