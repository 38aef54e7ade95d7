#include "service/why.hpp"

#include "config/show.hpp"
#include "core/text.hpp"
#include "protocol/argument_check.hpp"
#include "protocol/qualified_name.hpp"
#include "service/policy.hpp"
#include "service/statuses.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace patchbay::service {
namespace json = boost::json;
using connection::State;
using Answer = Why::Answer;

namespace {

// Whose a public name would be, of all that files define, of use or not.
std::string owner_of(const std::string& name, const std::vector<connection::Status>& statuses) {
    std::vector<std::string> ids;
    for (const auto& status : statuses) ids.push_back(status.id);
    const auto owners = protocol::servers_for(name, ids);
    return owners.empty() ? std::string() : owners.front();
}

// Every key of the server that some file says, with the file that counts and those that do not.
std::vector<Why::Said> said_of(const std::string& server, const config::Config& config) {
    const auto beginning = "servers." + server + ".";
    std::map<std::pair<int, std::string>, Why::Said, std::greater<>> files;
    const auto file_of = [&](const config::Place& place) -> Why::Said& {
        auto& said =
            files.try_emplace({static_cast<int>(place.scope), place.file}, Why::Said{place, {}})
                .first->second;
        const auto at = [](const config::Place& each) { return std::tie(each.line, each.column); };
        if (at(place) < at(said.place)) said.place = place;
        return said;
    };
    for (const auto& [key, place] : config.origins)
        if (key.starts_with(beginning))
            file_of(place).counts.push_back(key.substr(beginning.size()));
    for (auto place = config.overruled.lower_bound(beginning);
         place != config.overruled.end() && place->first.starts_with(beginning); ++place)
        for (const auto& each : place->second)
            file_of(each).in_vain.push_back(place->first.substr(beginning.size()));
    std::vector<Why::Said> all;
    for (auto& [file, said] : files) all.push_back(std::move(said));
    return all;
}

Answer answer_of(State state) {
    switch (state) {
        case State::Untrusted:
            return Answer::NotApproved;
        case State::Disabled:
            return Answer::TurnedOff;
        case State::Error:
            return Answer::Broken;
        default:
            return Answer::Missing;
    }
}

bool is_down(const connection::Status& status) {
    return status.state == State::Failed || status.state == State::AuthRequired ||
           status.state == State::Error || status.state == State::Stopped ||
           // One that has not come up, and is tried again.
           ((status.state == State::Reconnecting || status.state == State::Connecting) &&
            !status.last_connected && !status.last_error.empty());
}

std::string why_down(const connection::Status& status) {
    const std::string name = "server \"" + status.id + "\" is " + connection::name_of(status.state);
    const bool is_advised = status.last_error.find("`patchbay mcp start ") != std::string::npos;
    return name + (status.last_error.empty() ? "" : ": " + status.last_error) +
           (is_advised ? ""
            : status.state == State::AuthRequired
                ? "; patchbay mcp login " + status.id + " signs in"
                : "; patchbay mcp start " + status.id + " has a running host try it again");
}

std::string to_agent(const Asker& asker) {
    return (std::string_view(asker.kind) == "agent" ? "is not shown to agent \""
                                                    : "is not in bundle \"") +
           asker.name + "\" (" + config::to_string(asker.place) + ")";
}

// What may have been meant: tools that are listed, and how those of servers begin that have listed none.
std::vector<std::string> names_known(const Servers& servers,
                                     const std::vector<connection::Status>& statuses) {
    std::vector<std::string> names;
    const auto& listings = servers.router().catalogue().listings();
    for (const auto& status : statuses)
        if (!listings.contains(status.id)) names.push_back("mcp__" + status.id + "__");
    for (const auto& [id, listing] : listings)
        for (const auto& tool : listing->tools)
            names.push_back(protocol::public_name(id, tool.name));
    return names;
}

// No rule allows all of the server, which says nothing of single tools.
bool may_allow_tools(const router::Ruling& ruling) {
    using Kind = policy::Rule::Kind;
    return ruling.rule &&
           (ruling.rule->kind == Kind::AllowList || ruling.rule->kind == Kind::Trust);
}

// Of what is not there: a file that could not be read may have it.
void answer_missing(Why& why, const Error& error, const config::Config& config) {
    why.reason = error.message;
    if (error.code != ErrorCode::Invalid) return;
    why.answer = Answer::Broken;
    for (const auto& each : config.diagnostics)
        if (each.severity == config::Severity::Error && each.server.empty())
            why.notes.push_back(config::to_string(each));
}

// As the router looks for them where a rule asks. Whoever types has one session with the host that runs; those of others are
// noted, as they explain why one is asked and the other is not.
void add_answers(Why& why, const Asker& asker, Decisions* decisions) {
    const auto& ruling = *why.ruling;
    const bool each_time =
        ruling.rule && ruling.rule->place && ruling.rule->place->scope == config::Scope::Enterprise;
    if (!decisions || each_time || asker.trust == core::Trust::NeedsRule ||
        ruling.decision != policy::Decision::Ask || ruling.definition.empty())
        return;
    using Kind = core::Principal::Kind;
    const core::Principal person{Kind::Person, {}, {}, asker.trust};
    const bool is_person = asker.name.empty();
    const auto subject =
        subject_of(is_person ? person : core::Principal{Kind::Client, {}, {}, asker.trust});
    const auto is_of_it = [&](const Decision& each) {
        return each.server == ruling.server && !each.tool.empty() &&
               each.definition == ruling.definition;
    };
    if (const auto all = decisions->file().all())
        for (const auto& each : **all)
            if (is_of_it(each) && each.subject == subject && decisions->counts_here(each))
                why.answers.push_back(each);
    for (const auto& each : asker.of_sessions) {
        if (!is_of_it(each)) continue;
        if (is_person && each.by == core::to_string(person))
            why.answers.push_back(each);
        else
            why.notes.push_back("answered in a session of " + each.by + ", " + each.when +
                                ", where it is not asked about again");
    }
}

// As a call is refused for them, of the tool as it was listed last.
void judge_arguments(Why& why, const Servers& servers, const std::string& arguments) {
    const auto found = servers.connections().find(why.server);
    if (!found || !found->get().spec().config.check_arguments)
        return why.notes.push_back("arguments are not checked: check_arguments = false");
    const auto& listings = servers.router().catalogue().listings();
    const auto listed = listings.find(why.server);
    if (listed != listings.end())
        for (const auto& tool : listed->second->tools) {
            if (protocol::public_name(why.server, tool.name) != why.ruling->public_name) continue;
            const protocol::ArgumentCheck check(tool);
            auto fault = check.fault(tool, arguments);
            if (!fault.empty()) {
                why.answer = Answer::Misfit;
                why.reason = why.name + ": " + fault;
            } else {
                why.notes.push_back(check.unusable().empty()
                                        ? "the arguments fit its inputSchema"
                                        : "arguments are not checked: " + check.unusable());
            }
            return;
        }
    why.notes.emplace_back("arguments are not checked: its inputSchema is not known");
}

void judge(Why& why, const Servers& servers, const Asker& asker,
           const std::vector<connection::Status>& statuses, const ToolList& told,
           Decisions* decisions) {
    // The server itself, with all that it has besides tools, goes by its bare prefix.
    const auto asked = why.of_a_tool ? why.name : "mcp__" + why.server + "__";
    why.ruling = servers.router().ruling(asker.trust, asker.sight, asked);
    auto& ruling = *why.ruling;
    ruling.listed =
        ruling.listed || std::any_of(told.tools.begin(), told.tools.end(), [&](const auto& tool) {
            return tool.public_name == ruling.public_name;
        });
    const auto name = "\"" + core::printable(ruling.public_name, 80) + "\"";
    const bool nobody_to_ask = asker.trust == core::Trust::NeedsRule;
    if (why.of_a_tool) add_answers(why, asker, decisions);
    if (why.of_a_tool && !ruling.shown) {
        why.answer = Answer::NotShown;
        why.reason = name + " " + to_agent(asker);
    } else if (ruling.decision == policy::Decision::Deny && !why.of_a_tool &&
               may_allow_tools(ruling)) {
        why.notes.push_back(ruling.reason);
    } else if (ruling.decision == policy::Decision::Deny) {
        why.answer = ruling.level == config::Level::Disable ? Answer::Hidden : Answer::Denied;
        why.reason = ruling.reason;
    } else if (why.of_a_tool && ruling.public_name != why.name) {
        why.answer = Answer::Missing;
        why.reason =
            "\"" + core::printable(why.name, 80) + "\" is called " + name + " here; use that name";
    } else if (why.of_a_tool && !ruling.listed && why.listed) {
        why.answer = Answer::Missing;
        why.reason = "server \"" + why.server + "\" has no tool " + name +
                     core::did_you_mean(why.name, names_known(servers, statuses));
    } else if (is_down(*why.status)) {
        why.answer = Answer::Down;
        why.reason = why_down(*why.status);
    } else if (why.of_a_tool && !ruling.listed) {
        why.answer = Answer::Unknown;
        why.reason = "nobody has asked server \"" + why.server +
                     "\" which tools it has; patchbay tools --server " + why.server + " does";
    } else if (ruling.decision == policy::Decision::Ask && why.answers.empty()) {
        why.answer = nobody_to_ask ? Answer::Denied : Answer::Asked;
        why.reason = nobody_to_ask ? ruling.reason
                                   : name + " needs approval" +
                                         (ruling.rule && ruling.rule->place
                                              ? " (" + config::to_string(*ruling.rule->place) + ")"
                                              : "") +
                                         ", which is asked for when it is called";
    }
}

}  // namespace

const char* name_of(Answer answer) {
    switch (answer) {
        case Answer::Allowed:
            return "allowed";
        case Answer::Asked:
            return "asked";
        case Answer::Denied:
            return "denied";
        case Answer::Hidden:
            return "hidden";
        case Answer::Misfit:
            return "wrong-arguments";
        case Answer::NotShown:
            return "not-shown";
        case Answer::NotApproved:
            return "not-approved";
        case Answer::TurnedOff:
            return "turned-off";
        case Answer::Broken:
            return "broken";
        case Answer::Down:
            return "down";
        case Answer::Unknown:
            return "unknown";
        case Answer::Missing:
            break;
    }
    return "missing";
}

Why why(const Servers& servers, const Asker& asker, const std::string& name,
        const std::vector<connection::Status>& statuses, const ToolList& told,
        Decisions* decisions) {
    Why made;
    made.name = name;
    const auto status_of = [&](const std::string& id) {
        return std::find_if(statuses.begin(), statuses.end(),
                            [&](const auto& status) { return status.id == id; });
    };
    auto status = status_of(name);
    const bool of_a_tool = made.of_a_tool = status == statuses.end() && name.starts_with("mcp__");
    if (of_a_tool) status = status_of(owner_of(name, statuses));
    if (status == statuses.end()) {
        const auto missing =
            of_a_tool
                ? servers.missing(
                      {ErrorCode::NotFound,
                       "no server's tools begin as \"" + core::printable(name, 80) + "\" does" +
                           core::did_you_mean(name, names_known(servers, statuses))},
                      {})
                : servers.no_such_server(name);
        answer_missing(made, missing, servers.config());
        return made;
    }
    const auto& id = made.server = status->id;
    const auto& config = servers.config();
    made.status = *status;
    if (of_a_tool && (name == "mcp__" + id + "__" || name.ends_with('*'))) {
        made.reason = "\"" + core::printable(name, 80) + "\" names no tool: expected mcp__" + id +
                      "__TOOL; patchbay tools --server " + id +
                      " shows which there are, patchbay why " + id + " is about the server itself";
        return made;
    }
    made.said = said_of(id, config);
    for (const auto& each : config.diagnostics)
        if (each.server == id) made.notes.push_back(config::to_string(each));
    if (!servers.has(id)) {
        made.answer = answer_of(status->state);
        answer_missing(made, servers.no_such_server(id), config);
        return made;
    }
    const auto* standing = standing_of(id, told.heard);
    if (!standing) standing = servers.router().catalogue().standing(id);
    if (standing) made.listed = *standing;
    if (status->state == State::Disabled) {  // files have it on
        made.answer = Answer::TurnedOff;
        made.reason =
            "in the running host server \"" + id + "\" is " + core::join(status->notes, "; ");
    } else if (asker.sight && !asker.sight->holds(id)) {
        made.answer = Answer::NotShown;
        made.reason = "server \"" + id + "\" " + to_agent(asker);
    } else {
        made.answer = Answer::Allowed;
        judge(made, servers, asker, statuses, told, decisions);
        const bool may_be = made.answer == Answer::Allowed || made.answer == Answer::Asked;
        if (asker.arguments && of_a_tool && may_be)
            judge_arguments(made, servers, *asker.arguments);
    }
    return made;
}

json::object to_json(const Why& why) {
    json::object out{{"name", why.name}, {"answer", name_of(why.answer)}, {"reason", why.reason}};
    out["notes"] = json::array(why.notes.begin(), why.notes.end());
    if (why.server.empty()) return out;
    out["server"] = why.server;
    if (why.status) out["state"] = state_of(*why.status, Wait::ToTheEnd);
    if (why.ruling) {
        const auto& ruling = *why.ruling;
        if (why.of_a_tool) out["tool"] = ruling.public_name;
        out["level"] = config::name_of(ruling.level);
        if (ruling.rule) {
            auto& rule = out["rule"].emplace_object();
            rule["kind"] = policy::name_of(ruling.rule->kind);
            rule["text"] = ruling.rule->text;
            if (ruling.rule->place) rule["place"] = config::to_json(*ruling.rule->place);
        }
    }
    if (!why.answers.empty()) {
        auto& answers = out["answers"].emplace_array();
        for (const auto& each : why.answers) answers.push_back(to_json(each));
    }
    if (why.listed) out["listed_at"] = time_of(why.listed->listed);
    auto& said = out["said"].emplace_array();
    for (const auto& each : why.said)
        said.push_back(
            json::object{{"place", config::to_json(each.place)},
                         {"counts", json::array(each.counts.begin(), each.counts.end())},
                         {"in_vain", json::array(each.in_vain.begin(), each.in_vain.end())}});
    return out;
}

}  // namespace patchbay::service
