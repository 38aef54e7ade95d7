#include "service/policy.hpp"

#include "config/levels.hpp"
#include "config/show.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace patchbay::service {
namespace json = boost::json;

namespace {

// Listed, or named by a rule of its server.
std::set<std::string> tools_of(const config::Server& server, const catalogue::Catalogue& known) {
    std::set<std::string> tools(server.disabled_tools.begin(), server.disabled_tools.end());
    if (server.enabled_tools)
        tools.insert(server.enabled_tools->begin(), server.enabled_tools->end());
    for (const auto& [key, level] : server.tools)
        if (!config::is_beginning(key)) tools.insert(key);
    if (const auto listed = known.listings().find(server.id); listed != known.listings().end())
        for (const auto& tool : listed->second->tools) tools.insert(tool.name);
    return tools;
}

// Of those that count here for these servers.
Result<std::vector<Decision>> answers_of(Decisions& decisions, const std::vector<std::string>& ids,
                                         const std::vector<Decision>& of_sessions) {
    const auto kept = decisions.file().all();
    if (!kept) return kept.error();
    auto answers = **kept;
    answers.insert(answers.end(), of_sessions.begin(), of_sessions.end());
    std::erase_if(answers, [&](const auto& each) {
        return std::find(ids.begin(), ids.end(), each.server) == ids.end() ||
               !decisions.counts_here(each);
    });
    return answers;
}

}  // namespace

// A tool of which an answer is kept is there, too, where its server lists it no more: who looks for the answer finds it.
Result<std::vector<ToolPolicy>> policy_of(const Servers& servers, Decisions& decisions,
                                          const std::vector<std::string>& ids,
                                          const std::vector<Decision>& of_sessions) {
    const auto answers = answers_of(decisions, ids, of_sessions);
    if (!answers) return answers.error();
    std::vector<ToolPolicy> all;
    for (const auto& server : servers.config().servers) {
        if (std::find(ids.begin(), ids.end(), server.id) == ids.end()) continue;
        auto tools = tools_of(server, servers.router().catalogue());
        for (const auto& each : *answers)
            if (each.server == server.id && !each.tool.empty()) tools.insert(each.tool);
        for (const auto& tool : tools) {
            ToolPolicy made{server.id, tool, {}, {}, {}};
            made.ruling = servers.router().ruling(core::Trust::Approves, nullptr,
                                                  protocol::public_name(server.id, tool));
            for (const auto& each : *answers)
                if (each.server == server.id && each.tool == tool) made.answers.push_back(each);
            all.push_back(std::move(made));
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.server < b.server; });
    return all;
}

// Of all that may be requested nobody keeps a list, so only what somebody was asked about has a line.
Result<std::vector<ToolPolicy>> policy_of_requests(const Servers& servers, Decisions& decisions,
                                                   const std::vector<std::string>& ids,
                                                   const std::vector<Decision>& of_sessions) {
    const auto answers = answers_of(decisions, ids, of_sessions);
    if (!answers) return answers.error();
    std::map<std::pair<std::string, std::string>, ToolPolicy> all;
    for (const auto& each : *answers) {
        if (!each.tool.empty()) continue;
        auto& made = all[{each.server, each.request}];
        made.answers.push_back(each);
        if (!made.request.empty()) continue;
        made.server = each.server;
        made.request = each.request;
        made.ruling = servers.router().ruling(core::Trust::Approves, each.server, each.request);
    }
    std::vector<ToolPolicy> sorted;
    for (auto& [key, made] : all) sorted.push_back(std::move(made));
    return sorted;
}

json::object to_json(const Decision& answer) {
    json::object out{{"level", config::name_of(answer.level)},
                     {"for", answer.subject},
                     {"by", answer.by},
                     {"when", answer.when}};
    if (!answer.project.empty()) out["project"] = answer.project;
    return out;
}

json::object to_json(const ToolPolicy& tool) {
    const auto& ruling = tool.ruling;
    json::object out{{"server", tool.server}, {"level", config::name_of(ruling.level)}};
    if (tool.request.empty()) {
        out["tool"] = ruling.public_name;
        out["name"] = tool.tool;
        out["listed"] = ruling.listed;
    } else {
        out["request"] = tool.request;
    }
    out["decision"] = ruling.decision == policy::Decision::Allow  ? "allow"
                      : ruling.decision == policy::Decision::Deny ? "deny"
                                                                  : "ask";
    if (ruling.rule) {
        auto& rule = out["rule"].emplace_object();
        rule["kind"] = policy::name_of(ruling.rule->kind);
        rule["text"] = ruling.rule->text;
        if (ruling.rule->place) rule["place"] = config::to_json(*ruling.rule->place);
    }
    auto& answers = out["answers"].emplace_array();
    for (const auto& each : tool.answers) {
        auto answer = to_json(each);
        // Of a tool that nobody has listed it is not known.
        if (!ruling.definition.empty()) answer["counts"] = each.definition == ruling.definition;
        answers.push_back(std::move(answer));
    }
    return out;
}

}  // namespace patchbay::service
