#include "app/output.hpp"
#include "app/session.hpp"
#include "app/snapshot_file.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"
#include "registry/plan.hpp"

#include <memory>

namespace patchbay::app {
namespace json = boost::json;

namespace {

const char* colour_of(const std::string& what) {
    if (what == "widened" || what == "stop" || what == "lost") return "red";
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

// remember: keeps what is read now to be compared with later.
int config_plan_verb(const GlobalOptions& global, bool remember) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    auto& host = session.host();
    if (host.config().deny_all) return report_stop(host.config(), global);
    session.troubles().tell_all();
    const SnapshotFile file(default_state_directory(environment_of(global)), host.project());
    const std::string where = host.project().empty()
                                  ? "outside of a project"
                                  : "in " + core::printable(host.project(), 1000);
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
        "keys, which tools come and go, and which\nrules allow more. Remembered are rules, and "
        "digests in place of values, for each project folder.\nExit code 4: something is "
        "wrong in the configuration; 6: nothing was remembered here.");
    plan.add_flag("--remember", *remember, "Keep what is in force now; nothing else is done");
    choice.on(plan, [remember](const auto& global) { return config_plan_verb(global, *remember); });
}

}  // namespace patchbay::app
