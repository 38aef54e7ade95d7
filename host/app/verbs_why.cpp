// patchbay why: what decides whether a tool or a server can be used, and where that stands.
#include "app/call_arguments.hpp"
#include "app/distant_host.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/session_answers.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"
#include "gateway/approvals.hpp"
#include "gateway/view.hpp"
#include "protocol/qualified_name.hpp"
#include "service/statuses.hpp"
#include "service/why.hpp"

#include <memory>

namespace patchbay::app {
namespace json = boost::json;
using service::Why;
using Answer = Why::Answer;

namespace {

constexpr std::size_t kFoldedBytes = 2'000;  // of what files say, in a line

// As a call of it would end.
int code_of(Answer answer) {
    switch (answer) {
        case Answer::Allowed:
        case Answer::Asked:
            return kOk;
        case Answer::Denied:
        case Answer::Hidden:
        case Answer::NotShown:
        case Answer::NotApproved:
            return kDenied;
        case Answer::Misfit:
            return kUsage;
        case Answer::Broken:
            return kConfigError;
        case Answer::Down:
            return kUnavailable;
        case Answer::TurnedOff:
        case Answer::Unknown:
        case Answer::Missing:
            break;
    }
    return kNotFound;
}

std::string sentence_of(const Why& why) {
    if (why.answer != Answer::Allowed) return why.reason;
    return why.name + (why.of_a_tool ? " may be called" : " may be used");
}

std::string told_of_state(const Why& why) {
    const auto& status = *why.status;
    return why.server + ", " + (status.transport.empty() ? "" : status.transport + ", ") +
           service::state_of(status, service::Wait::ToTheEnd);
}

// What stands there for the tool, and where.
std::string told_of_level(const router::Ruling& ruling, const config::Config& config) {
    const std::string level = config::name_of(ruling.level);
    if (!ruling.rule) {
        const auto of_clients = gateway::without_a_rule(config.gateway);
        return level + ": no rule names it, so a call that somebody types is approved" +
               (of_clients.empty() ? "" : "; " + of_clients);
    }
    const auto place =
        ruling.rule->place ? " (" + config::to_string(*ruling.rule->place) + ")" : "";
    return level + ", by " + policy::name_of(ruling.rule->kind) +
           (ruling.rule->text.empty() ? ""
                                      : " \"" + core::printable(ruling.rule->text, 200) + "\"") +
           place;
}

void print_why(const Why& why, const config::Config& config) {
    print_line(core::printable(sentence_of(why), kFoldedBytes));
    std::vector<std::vector<Cell>> rows;
    const auto row = [&](const char* name, const std::string& text) {
        rows.push_back({{std::string("  ") + name}, {core::printable(text, kFoldedBytes)}});
    };
    if (!why.server.empty()) row("server", told_of_state(why));
    if (why.ruling && (why.ruling->rule || (why.of_a_tool && why.ruling->listed)))
        row("level", told_of_level(*why.ruling, config));
    for (const auto& each : why.answers)
        row("answered", std::string(config::name_of(each.level)) + " by " + each.by + ", " +
                            each.when + ", of the tool as it is described now");
    if (why.listed && why.of_a_tool)
        row("listed", std::string(why.ruling && !why.ruling->listed ? "not" : "yes") +
                          ", by what is kept of " + service::time_of(why.listed->listed));
    for (const auto& each : why.said) {
        auto text = config::to_string(each.place);
        if (!each.counts.empty()) text += ": " + core::join(each.counts, ", ");
        if (!each.in_vain.empty()) text += "; overruled: " + core::join(each.in_vain, ", ");
        row("said by", text);
    }
    for (const std::string_view note : why.notes) {
        // A diagnostic says itself what it is.
        const auto colon = note.find(": ");
        const auto word = note.substr(0, colon);
        if (word == "warning" || word == "error")
            row(std::string(word).c_str(), std::string(note.substr(colon + 2)));
        else
            row("note", std::string(note));
    }
    print_table(rows);
}

template <class Named>
config::Place place_of(const std::string& name, const std::vector<Named>& all) {
    for (const auto& each : all)
        if (each.name == name) return each.place;
    return {};
}

struct WhyOptions {
    std::string name, agent, bundle, arguments;
};

int why_verb(const GlobalOptions& global, const WhyOptions& wanted) {
    const auto& [name, agent, bundle, given] = wanted;
    const auto arguments = read_arguments(given);
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    if (!arguments) return session.report(arguments.error());
    service::Asker asker;
    std::shared_ptr<const connection::Sight> sight;
    const auto& config = session.host().config();
    if (const bool as_agent = bundle.empty(); !as_agent || !agent.empty()) {
        auto view = as_agent ? gateway::view_of_agent(config, agent)
                             : gateway::view_of_bundle(config, bundle);
        if (!view)
            return session.report_missing(within(as_agent ? "--agent" : "--bundle", view.error()));
        sight = view->sight();
        // As a client that comes as it.
        asker = {gateway::as_configured(
                     {core::Principal::Kind::Client, {}, {}, core::Trust::Approves}, config)
                     .trust,
                 sight.get(), as_agent ? agent : bundle,
                 as_agent ? place_of(agent, config.agents) : place_of(bundle, config.bundles),
                 as_agent ? "agent" : "bundle"};
    }
    if (!given.empty()) asker.arguments = arguments->text;
    service::ToolList told;
    if (auto line = look_for_host(session, Guest::Person, Fit::EvenIfKept)) {
        session.ask(std::make_unique<DistantHost>(session.servers(), std::move(line)));
        auto meant = protocol::servers_for(name, session.host().connections().ids());
        if (meant.empty()) meant = {name};
        told = session.asked().tools(meant, service::Wait::CutShort, service::Ask::IfStale);
        asker.of_sessions = session_answers(session);
    }
    session.host().recall_lists(session.host().connections().ids());
    const auto why = service::why(session.servers(), asker, name, session.asked().statuses(), told,
                                  &session.host().decisions());
    if (global.json)
        print_json(json::serialize(service::to_json(why)));
    else
        print_why(why, config);
    return code_of(why.answer);
}

}  // namespace

void add_why_verb(CLI::App& app, Choice& choice) {
    const auto words = std::make_shared<WhyOptions>();
    auto& verb = add_verb(
        app, "why", "What decides whether a tool or a server can be used",
        "  patchbay why mcp__git__push            may it be called, by which rule of which file\n"
        "  patchbay why git                       who says what of the server\n"
        "  patchbay why mcp__git__push --agent coder\n"
        "  patchbay why mcp__git__log --args '{\"max\": 3}'\n"
        "Works for what is not there, too, and starts nothing. Exit codes: 0 it may be called, or "
        "once "
        "somebody approves it;\n7 a rule denies it, or its server is not approved; 3 not with "
        "these arguments; 6 there is no "
        "such tool, or it is not known; 5 its server\ndoes not come up; 4 its definition is "
        "wrong.");
    verb.add_option("NAME", words->name, "mcp__server__tool, or the id of a server")->required();
    verb.add_option("--agent", words->agent, "As a client that comes as this agent is shown it")
        ->type_name("AGENT");
    auto* bundle =
        verb.add_option("--bundle", words->bundle, "As a client that is shown this bundle")
            ->type_name("BUNDLE");
    bundle->excludes(verb.get_option("--agent"));
    verb.add_option("--args", words->arguments,
                    "With these arguments: a JSON object, @FILE, or - for stdin")
        ->type_name("JSON");
    choice.on(verb, [words](const auto& global) { return why_verb(global, *words); });
}

}  // namespace patchbay::app
