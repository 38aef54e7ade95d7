#include "policy/contradictory_rules.hpp"

#include "config/contradictions.hpp"
#include "config/levels.hpp"
#include "core/text.hpp"
#include "policy/policy.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::policy {
using config::Diagnostic;
using config::Level;

namespace {

// No tool is called so: what forbids two names that begin alike forbids all that do.
constexpr std::string_view kSomeName = "any-of-them";

// Whether it says something of the same tools. That a server is not trusted, or that nothing can be read, is said elsewhere.
bool is_a_rule_about_tools(const Rule& rule) {
    switch (rule.kind) {
        case Rule::Kind::DisabledTools:
        case Rule::Kind::EnabledTools:
        case Rule::Kind::Level:
        case Rule::Kind::Deny:
        case Rule::Kind::AllowList:
            return true;
        default:
            return false;
    }
}

std::string told_of(const Rule& rule) {
    return std::string(name_of(rule.kind)) +
           (rule.text.empty() ? "" : " \"" + core::printable(rule.text, 80) + "\"") +
           (rule.place ? " (" + config::to_string(*rule.place) + ")" : "");
}

class ContradictionSearch {
public:
    explicit ContradictionSearch(const config::Config& config)
        : config_(config), policy_(config.permissions, config.servers) {
        for (const auto& server : config.servers)
            if (server.enabled) ids_.push_back(server.id);
    }

    std::vector<Diagnostic> run() {
        for (const auto& server : config_.servers)
            if (server.enabled) look(server);
        const auto& permissions = config_.permissions;
        if (permissions.allow)
            for (const auto& pattern : *permissions.allow) look(pattern);
        return std::move(found_);
    }

private:
    bool full() const { return found_.size() >= kMostContradictions; }

    const Rule* forbidden(const std::string& server, const std::string& tool) const {
        const auto public_name = protocol::public_name(server, tool);
        Question question;
        question.trust = core::Trust::Approves;
        question.server = server;
        question.tool = tool;
        question.public_name = public_name;
        // What a server may list yet makes no contradiction.
        question.reading = Question::Reading::Certain;
        const auto verdict = policy_.judge(question);
        const bool counts = verdict.decision != Decision::Deny || !verdict.rule ||
                            !is_a_rule_about_tools(*verdict.rule);
        return counts ? nullptr : verdict.rule;
    }

    // What forbids a tool of that name, or all that begin so; null: nothing, or only some.
    const Rule* all_forbidden(const std::string& server, const std::string& name) const {
        if (!config::is_beginning(name)) return forbidden(server, name);
        const std::string begin(config::beginning_in(name));
        const auto* rule = forbidden(server, begin + std::string(kSomeName));
        // A list of what may be used leaves some of them open, which are not looked for here.
        if (rule && (rule->kind == Rule::Kind::EnabledTools || rule->kind == Rule::Kind::AllowList))
            return nullptr;
        return begin.empty() || !rule || forbidden(server, begin) == rule ? rule : nullptr;
    }

    void add(const std::string& server, const config::Place& place, const std::string& what,
             const Rule& by) {
        // Of two that never count the place tells which: none is told of itself.
        if (by.place && *by.place == place) return;
        found_.push_back(config::never_counts(server, place, what, told_of(by)));
    }

    void look(const config::Server& server) {
        for (const auto& [key, level] : server.tools) {
            if (full()) return;
            if (level <= Level::Deny) continue;
            if (const auto* rule = all_forbidden(server.id, key))
                add(server.id, server.place_of_rule("tools." + key),
                    config::words_of_level(key, level), *rule);
        }
        if (!server.enabled_tools) return;
        for (const auto& tool : *server.enabled_tools) {
            if (full()) return;
            if (const auto* rule = forbidden(server.id, tool))
                add(server.id, server.place_of_rule("enabled_tools"),
                    "enabled_tools \"" + core::printable(tool, 80) + "\"", *rule);
        }
    }

    // One that may be about two servers, or about none that is here, is told of as such.
    void look(const std::string& pattern) {
        if (full()) return;
        const auto owners = protocol::servers_for(std::string(config::beginning_in(pattern)), ids_);
        if (owners.size() != 1) return;
        const auto prefix = "mcp__" + owners.front() + "__";
        if (!pattern.starts_with(prefix) || pattern == prefix) return;
        const auto* rule = all_forbidden(owners.front(), pattern.substr(prefix.size()));
        if (!rule || rule->kind == Rule::Kind::AllowList) return;
        const auto place = config_.permissions.allow_places.find(pattern);
        add({}, place == config_.permissions.allow_places.end() ? config::Place() : place->second,
            "permissions.allow: \"" + core::printable(pattern, 80) + "\"", *rule);
    }

    const config::Config& config_;
    const Policy policy_;
    std::vector<std::string> ids_;
    std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> contradictory_rules(const config::Config& config) {
    auto found = ContradictionSearch(config).run();
    for (const auto& each : config.contradictions)
        if (found.size() < kMostContradictions) found.push_back(each);
    return found;
}

}  // namespace patchbay::policy
