// patchbay export: the servers that are configured here, put into a client's own file, and taken out again.
#include "app/client_entry.hpp"
#include "app/entry_check.hpp"
#include "app/given_file.hpp"
#include "app/output.hpp"
#include "app/scope_file.hpp"
#include "app/server_words.hpp"
#include "app/session.hpp"
#include "app/trouble_teller.hpp"
#include "app/verb.hpp"
#include "app/wanted_entry.hpp"
#include "config/resolve.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace edit = config::edit;
namespace json = boost::json;

namespace {

struct ExportOptions {
    std::vector<std::string> ids;
    std::string to, file, secrets = "leave";
    bool project = false, dry_run = false, replace = false, undo = false;

    bool names(const std::string& id) const {
        return ids.empty() || std::find(ids.begin(), ids.end(), id) != ids.end();
    }
};

// What has become of one.
struct Exported {
    std::string id, state, why;
};

Result<const KnownClient*> client_of(const ExportOptions& options) {
    if (const auto* client = find_client(options.to)) return client;
    std::vector<std::string> known;
    for (const auto& each : known_clients()) known.emplace_back(each.id);
    return Error{ErrorCode::Invalid, "--to: no client \"" + core::printable(options.to, 80) +
                                         "\" is known" + core::did_you_mean(options.to, known) +
                                         "; expected one of " + core::join(known, ", ")};
}

Result<std::string> file_for(const KnownClient& client, const ExportOptions& options,
                             const config::Environment& environment) {
    if (!options.file.empty())
        return options.file.starts_with('/') ? options.file
                                             : environment.working_directory + "/" + options.file;
    if (!options.project) {
        auto file = file_of(client, environment);
        if (!file.empty()) return file;
        return Error{ErrorCode::NotFound,
                     "there is no home folder to look in; name the file with --file"};
    }
    auto file = project_file_of(client, project_folder(environment));
    if (file.empty())
        return Error{ErrorCode::Invalid, std::string(client.title) +
                                             " has no file for one project; without --project it "
                                             "is all of them"};
    if (auto inside = check_inside(file, project_folder(environment)); !inside)
        return inside.error();
    return file;
}

// Why a client cannot have a value by reference.
std::string unread_by(const KnownClient& client, const std::string& where) {
    const std::string title(client.title);
    if (!client.reference) return title + " reads no reference in " + where;
    std::string form(client.reference);
    form.replace(form.find('*'), 1, "NAME");
    const bool by_name = client.words.variables == EntryWords::Variables::ByName;
    const bool headers = client.words.variables == EntryWords::Variables::Headers;
    return title + " reads the variables of its own environment alone" +
           (by_name ? ", by keys for their names" : ", as " + form) +
           (headers ? " in headers" : "") + ", and not what is named in " + where;
}

class Export {
public:
    Export(const KnownClient& client, std::string file, const ExportOptions& options,
           const config::Environment& environment)
        : client_(client), file_(std::move(file)), options_(options), environment_(environment) {}

    Exported put(const std::string& id, const GivenEntries& entries) const {
        const auto values = entries.expanded.find(id);
        if (values != entries.expanded.end() && options_.secrets == "leave")
            return {id, "left",
                    unread_by(client_, core::printable(core::join(values->second, ", "), 200)) +
                        "; --secrets write puts the value into its file"};
        if (const auto clear = clear_secrets(entries.entries.at(id));
            options_.project && options_.secrets == "leave" && !clear.empty())
            return {id, "left",
                    core::printable(core::join(clear, ", "), 200) +
                        " is a secret in clear text, and the file comes with the checkout; "
                        "--secrets write puts it there"};
        const auto done = entry_of(id).connect(
            entries.entries.at(id), options_.replace ? Foreign::Replace : Foreign::Keep, trial());
        if (!done) return {id, "left", why_of(done.error())};
        if (done->state == EntryChange::State::Unchanged) return {id, "there already", {}};
        return {id, options_.dry_run ? "would be written" : "written", {}};
    }

    // Those in the file that are ours.
    Result<std::vector<Exported>> take_out() const {
        const auto file = ClientFile::read(file_);
        if (!file) return file.error();
        const auto root = edit::read(file->text(), client_.format);
        if (!root) return in_file(file->path(), root.error());
        const auto* table = edit::find(*root, table_of(client_, *root));
        std::vector<std::string> names;
        if (const auto* entries = table ? table->if_object() : nullptr)
            for (const auto& each : *entries)
                if (!runs_patchbay(each.value(), self_path())) names.emplace_back(each.key());
        // The last that was written first: then what was before all of them comes back as it was.
        std::vector<Exported> outcomes;
        for (auto name = names.rbegin(); name != names.rend(); ++name) {
            if (!options_.names(*name)) continue;
            const auto done = entry_of(*name).disconnect(trial());
            if (done)
                outcomes.push_back(
                    {*name, options_.dry_run ? "would be taken out" : "taken out", {}});
            else if (!options_.ids.empty() || done.error().code != ErrorCode::Invalid)
                outcomes.push_back({*name, "left", why_of(done.error())});
        }
        for (const auto& id : options_.ids)
            if (std::find(names.begin(), names.end(), id) == names.end())
                outcomes.push_back({id, "left", file->path() + " has no such entry"});
        return outcomes;
    }

private:
    ClientEntry entry_of(const std::string& id) const {
        // A person's own file may hold tokens of others; one of a project is read by whoever shares it.
        const auto readers =
            options_.project ? ClientFile::Readers::AsUsual : ClientFile::Readers::User;
        return {{&client_, file_, id, readers}, default_state_directory(environment_), self_path()};
    }
    Trial trial() const { return options_.dry_run ? Trial::Yes : Trial::No; }

    // The words of ClientEntry are those of `patchbay connect`.
    std::string why_of(const Error& error) const {
        if (error.code != ErrorCode::Invalid) return error.message;
        return options_.undo
                   ? file_ + " has one that `patchbay export` has not written; it stays"
                   : file_ + " has another one by that name; --replace puts this in its place";
    }

    const KnownClient& client_;
    const std::string file_;
    const ExportOptions& options_;
    const config::Environment& environment_;
};

void print(const std::vector<Exported>& outcomes, const KnownClient& client,
           const std::string& file, const GlobalOptions& global) {
    json::array list;
    std::vector<std::vector<Cell>> rows{{{"ID"}, {"STATE"}, {"FILE"}}};
    for (const auto& each : outcomes) {
        rows.push_back({{core::printable(each.id, 80)},
                        {each.state, each.state == "left" ? "yellow" : ""},
                        {file}});
        json::object line{
            {"id", each.id}, {"state", each.state}, {"client", client.id}, {"file", file}};
        if (!each.why.empty()) line["why"] = each.why;
        list.push_back(std::move(line));
    }
    if (global.json)
        print_json(json::serialize(list));
    else
        print_table(rows);
    for (const auto& each : outcomes)
        if (!each.why.empty())
            say("note: server \"" + core::printable(each.id, 80) + "\": " + each.why);
}

// Who names one wants that one.
int code_of(const std::vector<Exported>& outcomes, const ExportOptions& options) {
    const bool lacks =
        !options.ids.empty() && std::any_of(outcomes.begin(), outcomes.end(),
                                            [](const auto& each) { return each.state == "left"; });
    return lacks ? int(kFailure) : int(kOk);
}

// Those that our own files have in clear text, of servers that the client's file has by now or would have.
ClearSecrets secrets_in(const config::Given& given, const std::vector<Exported>& outcomes) {
    ClearSecrets secrets;
    for (const auto& one : given.servers)
        if (std::any_of(outcomes.begin(), outcomes.end(), [&](const Exported& each) {
                return each.id == one.server.id && each.state != "left";
            }))
            secrets[one.server.id] = clear_secrets(one.server.settings);
    return secrets;
}

int export_verb(const GlobalOptions& global, const ExportOptions& options) {
    const auto client = client_of(options);
    if (!client) return report(client.error(), global);
    auto environment = environment_of(global);
    const auto file = file_for(**client, options, environment);
    if (!file) return report(file.error(), global);
    const Export out(**client, *file, options, environment);
    if (options.undo) {
        const auto outcomes = out.take_out();
        if (!outcomes) return report_file(outcomes.error(), global);
        print(*outcomes, **client, *file, global);
        return code_of(*outcomes, options);
    }
    Host host(host_options(global));
    if (!host.config().stop.empty()) return report_stop(host.config(), global);
    TroubleTeller(host.servers(), global.quiet).tell_those_of(options.ids);
    auto given = config::resolve(host.config(), {});
    if (!given) return report(given.error(), global);
    std::vector<std::string> known;
    for (const auto& server : host.config().servers) known.push_back(server.id);
    for (const auto& id : options.ids)
        if (std::find(known.begin(), known.end(), id) == known.end())
            return report(host.servers().no_such_server(id), global);
    std::erase_if(given->servers, [&](const auto& one) { return !options.names(one.server.id); });
    environment.stored_secrets = {
        [&host](const std::string& name) { return host.named_secrets().read(name); },
        [&host](const std::string& name) { return host.named_secrets().check(name); }};
    const auto entries = entries_for(*client, *given, environment);
    std::vector<Exported> outcomes;
    for (const auto& [id, entry] : entries.entries) outcomes.push_back(out.put(id, entries));
    auto warnings = given->warnings;
    warnings.insert(warnings.end(), entries.warnings.begin(), entries.warnings.end());
    for (const auto& each : warnings)
        if (!global.quiet && options.names(each.server)) say(config::to_string(each));
    // What the client does not speak, or rules keep from it: why was said.
    for (const auto& id : options.ids)
        if (!entries.entries.contains(id)) outcomes.push_back({id, "left", {}});
    print(outcomes, **client, *file, global);
    if (options.project && options.secrets == "write" && !entries.expanded.empty() && !global.quiet)
        say("warning: values of secrets stand in " + *file +
            " in clear text, and a checkout takes it along; without --project, or with --secrets "
            "leave, it does not");
    if (!options.project) {
        auto secrets = secrets_in(*given, outcomes);
        if (options.secrets == "write")
            for (const auto& [id, names] : entries.expanded)
                secrets[id].insert(secrets[id].end(), names.begin(), names.end());
        warn_of_secrets(secrets, *file, config::Scope::User, global);
    }
    return code_of(outcomes, options);
}

}  // namespace

void add_export_verb(CLI::App& app, Choice& choice) {
    const auto options = std::make_shared<ExportOptions>();
    auto& verb = add_verb(
        app, "export", "Put the servers that are configured here into a client's own file",
        "  patchbay export --to cursor --dry-run\n  patchbay export --to codex github files\n  "
        "patchbay export --to claude --project\n  patchbay export --to cursor --undo\nEach is an "
        "entry in the client's words, and every other byte of its file stays. The client speaks "
        "with the\nservers itself: rules hold where it goes through Patchbay, which is `patchbay "
        "connect`. What it does not speak is left.");
    verb.add_option("ID", options->ids, "These alone");
    verb.add_option("--to", options->to, "The client")->type_name("CLIENT")->required();
    auto* file = verb.add_option("--file", options->file, "This file, in the words of that client")
                     ->type_name("FILE");
    verb.add_flag("--project", options->project, "Into its file for this project")->excludes(file);
    verb.add_option("--secrets", options->secrets,
                    "Values that the client could not read by reference: leave those servers, or "
                    "write the values")
        ->check(CLI::IsMember({"leave", "write"}))
        ->capture_default_str();
    verb.add_flag("--dry-run", options->dry_run, "Show it and write nothing");
    verb.add_flag("--replace", options->replace, "In place of entries of that name");
    verb.add_flag("--undo", options->undo, "Take out again what was put there");
    choice.on(verb, [options](const auto& global) { return export_verb(global, *options); });
}

}  // namespace patchbay::app
