// May this caller see and use this tool? One function for every way in, asked when a call comes and
// never before. Hiding is not denying, and both are answered here.
//
// Owns:    the rules, compiled once from a configuration. Other rules are another Policy, assigned
//          in the place of this one: the next call is judged by them.
// Threads: [loop]: judging keeps what it found of what is listed. Errors: none; a Verdict says why.
// Source:  config/README.md, "What a call needs"; decisions/0050-a-level-that-somebody-wrote-is-obeyed.md.
#pragma once

#include "config/config.hpp"
#include "core/principal.hpp"
#include "policy/patterns.hpp"
#include "policy/pin.hpp"
#include "policy/readings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::policy {

// What servers call their tools, as far as they have listed them.
class ListedTools {
public:
    // Another one whenever any() may answer otherwise.
    virtual std::uint64_t version() const = 0;
    // Whether one of that server is called so, or begins so.
    virtual bool any(std::string_view server, std::string_view name, bool or_longer) const = 0;

protected:
    ~ListedTools() = default;
};

struct Question {
    core::Trust trust = core::Trust::NeedsApproval;  // of who asks
    std::string_view server;                         // id
    std::string_view tool;                // raw name; empty: the server itself (resources, prompts)
    std::string_view public_name;         // mcp__server__tool
    std::string_view what = "requests";   // of the server itself, for the reason: "resources"
    const ListedTools* listed = nullptr;  // of all servers; null: a rule is read as if none had any
    // Certain: a rule counts for what it means whatever servers list.
    enum class Reading { AsListed, Certain } reading = Reading::AsListed;
    const PinMismatch* mismatch = nullptr;  // with what was approved; null: none is known
};

// What somebody wrote that decides.
struct Rule {
    enum class Kind {
        DisabledTools,  // of the server
        EnabledTools,   // the same
        Level,          // the same: tools.NAME, where NAME may be the beginning of some
        Trust,          // the same
        Deny,           // a pattern of [permissions]
        Allow,          // the same
        Ask,            // the same
        AllowList,      // all patterns of it: none matches
        Pins,           // of the server, or what holds where it says nothing of them
        Closed          // there are no rules to go by; `text` says why
    };
    Kind kind;
    std::string text;                    // the tool's raw name, the pattern
    std::optional<config::Place> place;  // none: nobody knows it
};

const char* name_of(Rule::Kind kind);  // "disabled_tools", as in the words of a file

enum class Decision { Allow, Deny, Ask };

struct Verdict {
    Decision decision = Decision::Allow;
    config::Level level = config::Level::RequireApproval;
    const Rule* rule = nullptr;  // good as long as the Policy's rules; null: nobody wrote one

    bool listed() const { return level != config::Level::Disable; }
    // It is another one than somebody approved.
    bool is_pinned() const { return rule && rule->kind == Rule::Kind::Pins; }
    // Of Ask: an administrator wants it asked each time, so no answer of before counts.
    bool asks_every_time() const {
        return rule && rule->place && rule->place->scope == config::Scope::Enterprise;
    }
};

class Policy {
public:
    Policy(const config::Permissions& permissions, const std::vector<config::Server>& servers);

    // Allocates nothing, but for the first question after tools were listed that is about a server with
    // doubtful rules.
    Verdict judge(const Question& question) const;
    // What it means for that tool, or the server where none is named, that it is not as it was approved.
    Pinning pinning(const Question& question) const;
    // What forbids it, where, what would allow it; of a verdict on that question other than Allow,
    // and where it is Ask, of nobody being there to approve.
    std::string reason(const Question& question, const Verdict& verdict) const;

    // Why that name is forbidden whatever its server will list as it; nothing: that is known only
    // then, for a rule that names a tool in its server's words may mean another one, or it is not.
    // `tool`: the server's own name of it; empty: it is not known either.
    std::optional<std::string> certain_denial(core::Trust trust, std::string_view server,
                                              std::string_view public_name,
                                              std::string_view tool = {}) const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    template <class T>
    using ByName = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

    // Rules by the patterns that they stand for, the first one that matches counting.
    class PatternList {
    public:
        PatternList() : compiled_({}) {}
        void add(Rule rule, const std::vector<std::string>& patterns);
        void compile();  // after the last add()
        const Rule* match(std::string_view name) const;

    private:
        std::vector<Rule> rules_;
        std::vector<std::string> patterns_;
        std::vector<std::size_t> rule_of_;  // of each pattern
        Patterns compiled_;
    };
    // Rules that forbid, with those that close a server only as long as no tool is called so.
    class ForbidList {
    public:
        void add(const Rule& rule, Forbidden meant);
        void compile();
        bool empty() const { return empty_; }
        const Rule* match(const Question& question) const;

    private:
        struct Doubts {  // about one server
            std::vector<std::pair<Forbidden::Doubt, Rule>> all;
            // The first that holds, by what was listed then; past the last: none.
            const ListedTools* listed = nullptr;
            std::uint64_t version = 0;
            std::optional<std::size_t> standing;
        };
        bool empty_ = true;
        PatternList certain_;
        mutable ByName<Doubts> doubts_;
    };
    struct NamedTool {
        config::Level level;
        Rule rule;
    };
    struct Named {
        config::Level level;
        const Rule* rule;
    };
    // Levels by beginnings of names, each as it counts for a name that begins with no longer one.
    class Beginnings {
    public:
        Beginnings() : by_name_({}), by_public_({}) {}
        explicit Beginnings(const config::Server& server);
        const NamedTool* match(const Question& question) const;

    private:
        std::vector<NamedTool> levels_;  // the longest first
        Patterns by_name_;               // as the server calls its tools
        // Of those that forbid or ask: a name with other letters is not seen to begin so as the server has it.
        Patterns by_public_;
        std::vector<std::size_t> level_of_public_;
    };
    struct ServerRules {
        ByName<NamedTool> tools;
        Beginnings beginnings;
        bool frees_odd_names = false;  // a level that allows is for what no public name shows
        std::vector<std::pair<config::Level, ForbidList>> forbidden;  // the strictest first
        std::optional<Rule> others_hidden;  // what enabled_tools does not name
        std::optional<Rule> untrusted;
        std::optional<Pinning> pinning;  // that its file says, or that a checkout brings it
        Rule pinned{Rule::Kind::Pins, {}, {}};

        // Of the tool that the server calls so, and what the question is about; nothing: no rule
        // names it.
        std::optional<Named> find(std::string_view tool, const Question& question) const;
    };
    static ServerRules compile(const config::Server& server);
    static NamedTool level_of(const config::Server& server, const std::string& key);

    ByName<ServerRules> servers_;
    std::optional<Rule> closed_;
    Rule not_configured_;
    ForbidList deny_, ask_;
    std::optional<PatternList> allow_;
    ByName<bool> allowed_by_name_;  // by a pattern that is one name
    // The lists that `allow_` is of, strongest first, to name the one that lacks a tool.
    std::vector<std::pair<PatternList, Rule>> allow_lists_;
    Rule nothing_allows_;  // in words that two of them read otherwise
};

}  // namespace patchbay::policy
