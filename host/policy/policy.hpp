// May this caller see and use this tool? One function for every way in, asked when a call comes and
// never before. Hiding is not denying, and both are answered here.
//
// Owns:    the rules, compiled once from a configuration. Other rules are another Policy, assigned
//          in the place of this one: the next call is judged by them.
// Threads: [value]. Errors: none; a Verdict says why.
// Source:  config/README.md; decisions/0004-a-call-typed-by-a-person-is-approved.md.
#pragma once

#include "config/config.hpp"
#include "core/principal.hpp"
#include "policy/patterns.hpp"
#include "policy/readings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::policy {

struct Question {
    core::Trust trust = core::Trust::NeedsApproval;  // of who asks
    std::string_view server;                         // id
    std::string_view tool;               // raw name; empty: the server itself (resources, prompts)
    std::string_view public_name;        // mcp__server__tool
    std::string_view what = "requests";  // of the server itself, for the reason: "resources"
};

// What somebody wrote that decides.
struct Rule {
    enum class Kind {
        DisabledTools,  // of the server
        EnabledTools,   // the same
        Level,          // the same: tools.NAME
        Trust,          // the same
        Deny,           // a pattern of [permissions]
        Allow,          // the same
        AllowList,      // all patterns of it: none matches
        Closed          // there are no rules to go by; `text` says why
    };
    Kind kind;
    std::string text;                    // the tool's raw name, the pattern
    std::optional<config::Place> place;  // none: nobody knows it
};

enum class Decision { Allow, Deny, Ask };

struct Verdict {
    Decision decision = Decision::Allow;
    config::Level level = config::Level::RequireApproval;
    const Rule* rule = nullptr;  // good as long as the Policy's rules; null: nobody wrote one

    bool listed() const { return level != config::Level::Disable; }
};

class Policy {
public:
    Policy(const config::Permissions& permissions, const std::vector<config::Server>& servers);

    // Allocates nothing.
    Verdict judge(const Question& question) const;
    // What forbids it, where, what would allow it; of a verdict on that question other than Allow,
    // and where it is Ask, of nobody being there to approve.
    std::string reason(const Question& question, const Verdict& verdict) const;

    // Why that name is forbidden whatever its server will list as it; nothing: that is known only
    // then, for a rule that names a tool in its server's words may mean another one.
    std::optional<std::string> certain_denial(core::Trust trust, std::string_view server,
                                              std::string_view public_name) const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    template <class T>
    using ByName = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

    struct NamedTool {
        config::Level level;
        Rule rule;
    };
    struct ServerRules {
        ByName<NamedTool> tools;
        std::optional<Rule> others_hidden;  // what enabled_tools does not name
        std::optional<Rule> untrusted;

        const NamedTool* find(std::string_view tool) const;  // null: no rule names it
    };
    struct PatternList {
        using Read = std::vector<std::string> (Readings::*)(std::string_view written) const;

        std::vector<Rule> rules;  // as written, once for each pattern that one stands for
        Patterns patterns;

        PatternList(Rule::Kind kind, const std::vector<std::string>& written,
                    const std::map<std::string, config::Place>& places, const Readings& readings,
                    Read read);
        const Rule* match(std::string_view name) const;
    };
    static ServerRules compile(const config::Server& server);

    ByName<ServerRules> servers_;
    std::optional<Rule> closed_;
    Rule not_configured_;
    PatternList deny_;
    std::optional<PatternList> allow_;
    // The lists that `allow_` is of, strongest first, to name the one that lacks a tool.
    std::vector<std::pair<PatternList, Rule>> allow_lists_;
    Rule nothing_allows_;  // in words that two of them read otherwise
};

}  // namespace patchbay::policy
