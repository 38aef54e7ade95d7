// patchbay import: what people have in the files of other clients, taken over.
#include "app/output.hpp"
#include "app/server_edit.hpp"
#include "app/session.hpp"
#include "app/taken_over.hpp"
#include "app/verb.hpp"
#include "app/wanted_entry.hpp"
#include "config/ids.hpp"
#include "config/resolve.hpp"
#include "config/show.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;
using config::Scope;

namespace {

json::array json_of(const std::vector<Outcome>& outcomes) {
    json::array list;
    for (const auto& each : outcomes) {
        json::object line{{"id", each.server->id},
                          {"state", each.state},
                          {"client", each.file->client->id},
                          {"file", each.file->path},
                          {"server", config::masked(each.server->entry)}};
        if (!each.why.empty()) line["why"] = each.why;
        if (!each.warnings.empty()) line["warnings"] = json::value_from(each.warnings);
        list.push_back(std::move(line));
    }
    return list;
}

std::string origin_of(const ForeignFile& file) {
    return std::string(file.client->title) + ", " + file.path;
}

void print(const std::vector<Outcome>& outcomes, const GlobalOptions& global) {
    if (global.json) return print_json(json::serialize(json_of(outcomes)));
    std::vector<std::vector<Cell>> rows{{{"ID"}, {"STATE"}, {"SERVER"}, {"FROM"}}};
    for (const auto& each : outcomes)
        rows.push_back({{core::printable(each.server->id, 80)},
                        {each.state, each.state == "left" ? "yellow" : ""},
                        {core::printable(config::endpoint_of(each.server->entry), 100)},
                        {origin_of(*each.file)}});
    print_table(rows);
}

template <class Files>
void tell_files(const Files& files, const GlobalOptions& global) {
    if (global.json || global.quiet) return;
    for (const auto& file : files) say("written: " + file);
}

void tell_notes(const std::vector<Outcome>& outcomes, const GlobalOptions& global) {
    for (const auto& each : outcomes) {
        const auto name = "server \"" + core::printable(each.server->id, 80) + "\" of " +
                          each.file->client->title + ": ";
        if (!each.why.empty()) say("note: " + name + each.why);
        const auto again = "server \"" + each.server->id + "\": ";  // as the reader of files begins
        for (const auto& warning : each.warnings)
            if (!global.quiet && each.state != "left")
                say("warning: " + name +
                    (warning.starts_with(again) ? warning.substr(again.size()) : warning));
    }
}

// Claude Code has what is for one project beside what is for all, and uses that there.
void leave_what_is_hidden(std::vector<ForeignFile>& files) {
    for (auto& file : files)
        for (auto& server : file.servers) {
            const auto hides = [&](const ForeignServer& other) {
                return other.of_project && other.id == server.id;
            };
            if (!server.of_project && std::any_of(file.servers.begin(), file.servers.end(), hides))
                server.left = std::string("in this project ") + file.client->title +
                              " uses another one of that name, which it has for the project alone";
        }
}

struct Found {
    ForeignFile* file;
    ForeignServer* server;
};

std::string place_of(const Found& found) {
    return found.file->path + ":" + std::to_string(found.server->mark.line);
}

// By another id than its client has for it: one, and those that are called so already are not asked for.
Result<void> rename(std::vector<ForeignFile>& files, ImportOptions& options) {
    if (options.as.empty()) return {};
    if (options.ids.size() != 1)
        return Error{ErrorCode::Invalid,
                     "--as: what one server is called here; expected the one ID that its client "
                     "has for it"};
    if (!config::valid_id(options.as))
        return Error{ErrorCode::Invalid, "--as: \"" + core::printable(options.as, 80) +
                                             "\" is no id; it has letters, digits, \"-\" and "
                                             "\"_\", 64 at most, and no \"__\""};
    const auto id = options.ids.front();
    std::vector<Found> named, meant;
    for (auto& file : files)
        for (auto& server : file.servers) {
            if (server.id == id) named.push_back({&file, &server});
            if (server.id == id && server.left.empty()) meant.push_back({&file, &server});
            if (server.id == id || server.id == options.as) server.id.clear();
        }
    if (meant.empty() && !named.empty()) meant.push_back(named.front());  // it is told why not
    std::set<std::string> clients, places;
    for (const auto& each : meant) {
        clients.insert(each.file->client->id);
        places.insert(place_of(each));
    }
    if (meant.size() > 1)
        return Error{ErrorCode::Invalid,
                     "--as: " + core::join({clients.begin(), clients.end()}, " and ") +
                         (clients.size() > 1 ? " have a server \"" : " has two servers \"") +
                         core::printable(id, 80) + "\" (" +
                         core::join({places.begin(), places.end()}, ", ") + "); " +
                         (clients.size() > 1 ? "--from says whose is meant"
                                             : "--from and --file say which is meant")};
    if (meant.empty()) return {};
    meant.front().server->id = options.as;
    options.ids = {options.as};
    return {};
}

int import_verb(const GlobalOptions& global, ImportOptions options) {
    auto files = read_foreign_files(options, environment_of(global));
    if (!files) return report_file(files.error(), global);
    leave_what_is_hidden(*files);
    if (auto renamed = rename(*files, options); !renamed) return report(renamed.error(), global);
    std::vector<std::string> ids;
    for (const auto& file : *files)
        for (const auto& server : file.servers) ids.push_back(server.id);
    for (const auto& id : options.ids)
        if (std::find(ids.begin(), ids.end(), id) == ids.end())
            return report(
                {ErrorCode::NotFound,
                 (options.file.empty() ? std::string("no file of another client has")
                                       : options.file + " does not have") +
                     " a server \"" + core::printable(id, 80) + "\"" + core::did_you_mean(id, ids)},
                global);
    Import import(global, options);
    std::vector<Outcome> outcomes;
    for (const auto& file : *files)
        for (const auto& server : file.servers)
            if (options.ids.empty() || options.names(server.id))
                outcomes.push_back(import.take(file, server));
    if (outcomes.empty() && !options.file.empty() && !global.json) {
        const auto& client = *find_client(options.from);
        say("nothing to import: " + options.file + " has no servers where " + client.title +
            " has them, in \"" + client.tables.front().back() + "\"");
        return kOk;
    }
    if (outcomes.empty() && !global.json) {
        say("nothing to import: no file of a client that is known has servers; patchbay connect "
            "lists them");
        return kOk;
    }
    print(outcomes, global);
    tell_notes(outcomes, global);
    tell_files(import.files(), global);
    import.warn_of_clear_text();
    const bool wrote = std::any_of(outcomes.begin(), outcomes.end(),
                                   [](const auto& each) { return each.state == "added"; });
    if (wrote && options.into() == Scope::Local) keep_out_of_git(global);
    // The file that was to have them all is at fault, and none of them.
    if (const auto& fault = import.fault()) return code_of_file(*fault);
    // Who names one wants that one.
    const bool lacks =
        !options.ids.empty() && std::any_of(outcomes.begin(), outcomes.end(),
                                            [](const auto& each) { return each.state == "left"; });
    return lacks ? int(kFailure) : int(kOk);
}

// ---- offered by init

struct Offered {
    const ForeignFile* file;
    const ForeignServer* server;
};

// Those that can be taken, of one id the first. What a checkout has for other clients only a person can choose.
std::vector<Offered> found_in(const std::vector<ForeignFile>& files, bool of_checkouts) {
    std::vector<Offered> all;
    std::set<std::string> ids;
    for (const auto& file : files)
        for (const auto& server : file.servers)
            if (server.left.empty() && (of_checkouts || !file.of_checkout) &&
                ids.insert(server.id).second)
                all.push_back({&file, &server});
    return all;
}

// "1 3" or "1,3", and "n" as if nothing had been said; nothing: it makes no sense.
std::optional<std::vector<std::size_t>> numbers_in(std::string line, std::size_t most) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::vector<std::size_t> numbers;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        if (core::lower(word) == "n" || core::lower(word) == "no")
            return std::vector<std::size_t>();
        std::size_t number = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
        if (read.ec != std::errc() || read.ptr != word.data() + word.size() || number < 1 ||
            number > most)
            return {};
        numbers.push_back(number - 1);
    }
    return numbers;
}

std::vector<Offered> chosen_of(const std::vector<Offered>& found) {
    say("servers that other clients have:");
    for (std::size_t i = 0; i < found.size(); ++i)
        say("  " + std::to_string(i + 1) + "  " + core::printable(found[i].server->id, 80) + "  " +
            core::printable(config::endpoint_of(found[i].server->entry), 100) + "  (" +
            origin_of(*found[i].file) +
            (found[i].file->of_checkout ? "; it comes with the checkout)" : ")"));
    for (;;) {
        std::fputs("take over which? numbers, as 1 3; Enter: none: ", stderr);
        std::string line;
        if (!std::getline(std::cin, line)) return {};
        const auto numbers = numbers_in(line, found.size());
        if (!numbers) {
            say("expected numbers from 1 to " + std::to_string(found.size()));
            continue;
        }
        std::vector<Offered> chosen;
        for (const auto each : *numbers) chosen.push_back(found[each]);
        return chosen;
    }
}

}  // namespace

int offer_import(const GlobalOptions& global, Offer offer, json::array& taken) {
    if (offer == Offer::Nothing) return kOk;
    // What a person has for all projects is theirs, and no matter of whoever else works on this one.
    ImportOptions options, own;
    options.scope = "project";
    own.scope = "local";
    options.secrets = own.secrets = "store";
    const auto files = read_foreign_files(options, environment_of(global));
    if (!files) return report_file(files.error(), global);
    auto found = found_in(*files, offer == Offer::Ask);
    if (offer == Offer::Ask && !found.empty()) found = chosen_of(found);
    for (const auto& each : found) {
        options.ids.push_back(each.server->id);
        own.ids.push_back(each.server->id);
    }
    std::vector<Outcome> outcomes;
    std::vector<std::string> written;
    // One after the other: whoever changes files has the turn until it ends.
    const auto take = [&](const ImportOptions& into, bool of_checkout) {
        Import import(global, into);
        for (const auto& each : found)
            if (each.file->of_checkout == of_checkout)
                outcomes.push_back(import.take(*each.file, *each.server));
        written.insert(written.end(), import.files().begin(), import.files().end());
        import.warn_of_clear_text();
    };
    take(options, true);
    take(own, false);
    if (!outcomes.empty() && !global.json) print(outcomes, global);
    tell_notes(outcomes, global);
    tell_files(written, global);
    taken = json_of(outcomes);
    return kOk;
}

void add_import_verb(CLI::App& app, Choice& choice) {
    const auto options = std::make_shared<ImportOptions>();
    auto& import = add_verb(
        app, "import", "Take over the servers that other clients have in their own files",
        "  patchbay import --dry-run\n  patchbay import --from cursor\n  patchbay import files "
        "--from claude --scope project\nEach is written by our keys, as `patchbay mcp add` does "
        "it, "
        "and theirs stay as they are. What a client has\nby the same id and otherwise is left; one "
        "that starts Patchbay is none. Back with: patchbay config undo");
    import.add_option("ID", options->ids, "These alone");
    import.add_option("--from", options->from, "Of this client; else of each that is known")
        ->type_name("CLIENT");
    import.add_option("--file", options->file, "This file, in the words of that client")
        ->type_name("FILE");
    import.add_option("--as", options->as, "What the one that is named is called here")
        ->type_name("NEWID");
    import.add_option("--scope", options->scope, "Into whose file: local, project or user")
        ->check(CLI::IsMember({"local", "project", "user"}))
        ->capture_default_str();
    import
        .add_option(
            "--secrets", options->secrets,
            "Those in clear text: keep them so, or store them (`patchbay secret`) and write "
            "their names")
        ->check(CLI::IsMember({"keep", "store"}))
        ->capture_default_str();
    import.add_flag("--dry-run", options->dry_run, "Show it and write nothing");
    import.add_flag("--replace", options->replace,
                    "In place of what that scope has by the same id");
    choice.on(import, [options](const auto& global) {
        return import_verb(parsing_once(global), *options);
    });
}

}  // namespace patchbay::app
