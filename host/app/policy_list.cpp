#include "app/policy_list.hpp"

#include "app/output.hpp"
#include "app/session.hpp"
#include "app/session_answers.hpp"
#include "core/text.hpp"
#include "gateway/approvals.hpp"
#include "protocol/qualified_name.hpp"
#include "service/policy.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

std::string told_of_rule(const router::Ruling& ruling, const config::GatewaySettings& gateway) {
    if (!ruling.rule) {
        // The level alone reads as if everybody was asked.
        const auto of_clients = gateway::without_a_rule(gateway);
        return "no rule: a call that somebody types is approved" +
               (of_clients.empty() ? "" : "; " + of_clients);
    }
    const auto& rule = *ruling.rule;
    return std::string(policy::name_of(rule.kind)) +
           (rule.text.empty() ? "" : " \"" + core::printable(rule.text, 80) + "\"") +
           (rule.place ? " (" + config::to_string(*rule.place) + ")" : "");
}

std::string told_of_answers(const std::vector<service::Decision>& answers) {
    std::vector<std::string> told;
    for (const auto& each : answers)
        told.push_back(std::string(config::name_of(each.level)) + " by " +
                       core::printable(each.by, 80) + ", " + core::printable(each.when, 40));
    return core::join(told, "; ");
}

bool fits(const service::ToolPolicy& tool, const std::vector<std::string>& patterns) {
    if (patterns.empty()) return true;
    return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
        const auto& own = tool.request.empty() ? tool.tool : tool.request;
        return protocol::matches(pattern, tool.ruling.public_name) ||
               protocol::matches(pattern, own);
    });
}

// A word that was misspelt looks as if there were no such tool.
Error nothing_fits(const Session& session, const PolicyWords& words) {
    std::vector<std::string> names;
    for (const auto& [id, listing] : session.host().catalogue().listings())
        if (words.server.empty() || words.server == id)
            for (const auto& tool : listing->tools) {
                names.push_back(protocol::public_name(id, tool.name));
                names.push_back(tool.name);
            }
    std::vector<std::string> told;
    for (const auto& pattern : words.patterns)
        told.push_back("\"" + core::printable(pattern, 80) + "\"");
    return {ErrorCode::NotFound,
            core::behind_hint(
                "no tool is known that fits " + core::join(told, " or ") +
                    (words.patterns.size() == 1 ? core::did_you_mean(words.patterns.front(), names)
                                                : ""),
                "see patchbay tools, which asks servers what they have")};
}

// Whether something that is asked for may be missing because of a fault of the files.
bool tell_what_hides(Session& session, const PolicyWords& words) {
    const auto& config = session.host().config();
    if (words.server.empty())
        session.troubles().tell_all();
    else
        session.troubles().tell_those_of({words.server});
    const auto meant = [&](const std::string& id) {
        return (words.server.empty() || words.server == id) &&
               (words.patterns.empty() ||
                std::any_of(words.patterns.begin(), words.patterns.end(), [&](const auto& pattern) {
                    return pattern.starts_with("mcp__" + id + "__") || pattern == "mcp__*" ||
                           !pattern.starts_with("mcp__");
                }));
    };
    return std::any_of(config.diagnostics.begin(), config.diagnostics.end(), [&](const auto& each) {
        return each.severity == config::Severity::Error &&
               (each.server.empty() || meant(each.server));
    });
}

}  // namespace

int list_policy(const GlobalOptions& global, const PolicyWords& words) {
    for (const auto& pattern : words.patterns)
        if (const auto why = why_no_key(pattern)) return report(*why, global);
    const auto session = Session::open(global, Session::Life::Offline);
    if (!session) return kConfigError;
    const bool wrong = tell_what_hides(*session, words);
    if (!session->servers().has(words.server)) return session->report_no_server(words.server);
    const auto ids =
        words.server.empty() ? session->host().connections().ids() : std::vector{words.server};
    // Nothing is started to tell what a rule says: what servers listed before will do.
    if (!ids.empty()) session->host().recall_lists(ids);
    const auto of_sessions = session_answers(*session);
    auto tools =
        service::policy_of(session->servers(), session->host().decisions(), ids, of_sessions);
    if (!tools) return session->report(tools.error());
    auto requests = service::policy_of_requests(session->servers(), session->host().decisions(),
                                                ids, of_sessions);
    if (!requests) return session->report(requests.error());
    std::move(requests->begin(), requests->end(), std::back_inserter(*tools));
    std::erase_if(*tools, [&](const auto& tool) { return !fits(tool, words.patterns); });
    if (global.json) {
        json::array all;
        for (const auto& tool : *tools) all.push_back(service::to_json(tool));
        // An empty list would say that the pattern is fine and fits nothing yet.
        if (tools->empty() && !words.patterns.empty()) {
            const int code = session->report_missing(nothing_fits(*session, words));
            return wrong ? int(kConfigError) : code;
        }
        return print_json(json::serialize(all)), int(wrong && all.empty() ? kConfigError : kOk);
    }
    const auto& gateway = session->host().config().gateway;
    std::vector<std::vector<Cell>> rows{{{"TOOL"}, {"LEVEL"}, {"BY"}, {"ANSWERS"}}};
    for (const auto& tool : *tools)
        rows.push_back(
            {{tool.request.empty() ? tool.ruling.public_name : tool.server + ": " + tool.request},
             {config::name_of(tool.ruling.level)},
             {told_of_rule(tool.ruling, gateway)},
             {told_of_answers(tool.answers)}});
    if (!tools->empty()) return print_table(rows), int(kOk);
    if (!words.patterns.empty()) {
        const int code = session->report_missing(nothing_fits(*session, words));
        return wrong ? int(kConfigError) : code;
    }
    say("no tool is known; patchbay tools asks servers which they have, and patchbay config show "
        "--origin has the rules of the files");
    return wrong ? kConfigError : kOk;
}

}  // namespace patchbay::app
