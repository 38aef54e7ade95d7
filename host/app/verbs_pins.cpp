#include "app/output.hpp"
#include "app/server_pins.hpp"
#include "app/server_wait.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "app/visible_json.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "service/pins.hpp"
#include "service/things.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;
using pins::Difference;
using pins::Part;
using service::Kind;

namespace {

constexpr std::size_t kMostShown = 2'000;  // bytes of a value

// Known: what was listed last does, by whichever host, and starts nobody: a server that is started for it may list
// something else than the one that somebody is refused by.
enum class Lists { Known, Anew };

std::string folded(std::string text) {
    if (text.size() <= kMostShown) return text;
    const auto all = text.size();
    text.resize(core::utf8_prefix(text, kMostShown).size());
    return text + "... (" + std::to_string(all) + " bytes in all)";
}

std::string shown(const std::string& raw) {
    const auto read = core::parse_json(raw);
    return folded(read ? visible(*read) : core::printable(raw, kMostShown));
}

std::string heading_of(const Difference& difference) {
    auto text = std::string(pins::word_of(difference.part));
    if (!difference.name.empty()) text += " " + visible(json::value(difference.name));
    text += std::string(": ") + pins::name_of(difference.kind);
    const auto since = service::since(difference);
    return since.empty() ? text : text + " " + since;
}

void print(const Difference& difference) {
    print_line(heading_of(difference));
    if (difference.text_lost) print_line("  what it said then was too long to keep, or is damaged");
    for (const auto& [at, before, now] : difference.fields) {
        if (!at.empty()) print_line("  " + core::printable(at, 200));
        if (!before.empty()) print_line("    - " + shown(before));
        if (!now.empty()) print_line("    + " + shown(now));
    }
    if (difference.more_fields > 0)
        print_line("  and " + std::to_string(difference.more_fields) + " more places");
}

// What another host, or this one earlier, was told of such things; false: nobody was.
bool is_known(Session& session, const std::string& server, Kind kind) {
    auto& catalogue = session.host().catalogue();
    const auto found = session.host().connections().find(server);
    if (!found) return false;
    const auto& spec = found->get().spec();
    if (catalogue.has_none(server, spec.definition_key, service::list_of(kind))) return true;
    const auto* kept =
        catalogue.items(server, session.servers().origin_of(spec), service::list_of(kind));
    return kept != nullptr;
}

void list_things(Session& session, const std::string& server, Kind kind) {
    bool done = false;
    const auto listing = service::list_things(session.servers(), session.caller(), kind, server,
                                              service::ThingListing::Servers::Connect,
                                              [&](const service::ThingList&) { done = true; });
    wait_for(session, server, [&] { return done; });
}

// Nothing: it is known what the server lists.
std::optional<Error> learn(Session& session, const std::string& server, Lists look) {
    auto& host = session.host();
    host.recall_lists({server});
    const auto listing = [&] {
        const auto& all = host.catalogue().listings();
        const auto found = all.find(server);
        return found == all.end() ? nullptr : found->second.get();
    };
    const bool started = look == Lists::Anew || !listing() || !listing()->whole;
    if (started) ask_for_tools(session, {server}, service::Ask::Anew, 0);
    if (session.was_interrupted()) return Error{ErrorCode::Cancelled, "interrupted by the user"};
    // What it listed for an earlier host is not what it has now.
    const auto* heard = host.catalogue().standing(server);
    if (!listing() || (look == Lists::Anew && (!heard || heard->recalled))) {
        for (const auto& status : session.servers().statuses())
            if (status.id == server) return connection::why_not_ready(status);
        return Error{ErrorCode::Unavailable, "server \"" + server + "\" lists nothing"};
    }
    for (const auto kind : {Kind::Prompts, Kind::Templates}) {
        const auto& definition = listing()->definition;
        if (host.catalogue().has_none(server, definition, service::list_of(kind))) continue;
        const bool known = is_known(session, server, kind);
        if (look == Lists::Anew || (started && !known)) list_things(session, server, kind);
    }
    return {};
}

std::unique_ptr<Session> open(const GlobalOptions& global) {
    auto alone = global;
    alone.alone = true;  // what another host was told stands in the catalogue
    return Session::open(alone, Session::Life::OneShot);
}

// The record of a host without a state directory is nowhere.
ServerPins* pins_of(Session& session) {
    return session.host().pins();
}

pins::PublicName public_names(Session& session, const std::string& server) {
    return [&session, server](const std::string& tool) {
        return session.host().router().public_name(server, tool);
    };
}

// A record that cannot be read is a fault of a file, as one of configuration is.
int report_record(const Session& session, const Error& error) {
    session.report(error);
    return kConfigError;
}

int diff_verb(const GlobalOptions& global, const std::string& server, bool refresh) {
    const auto opened = open(global);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of({server}, TroubleTeller::Entries::All);
    if (!session.host().connections().find(server)) return session.report_no_server(server);
    if (const auto why = learn(session, server, refresh ? Lists::Anew : Lists::Known))
        return session.report(*why);
    auto* const kept = pins_of(session);
    if (!kept)
        return session.report({ErrorCode::Unsupported,
                               "there is no state directory to keep "
                               "approvals in"});
    const auto now = kept->pins().listed(server, public_names(session, server));
    const auto differences = kept->pins().differences(server, now);
    if (!differences) return report_record(session, differences.error());
    if (global.json) {
        print_line(escaped(service::to_json(server, *differences)));
    } else {
        for (const auto& each : *differences) print(each);
        if (differences->empty())
            say(kept->pins().any(server)
                    ? "nothing that is known of server \"" + server +
                          "\" differs from what was "
                          "approved"
                    : "nothing of server \"" + server + "\" was approved or used yet");
        else
            say("to approve it: patchbay trust " + server + " --tools");
    }
    return differences->empty() ? kOk : kFailure;
}

// Anything but yes is no.
bool agreed(const std::string& question) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s [y/N] ", question.c_str());
    std::string line;
    if (!std::getline(std::cin, line)) std::fputc('\n', stderr);
    return line == "y" || line == "Y" || line == "yes";
}

std::string count_of(const pins::Listed& listed, Part part, const char* what) {
    std::size_t count = 0;
    for (const auto& [name, item] : listed.items) count += name.first == part ? 1 : 0;
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string summary_of(const pins::Listed& listed) {
    auto text = count_of(listed, Part::Tools, "tool");
    if (listed.whole.contains(Part::Prompts))
        text += ", " + count_of(listed, Part::Prompts, "prompt");
    if (listed.whole.contains(Part::Templates))
        text += ", " + count_of(listed, Part::Templates, "resource template");
    return text;
}

// All there is, where nobody has approved anything that it could differ from.
std::vector<Difference> all_as_new(const pins::Listed& listed) {
    pins::Record none;
    none.whole = listed.whole;
    return pins::differences(none, listed);
}

int approve(Session& session, const std::string& server, ToolTrust how, json::array& told) {
    if (const auto why = learn(session, server, how.refresh ? Lists::Anew : Lists::Known))
        return session.report(*why);
    auto& pins = pins_of(session)->pins();
    auto now = pins.listed(server, public_names(session, server));
    auto differences = pins.differences(server, now);
    if (!differences) return report_record(session, differences.error());
    const bool first = !pins.any(server);
    if (first) differences = all_as_new(now);
    const auto* heard = session.host().catalogue().standing(server);
    const auto summary =
        summary_of(now) + (heard ? ", as listed at " + service::time_of(heard->listed) : "");
    if (!how.yes) {
        for (const auto& each : *differences) print(each);
        if (!agreed("approve of server " + server + ": " + summary +
                    (differences->empty() ? ", which is as it was seen?" : "?"))) {
            say("not approved: " + server);
            return kDenied;
        }
    }
    std::optional<Result<void>> kept;
    const auto at = std::chrono::duration_cast<std::chrono::seconds>(
                        session.host().loop().time().date().time_since_epoch())
                        .count();
    auto answer = service::to_json(server, *differences);
    pins.approve(server, std::move(now), at,
                 [&](Result<void> done) { kept.emplace(std::move(done)); });
    session.wait([&] { return kept.has_value(); });
    if (!kept) return kInterrupted;
    if (!*kept) return session.report(kept->error());
    say("approved: " + server + ", " + summary);
    told.push_back({{"id", server},
                    {"state", "approved"},
                    {"differences", std::move(answer.at("differences"))}});
    return kOk;
}

}  // namespace

int trust_tools(const GlobalOptions& global, const std::vector<std::string>& servers,
                ToolTrust how) {
    if (servers.empty())
        return report({ErrorCode::Invalid, "--tools needs the ids of the servers"}, global);
    if (!how.yes && global.json)
        return report(
            {ErrorCode::Invalid, "--json asks nobody; look at `patchbay mcp diff`, then say --yes"},
            global);
    if (!how.yes && !somebody_is_there())
        return report({ErrorCode::Invalid,
                       "there is no terminal to ask on; look at `patchbay mcp "
                       "diff`, then say --yes"},
                      global);
    const auto opened = open(global);
    if (!opened) return kConfigError;
    auto& session = *opened;
    if (!pins_of(session))
        return session.report(
            {ErrorCode::Unsupported, "there is no state directory to keep approvals in"});
    // All or none: who misspells one of several means to be told before anything is done.
    for (const auto& id : servers)
        if (!session.host().connections().find(id)) return session.report_no_server(id);
    json::array told;
    int code = kOk;
    for (const auto& id : servers) {
        if (session.was_interrupted()) break;
        if (const int each = approve(session, id, how, told); each != kOk) code = each;
    }
    if (global.json) print_line(escaped(told));
    return session.was_interrupted() ? int(kInterrupted) : code;
}

int forget_tools(const GlobalOptions& global, const std::vector<std::string>& servers) {
    const auto opened = open(global);
    if (!opened) return kConfigError;
    auto& session = *opened;
    json::array told;
    for (const auto& id : servers) {
        auto* const kept = pins_of(session);
        const auto key = kept ? kept->key_of(id) : std::nullopt;
        if (!key) return session.report_no_server(id);
        const auto removed = kept->folder().remove(*key);
        if (!removed) return session.report(removed.error());
        if (!*removed)
            return session.report({ErrorCode::NotFound,
                                   "nothing of the tools of server \"" + id + "\" was approved"});
        say("forgotten: what was approved of the tools of " + id);
        told.push_back({{"id", id}, {"state", "revoked"}});
    }
    if (global.json) print_line(escaped(told));
    return kOk;
}

void add_diff_verb(CLI::App& mcp, Choice& choice) {
    struct Words {
        std::string server;
        bool refresh = false;
    };
    const auto words = std::make_shared<Words>();
    auto& diff = add_verb(
        mcp, "diff", "What a server lists otherwise than it was approved",
        "  patchbay mcp diff files\n  patchbay mcp diff files --refresh --json\nCompared is what "
        "was listed last, by whichever host; patchbay trust ID --tools approves it. Exit codes: 0 "
        "nothing\ndiffers, 1 something does, 4 what was approved cannot be read, 5 the server "
        "cannot be asked, 6 there is no such\nserver.");
    diff.add_option("ID", words->server, "The server")->required();
    diff.add_flag("--refresh", words->refresh, "Ask the server what it has now");
    choice.on(diff, [words](const auto& global) {
        return diff_verb(global, words->server, words->refresh);
    });
}

}  // namespace patchbay::app
