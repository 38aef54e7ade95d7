// `audit`: what was asked of servers, as the trail has it, and whether that is whole.
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "audit/entry.hpp"
#include "audit/trail_files.hpp"
#include "audit/verify.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kShown = 100;  // unless somebody says otherwise

struct AuditOptions {
    audit::Wanted wanted;
    std::string since, format = "jsonl";
    std::size_t most = kShown;  // 0: all
};

std::string state_of(const GlobalOptions& global) {
    return default_state_directory(environment_of(global));
}

// What all records say, for whoever finds none: a word that was misspelt looks as if nothing were recorded.
struct Seen {
    std::uint64_t records = 0;
    std::set<std::string> servers, tools, principals;  // of each kMostNames

    void take(const audit::Entry& entry) {
        ++records;
        note(servers, entry.text("server"));
        note(tools, entry.text("tool"));
        note(tools, entry.text("name"));
        const auto* who = core::object_in(&entry.members(), "caller");
        for (const char* key : {"kind", "id", "name"})
            note(principals, core::text_in(who, key).value_or(""));
    }

private:
    static constexpr std::size_t kMostNames = 1'000;
    static void note(std::set<std::string>& names, std::string_view name) {
        if (!name.empty() && names.size() < kMostNames) names.emplace(name);
    }
};

std::string counted(std::uint64_t number, const char* what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// `no record fits: 12 records were looked at; no server "gti": did you mean "git"?`
std::string told_of_nothing(const Seen& seen, const audit::Wanted& wanted) {
    if (seen.records == 0)
        return "nothing is recorded; what is asked from now on is, where [audit] enabled = true";
    auto text = "no record fits: " + counted(seen.records, "record") +
                (seen.records == 1 ? " was" : " were") + " looked at";
    const auto look = [&](const char* what, const std::string& name,
                          const std::set<std::string>& names) {
        if (name.empty() || names.contains(name)) return;
        text += std::string("; none is of ") + what + " \"" + core::printable(name, 80) + "\"" +
                core::did_you_mean(name, {names.begin(), names.end()});
    };
    look("server", wanted.server, seen.servers);
    look("tool", wanted.tool, seen.tools);
    look("principal", wanted.principal, seen.principals);
    return text;
}

// The records that are wanted, oldest first, each with its line, until `look` returns false.
using EntryReader = std::function<bool(audit::Entry, std::string_view)>;
Result<void> each_wanted(const GlobalOptions& global, const AuditOptions& options,
                         const EntryReader& look, Seen* seen = nullptr) {
    auto wanted = options.wanted;
    if (!options.since.empty()) {
        auto since = audit::time_text(options.since, core::machine_time().date());
        if (!since) return Error{ErrorCode::Invalid, "--since: " + since.error().message};
        wanted.since = std::move(*since);
    }
    return audit::each_line(state_of(global) + "/" + audit::kFolder, [&](const audit::Line& line) {
        // A line that is none is verify's affair: the others are worth reading all the same.
        auto entry = audit::Entry::parse(line.text);
        if (seen && entry) seen->take(*entry);
        return !entry || !wanted.holds(*entry) || look(std::move(*entry), line.text);
    });
}

std::string duration_cell(const audit::Entry& entry, std::string_view key) {
    // As short as possible: a column of a wide table, where most calls take less than ten milliseconds.
    const auto time = entry.number(key);
    if (!time) return "-";
    if (*time < 10'000) return std::to_string(*time) + " us";
    return std::to_string(*time / 1'000) + " ms";
}

const char* colour_of(std::string_view outcome) {
    if (outcome == "ok") return "green";
    return outcome.empty() ? "" : "red";
}

// What a tool is to a call a prompt or a resource is to another request, and stands where the method alone says little.
std::vector<Cell> row_of(const audit::Entry& entry) {
    const auto or_dash = [](std::string text) { return text.empty() ? std::string("-") : text; };
    const auto kind = entry.text("kind");
    // The others tell of the trail itself.
    const bool of_a_request = kind == "call" || kind == "begun";
    std::string name(entry.text("name").empty() ? entry.text("method") : entry.text("name"));
    if (const auto about = entry.text("about"); !about.empty()) name.append(" ").append(about);
    const std::string outcome(kind == "begun" ? "begun" : entry.text("outcome"));
    return {{std::to_string(entry.number("n").value_or(0))},
            {std::string(entry.text("at"))},
            {or_dash(entry.caller())},
            {of_a_request ? or_dash(std::string(entry.text("server"))) : "-"},
            {of_a_request ? or_dash(name) : "(" + std::string(kind) + ")"},
            {or_dash(std::string(entry.text("decision")))},
            {or_dash(outcome), colour_of(entry.text("outcome"))},
            {duration_cell(entry, "wait_us")},
            {duration_cell(entry, "run_us")}};
}

// Only the last are held in memory, however long the trail is.
int show(const GlobalOptions& global, const AuditOptions& options) {
    std::deque<audit::Entry> last;
    Seen seen;
    const auto keep = [&](audit::Entry entry, std::string_view) {
        last.push_back(std::move(entry));
        if (options.most > 0 && last.size() > options.most) last.pop_front();
        return true;
    };
    const auto read = each_wanted(global, options, keep, &seen);
    if (!read) return report(read.error(), global);
    if (last.empty()) say(told_of_nothing(seen, options.wanted));
    if (global.json) {
        json::array all;
        for (const auto& entry : last) all.push_back(entry.members());
        print_json(json::serialize(all));
        return kOk;
    }
    if (last.empty()) return kOk;
    std::vector<std::vector<Cell>> rows{{{"N"},
                                         {"AT"},
                                         {"WHO"},
                                         {"SERVER"},
                                         {"WHAT"},
                                         {"DECISION"},
                                         {"OUTCOME"},
                                         {"WAITED"},
                                         {"RAN"}}};
    for (const auto& entry : last) rows.push_back(row_of(entry));
    print_table(rows);
    return kOk;
}

int export_verb(const GlobalOptions& global, const AuditOptions& options) {
    const bool as_table = options.format == "csv";
    if (as_table) print_line(audit::csv_header());
    Seen seen;
    bool any = false;
    const auto print = [&](const audit::Entry& entry, std::string_view line) {
        any = true;
        print_line(as_table ? std::string_view(audit::csv_row(entry)) : line);
        return stdout_error() == 0;  // `| head` ends the reading of years
    };
    const auto read = each_wanted(global, options, print, &seen);
    if (!read) return report(read.error(), global);
    if (!any) say(told_of_nothing(seen, options.wanted));
    return kOk;
}

json::array to_json(const std::vector<audit::Fault>& faults) {
    json::array all;
    for (const auto& fault : faults) {
        json::object told{{"file", fault.file}, {"what", fault.what}};
        if (fault.line > 0) told["line"] = fault.line;
        all.push_back(std::move(told));
    }
    return all;
}

int verify_verb(const GlobalOptions& global) {
    const auto verdict = audit::verify(state_of(global));
    if (!verdict) return report(verdict.error(), global);
    const int code = verdict->sound() ? kOk : kFailure;
    if (global.json) {
        json::object told{{"sound", verdict->sound()},       {"records", verdict->records},
                          {"first", verdict->first},         {"last", verdict->last},
                          {"files", verdict->files},         {"faults", to_json(verdict->faults)},
                          {"notes", to_json(verdict->notes)}};
        if (verdict->more_faults > 0) told["faults_more"] = verdict->more_faults;
        print_json(json::serialize(told));
        return code;
    }
    for (const auto& note : verdict->notes) say("note: " + to_string(note));
    for (const auto& fault : verdict->faults) say("error: " + to_string(fault));
    if (verdict->more_faults > 0)
        say("error: and " + std::to_string(verdict->more_faults) + " more");
    const auto in_all =
        counted(verdict->records, "record") + " in " + counted(verdict->files, "file");
    if (verdict->records == 0 && verdict->sound())
        print_line("nothing is recorded");
    else if (verdict->sound())
        print_line("sound: " + in_all + ", " + std::to_string(verdict->first) + " to " +
                   std::to_string(verdict->last));
    else
        print_line("not as it was written: " +
                   counted(verdict->faults.size() + verdict->more_faults, "fault") + ", " + in_all);
    return code;
}

void take_filter(CLI::App& verb, AuditOptions& options) {
    verb.add_option("--since", options.since,
                    "Only what was asked since then: 2026-07-28, 2026-07-28T09:00 (UTC), or 30m, "
                    "2h, 7d ago")
        ->type_name("TIME");
    take_server(verb, options.wanted.server, "Only what was asked of this server");
    verb.add_option("--tool", options.wanted.tool,
                    "Only calls of this tool, by its public name or its server's")
        ->type_name("NAME");
    verb.add_option("--about", options.wanted.about,
                    "Only what asked for a prompt or a resource in whose name or URI this stands")
        ->type_name("TEXT");
    verb.add_option("--principal", options.wanted.principal,
                    "Only what these asked: person, batch, client, embedder, or an id or a name")
        ->type_name("WHO");
    verb.add_option("--decision", options.wanted.decision,
                    "Only what was decided so: " + core::join(audit::decisions(), ", ") +
                        " (asked: nobody has answered yet)")
        ->type_name("WORD")
        ->check(CLI::IsMember(audit::decisions()));
}

}  // namespace

void add_audit_verbs(CLI::App& app, Choice& choice) {
    const auto options = std::make_shared<AuditOptions>();
    auto& audit = add_verb(
        app, "audit",
        "What was asked of servers, by whom, and what the rules said: show, verify, export",
        "  patchbay audit show --since 2h --decision deny\n  patchbay audit verify");
    audit.require_subcommand(1);
    auto& shown = add_verb(audit, "show", "The last records that fit, oldest first",
                           "  patchbay audit show\n  patchbay audit show --server git --since 7d "
                           "-n 0\nOf a call neither "
                           "arguments nor results are kept, unless [audit] arguments = true.\nWhat "
                           "was asked in the last "
                           "second may not be there yet.");
    take_filter(shown, *options);
    shown.add_option("-n,--lines", options->most, "So many; 0: all")
        ->type_name("N")
        ->check([](const std::string& text) {
            const bool whole = !text.empty() && text.size() < 10 &&
                               std::all_of(text.begin(), text.end(), core::is_digit);
            return whole ? std::string() : "\"" + text + "\" is no number of records; 0: all";
        });
    choice.on(shown, [options](const auto& global) { return show(global, *options); });
    auto& verified = add_verb(
        audit, "verify", "Whether every record is as it was written, and none is missing",
        "  patchbay audit verify --json\nExit code 1: something was changed, put in or taken out; "
        "file and line say where.");
    choice.on(verified, verify_verb);
    auto& exported = add_verb(
        audit, "export", "All records that fit, for other programs",
        "  patchbay audit export > audit.jsonl\n  patchbay audit export --format csv --since 30d");
    take_filter(exported, *options);
    exported.add_option("--format", options->format, "jsonl, as they are kept, or csv")
        ->check(CLI::IsMember({"jsonl", "csv"}));
    choice.on(exported, [options](const auto& global) { return export_verb(global, *options); });
}

}  // namespace patchbay::app
