#include "app/distant_host.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/snapshot_file.hpp"
#include "app/verb.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "registry/plan.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

// Red: what a person may miss, or did not mean to allow.
const char* colour_of(const std::string& what) {
    if (what == "widened" || what == "stop" || what == "lost" || what == "closed") return "red";
    return what == "restart" ? "yellow" : "";
}

void print(const registry::Plan& plan, const GlobalOptions& global) {
    if (global.json) return print_json(json::serialize(registry::to_json(plan)));
    if (plan.empty()) return print_line("nothing changes");
    std::vector<std::vector<Cell>> rows;
    for (const auto& line : registry::lines_of(plan)) {
        auto& row = rows.emplace_back();
        row = {{line.what, colour_of(line.what)}, {line.whom}};
        if (!line.how.empty()) row.push_back({line.how});
    }
    print_table(rows);
}

bool has_a_fault(const Session& session) {
    const auto& config = session.host().config();
    return !config.stop.empty() || !config.permissions.closed.empty() ||
           session.servers().misconfigured();
}

// `op`: host/apply or host/rollback.
int config_move_verb(const GlobalOptions& global, const std::string& op) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    auto line = running_host(session, Guest::Person);
    if (!line) return session.report(line.error());
    // By the host, which has the files and what it ran by: this process may have other variables.
    const auto moved = DistantHost(session.servers(), std::move(*line)).move(op);
    if (!moved) return session.report_missing(moved.error());
    if (global.json) return print_json(json::serialize(*moved)), kOk;
    const auto* told = moved->if_object();
    std::vector<std::vector<Cell>> rows;
    if (const auto* lines = core::array_in(told, "lines"))
        for (const auto& each : *lines) {
            const auto* words = each.if_array();
            if (!words || words->size() != 3) continue;
            const auto word = [&](std::size_t i) {
                return std::string(core::text_of((*words)[i]).value_or(""));
            };
            auto& row = rows.emplace_back();
            row = {{word(0), colour_of(word(0))}, {word(1)}};
            if (!word(2).empty()) row.push_back({word(2)});
        }
    if (rows.empty())
        print_line(op == "host/rollback" && has_a_fault(session)
                       ? "nothing changes: the files have a fault, and the host goes on with what "
                         "it ran by before them"
                       : "nothing changes");
    print_table(rows);
    if (!global.quiet)
        say("the running host runs by configuration " +
            std::to_string(core::integer_in(told, "configuration").value_or(0)));
    return kOk;
}

// Of a project whose last file is gone nobody reads that it is one, and what was remembered of it is what its plan is
// compared with. As far upwards as projects are looked for.
std::string remembered_folder(const Host& host, const config::Environment& environment,
                              const std::string& state_directory) {
    if (!host.project().empty()) return host.project();
    std::error_code ignored;
    for (fs::path at = environment.working_directory; !at.empty(); at = at.parent_path()) {
        const auto kept = SnapshotFile(state_directory, at.string()).read();
        if (!kept || *kept) return at.string();  // of one that cannot be read it is told
        if (at == environment.home || at == at.root_path() || fs::exists(at / ".git", ignored))
            break;
    }
    return {};
}

// remember: keeps what is read now to be compared with later.
int config_plan_verb(const GlobalOptions& global, bool remember) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    auto& host = session.host();
    if (host.config().deny_all) return report_stop(host.config(), global);
    session.troubles().tell_all();
    const auto environment = environment_of(global);
    const auto state = default_state_directory(environment);
    const auto folder = remembered_folder(host, environment, state);
    const SnapshotFile file(state, folder);
    const std::string where =
        folder.empty() ? "outside of a project" : "in " + core::printable(folder, 1000);
    // To remember that nothing may be called would have the mended files look as if they widened all.
    const bool broken = !host.config().stop.empty() || !host.config().permissions.closed.empty();
    if (remember && broken) {
        session.report({ErrorCode::Invalid,
                        "not remembered: as the configuration is now, nothing may be called; mend "
                        "what is named above first"});
        return kConfigError;
    }
    if (remember) {
        if (const auto done = file.remember(*host.snapshot()); !done)
            return session.report(done.error());
        if (global.json)
            print_json(json::serialize(json::object{{"remembered", file.path()}}));
        else
            print_line("remembered what is in force " + where +
                       "; after a change, `patchbay config plan` says what it does");
        return kOk;
    }
    const auto remembered = file.read();
    if (!remembered) return session.report(remembered.error());
    // What is wrong was told above; a plan of the rest is as much as there can be.
    const bool wrong = broken || session.servers().misconfigured();
    if (!*remembered) {
        const int code = session.report(
            {ErrorCode::NotFound, "nothing is remembered " + where +
                                      " that the files could be compared with; `patchbay config "
                                      "plan --remember` keeps what is in force now"});
        return wrong ? kConfigError : code;
    }
    const auto& before = **remembered;
    print(registry::plan(before, registry::imprint_of(*host.snapshot(), before.salt)), global);
    return wrong ? kConfigError : kOk;
}

}  // namespace

void add_plan_verb(CLI::App& config, Choice& choice) {
    const auto remember = std::make_shared<bool>(false);
    auto& plan = add_verb(
        config, "plan",
        "What the configuration would change, compared with what was remembered of it",
        "  patchbay config plan --remember   keep what is in force now\n  patchbay config plan"
        "              after an edit\nIt says which servers start, stop and restart, and by which "
        "keys, which tools come and go, and which\nrules allow more; a host that runs is not "
        "asked. Remembered are rules, and "
        "digests in place of values, for each project folder.\nExit code 4: something is "
        "wrong in the configuration; 6: nothing was remembered here.");
    plan.add_flag("--remember", *remember, "Keep what is in force now; nothing else is done");
    choice.on(plan, [remember](const auto& global) { return config_plan_verb(global, *remember); });
    auto& apply = add_verb(
        config, "apply", "Have the host that runs read its files, and run by what they say",
        "  patchbay config apply\nIt does so by itself when one of them changes; this is for the "
        "way back from a rollback, and says what\nchanged. Exit code 4: something is wrong in "
        "them, and nothing has changed; 5: no host runs.");
    choice.on(apply, [](const auto& global) { return config_move_verb(global, "host/apply"); });
    auto& rollback = add_verb(
        config, "rollback", "Have the host that runs go back to what it ran by before",
        "  patchbay config rollback\nNo file is changed: the host goes on so until one of them is, "
        "or `patchbay config apply`; `call`, `tools`\nand `serve` go by the files until then, "
        "without this host. Again: to what was before that. Where the\nfiles have a fault, the "
        "first one is back to what runs still. What files forbid by now, and what is not\napproved "
        "any more, stays so. Exit code 6: there is nothing to go back to; 7: the enterprise config "
        "is\nbroken; 5: no host runs.");
    choice.on(rollback,
              [](const auto& global) { return config_move_verb(global, "host/rollback"); });
}

}  // namespace patchbay::app
