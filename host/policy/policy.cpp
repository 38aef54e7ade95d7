#include "policy/policy.hpp"

#include "config/approval.hpp"
#include "config/levels.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace patchbay::policy {
using config::Level;

namespace {

// The advice that allows this tool and locks out no other, as the first entry of an allow list would.
std::string level_that_allows(const Question& question) {
    const bool plain = std::all_of(question.tool.begin(), question.tool.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_';
    });
    return "[servers." + std::string(question.server) + ".tools] " +
           (plain ? std::string(question.tool)
                  : protocol::quoted(core::printable(question.tool, 200))) +
           " = \"allow-always\"";
}

// Whether public names hold that part of a server's own names, letter by letter.
bool shows_as_it_is(const std::string& server, const std::string& key) {
    const auto plain = "mcp__" + server + "__" + std::string(config::beginning_in(key));
    return plain == (config::is_beginning(key)
                         ? protocol::public_beginning(server, config::beginning_in(key))
                         : protocol::public_name(server, key));
}

// Behind what it is the place of; empty: nobody knows it.
std::string at(const Rule& rule) {
    return rule.place ? " (" + config::to_string(*rule.place) + ")" : "";
}

}  // namespace

const char* name_of(Pinning pinning) {
    return pinning == Pinning::Block ? "block" : pinning == Pinning::Warn ? "warn" : "off";
}

const char* name_of(PinMismatch::Kind kind) {
    switch (kind) {
        case PinMismatch::Kind::New:
            return "new";
        case PinMismatch::Kind::Renamed:
            return "renamed";
        case PinMismatch::Kind::Unknown:
            return "unknown";
        case PinMismatch::Kind::Changed:
            break;
    }
    return "changed";
}

std::optional<PinMismatch::Kind> mismatch_named(std::string_view name) {
    using Kind = PinMismatch::Kind;
    for (const auto kind : {Kind::Changed, Kind::New, Kind::Renamed, Kind::Unknown})
        if (name == name_of(kind)) return kind;
    return {};
}

const char* name_of(Rule::Kind kind) {
    switch (kind) {
        case Rule::Kind::DisabledTools:
            return "disabled_tools";
        case Rule::Kind::EnabledTools:
            return "enabled_tools";
        case Rule::Kind::Level:
            return "tools";
        case Rule::Kind::Trust:
            return "trust";
        case Rule::Kind::Deny:
            return "permissions.deny";
        case Rule::Kind::Allow:
        case Rule::Kind::AllowList:
            return "permissions.allow";
        case Rule::Kind::Pins:
            return "pins";
        case Rule::Kind::Ask:
            return "permissions.ask";
        case Rule::Kind::Closed:
            break;
    }
    return "closed";
}

void Policy::PatternList::add(Rule rule, const std::vector<std::string>& patterns) {
    patterns_.insert(patterns_.end(), patterns.begin(), patterns.end());
    rule_of_.resize(patterns_.size(), rules_.size());
    rules_.push_back(std::move(rule));
}

void Policy::PatternList::compile() {
    compiled_ = Patterns(std::exchange(patterns_, {}));
}

const Rule* Policy::PatternList::match(std::string_view name) const {
    const auto first = compiled_.first_match(name);
    return first ? &rules_[rule_of_[*first]] : nullptr;
}

void Policy::ForbidList::add(const Rule& rule, Forbidden meant) {
    if (meant.patterns.empty()) return;  // then there are no doubts either
    empty_ = false;
    certain_.add(rule, meant.patterns);
    for (auto& doubt : meant.doubts) {
        auto& all = doubts_[doubt.server].all;
        all.emplace_back(std::move(doubt), rule);
    }
}

void Policy::ForbidList::compile() {
    certain_.compile();
}

const Rule* Policy::ForbidList::match(const Question& question) const {
    if (const auto* rule = certain_.match(question.public_name)) return rule;
    if (doubts_.empty() || question.tool.empty()) return nullptr;
    if (question.reading == Question::Reading::Certain) return nullptr;
    const auto found = doubts_.find(question.server);
    if (found == doubts_.end()) return nullptr;
    auto& doubts = found->second;
    const auto* listed = question.listed;
    const auto version = listed ? listed->version() : 0;
    if (!doubts.standing || doubts.listed != listed || doubts.version != version) {
        doubts.listed = listed;
        doubts.version = version;
        const auto first =
            std::find_if(doubts.all.begin(), doubts.all.end(), [&](const auto& each) {
                const auto& doubt = each.first;
                return !listed || !listed->any(doubt.server, doubt.name, doubt.open);
            });
        doubts.standing = static_cast<std::size_t>(first - doubts.all.begin());
    }
    return *doubts.standing < doubts.all.size() ? &doubts.all[*doubts.standing].second : nullptr;
}

std::optional<Policy::Named> Policy::ServerRules::find(std::string_view tool,
                                                       const Question& question) const {
    std::optional<Named> found;
    if (!tools.empty())  // of most there are none: no hash
        if (const auto named = tools.find(tool); named != tools.end())
            found = {named->second.level, &named->second.rule};
    if (!found && !others_hidden)
        if (const auto* begun = beginnings.match(question)) found = {begun->level, &begun->rule};
    for (const auto& [level, names] : forbidden) {
        if (found && found->level <= level) break;
        if (const auto* rule = names.match(question)) return Named{level, rule};
    }
    return found;
}

Policy::Beginnings::Beginnings(const config::Server& server) : Beginnings() {
    std::vector<std::string> keys;
    for (const auto& [key, level] : server.tools)
        if (config::is_beginning(key)) keys.push_back(key);
    // Two as long may begin one name, as the server has it and as it is shown: then the stricter counts.
    std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
        return std::tuple(b.size(), server.tools.at(a), a) <
               std::tuple(a.size(), server.tools.at(b), b);
    });
    std::vector<std::string> shown;
    for (const auto& key : keys) {
        auto level = level_of(server, *config::deciding_key(server, key));
        const auto begin = config::beginning_in(key);
        if (level.level <= Level::RequireApproval && plain_length(begin) == begin.size()) {
            shown.push_back("mcp__" + server.id + "__" + key);
            level_of_public_.push_back(levels_.size());
        }
        levels_.push_back(std::move(level));
    }
    by_name_ = Patterns(keys);
    by_public_ = Patterns(shown);
}

const Policy::NamedTool* Policy::Beginnings::match(const Question& question) const {
    if (levels_.empty()) return nullptr;
    auto longest = by_name_.first_match(question.tool);
    if (const auto shown = by_public_.first_match(question.public_name))
        longest = std::min(longest.value_or(levels_.size()), level_of_public_[*shown]);
    return longest ? &levels_[*longest] : nullptr;
}

Policy::NamedTool Policy::level_of(const config::Server& server, const std::string& key) {
    return {server.tools.at(key), {Rule::Kind::Level, key, server.place_of_rule("tools." + key)}};
}

// One entry for each tool that a rule names, in the order in which the rules count: what is
// disabled, what enabled_tools leaves out, the level.
Policy::ServerRules Policy::compile(const config::Server& server) {
    using Kind = Rule::Kind;
    ServerRules rules;
    const auto rule = [&](Kind kind, const std::string& key, const std::string& text) {
        return Rule{kind, text, server.place_of_rule(key)};
    };
    rules.beginnings = Beginnings(server);
    for (const auto& tool : server.disabled_tools)
        rules.tools.try_emplace(
            tool, NamedTool{Level::Disable, Rule{Kind::DisabledTools, tool,
                                                 server.place_of_rule("disabled_tools", tool)}});
    if (server.enabled_tools) {
        rules.others_hidden = rule(Kind::EnabledTools, "enabled_tools", {});
        for (const auto& tool : *server.enabled_tools) {
            const auto* key = config::deciding_key(server, tool);
            rules.tools.try_emplace(
                tool, key ? level_of(server, *key)
                          : NamedTool{Level::RequireApproval,
                                      rule(Kind::EnabledTools, "enabled_tools", tool)});
        }
    }
    for (const auto& [tool, level] : server.tools) {
        rules.frees_odd_names =
            rules.frees_odd_names || (level > Level::Deny && !shows_as_it_is(server.id, tool));
        if (config::is_beginning(tool)) continue;
        rules.tools.try_emplace(tool, rules.others_hidden
                                          ? NamedTool{Level::Disable, *rules.others_hidden}
                                          : level_of(server, *config::deciding_key(server, tool)));
    }
    // What forbids may mean more than the tool of just that name.
    ForbidList disabled, denied;
    const auto forbid = [&](std::string_view written, Level level, Rule why) {
        const auto tool = core::trimmed(written);
        (level == Level::Disable ? disabled : denied).add(why, forbidden_by(server, tool));
        if (tool.empty()) return;
        const auto [named, added] =
            rules.tools.try_emplace(std::string(tool), NamedTool{level, why});
        // What stands there by its own name counts as it was found above.
        if (!added && tool != written && named->second.level > level)
            named->second = {level, std::move(why)};
    };
    for (const auto& tool : server.disabled_tools)
        forbid(tool, Level::Disable,
               {Kind::DisabledTools, tool, server.place_of_rule("disabled_tools", tool)});
    for (const auto& [tool, level] : server.tools)
        if (level <= Level::Deny && !is_plain_beginning(server, tool))
            forbid(tool, level, rule(Kind::Level, "tools." + tool, tool));
    for (auto& [level, names] : {std::pair(Level::Disable, &disabled), {Level::Deny, &denied}}) {
        if (names->empty()) continue;
        names->compile();
        rules.forbidden.emplace_back(level, std::move(*names));
    }
    if (server.trust == "untrusted") rules.untrusted = rule(Kind::Trust, "trust", {});
    for (const auto pinning : {Pinning::Block, Pinning::Warn, Pinning::Off})
        if (server.pins == name_of(pinning)) rules.pinning = pinning;
    if (rules.pinning)
        rules.pinned = rule(Kind::Pins, "pins", server.pins);
    else if (config::from_project(server.place.scope))
        rules.pinning = Pinning::Block;
    return rules;
}

Policy::Policy(const config::Permissions& permissions, const std::vector<config::Server>& servers)
    : not_configured_{Rule::Kind::Closed, "its server is not configured", {}},
      nothing_allows_{Rule::Kind::AllowList, {}, {}} {
    if (!permissions.closed.empty()) closed_ = {Rule::Kind::Closed, permissions.closed, {}};
    const Readings readings(servers);
    const auto rule = [](Rule::Kind kind, const std::string& pattern, const auto& places) {
        Rule made{kind, pattern, {}};
        if (const auto place = places.find(pattern); place != places.end())
            made.place = place->second;
        return made;
    };
    for (const auto& pattern : permissions.deny)
        deny_.add(rule(Rule::Kind::Deny, pattern, permissions.deny_places),
                  readings.of_deny(pattern));
    deny_.compile();
    for (const auto& pattern : permissions.ask)
        ask_.add(rule(Rule::Kind::Ask, pattern, permissions.ask_places), readings.of_deny(pattern));
    ask_.compile();
    if (permissions.allow) {
        const auto list_of = [&](const std::vector<std::string>& written) {
            PatternList list;
            for (const auto& pattern : written)
                list.add(rule(Rule::Kind::Allow, pattern, permissions.allow_places),
                         readings.of_allow(pattern));
            list.compile();
            return list;
        };
        allow_ = list_of(*permissions.allow);
        for (const auto& pattern : *permissions.allow)
            if (!pattern.ends_with('*'))
                for (const auto& name : readings.of_allow(pattern)) allowed_by_name_[name] = true;
        if (!permissions.allow->empty())
            nothing_allows_.place =
                rule(Rule::Kind::Allow, permissions.allow->front(), permissions.allow_places).place;
        for (const auto& [patterns, place] : permissions.allow_lists)
            allow_lists_.insert(allow_lists_.begin(),
                                {list_of(patterns), Rule{Rule::Kind::AllowList, {}, place}});
    }
    for (const auto& server : servers) servers_.try_emplace(server.id, compile(server));
}

Verdict Policy::judge(const Question& question) const {
    const auto denied = [](const Rule& rule) {
        return Verdict{Decision::Deny, Level::Deny, &rule};
    };
    const auto found = servers_.find(question.server);
    if (found == servers_.end()) return denied(not_configured_);
    const auto& server = found->second;
    Verdict verdict;
    if (!question.tool.empty()) {
        if (const auto named = server.find(question.tool, question)) {
            verdict.level = named->level;
            verdict.rule = named->rule;
        } else if (server.others_hidden) {
            verdict.level = Level::Disable;
            verdict.rule = &*server.others_hidden;
        }
        if (verdict.level <= Level::Deny) {
            verdict.decision = Decision::Deny;
            return verdict;
        }
    }
    const bool named_by_server = verdict.rule != nullptr;
    if (closed_) return denied(*closed_);
    // Deny wins over allow.
    if (const auto* pattern = deny_.match(question)) return denied(*pattern);
    if (question.mismatch && pinning(question) == Pinning::Block) return denied(server.pinned);
    const auto* allowed_by = allow_ ? allow_->match(question.public_name) : nullptr;
    if (allow_ && !allowed_by) {
        const auto lacking =
            std::find_if(allow_lists_.begin(), allow_lists_.end(),
                         [&](const auto& each) { return !each.first.match(question.public_name); });
        return denied(lacking == allow_lists_.end() ? nothing_allows_ : lacking->second);
    }
    if (server.untrusted && !allowed_by && !named_by_server) return denied(*server.untrusted);
    // A level that somebody wrote says more of a tool than a pattern that allows it, whoever asks.
    const bool asked_by_level = verdict.level == Level::RequireApproval && named_by_server &&
                                verdict.rule->kind == Rule::Kind::Level;
    const auto* asked_by = ask_.match(question);
    if (asked_by_level || asked_by) {
        Verdict asked{Decision::Ask, Level::RequireApproval, asked_by};
        // Of two that ask an administrator's decides, which is asked each time.
        if (asked_by_level && !(asked_by && asked.asks_every_time())) asked.rule = verdict.rule;
        return asked;
    }
    if (allowed_by) verdict.rule = allowed_by;
    const bool approved = allowed_by || verdict.level > Level::RequireApproval ||
                          question.trust == core::Trust::Approves;
    if (!approved) verdict.decision = Decision::Ask;
    return verdict;
}

// Where nobody says: what somebody stands behind by its name is blocked, an update of all else is told.
Pinning Policy::pinning(const Question& question) const {
    const auto found = servers_.find(question.server);
    if (found == servers_.end()) return Pinning::Block;
    const auto& server = found->second;
    if (server.pinning) return *server.pinning;
    const bool named = !question.tool.empty() && (server.tools.contains(question.tool) ||
                                                  allowed_by_name_.contains(question.public_name));
    const bool approved = question.mismatch && question.mismatch->approved;
    return named || approved ? Pinning::Block : Pinning::Warn;
}

std::string Policy::reason(const Question& question, const Verdict& verdict) const {
    const std::string name(question.public_name), server(question.server);
    // Also where only its public name is known yet.
    const bool of_a_tool = name != "mcp__" + server + "__";
    const std::string asked_for =
        of_a_tool ? name : std::string(question.what) + " of server \"" + server + "\"";
    const auto advice = [&](const std::string& of_the_rest) {
        return "; to allow " + (!question.tool.empty() ? "it: " + level_that_allows(question)
                                                       : "them: " + of_the_rest);
    };
    if (verdict.decision == Decision::Allow) return {};
    if (verdict.decision == Decision::Ask) {
        const auto needs = asked_for + (of_a_tool ? " needs" : " need") + " approval" +
                           (verdict.rule ? at(*verdict.rule) : "") +
                           " and nobody is there to give it";
        if (verdict.asks_every_time()) return needs + "; ask your administrator";
        if (verdict.rule && verdict.rule->kind == Rule::Kind::Ask)
            return needs + "; to allow " + (of_a_tool ? "it" : "them") + ": take \"" +
                   core::printable(verdict.rule->text, 200) + "\" out of [permissions] ask";
        const bool has_level = verdict.rule && verdict.rule->kind == Rule::Kind::Level;
        const bool of_several = has_level && config::is_beginning(verdict.rule->text);
        // A level that stands already has to go: a weaker file's would change nothing.
        return needs +
               advice("[permissions] allow = [\"" + name +
                      "\"], beside all else that may be used: such a list denies the rest") +
               (of_several
                    ? ", in that file, beside \"" + core::printable(verdict.rule->text, 200) + "\""
                : has_level ? ", in place of the level there"
                            : "");
    }
    const auto& rule = *verdict.rule;
    const auto is_denied = asked_for + (of_a_tool ? " is denied" : " are denied");
    // What is added to one's own files would change nothing.
    const bool is_fixed = rule.place && rule.place->scope == config::Scope::Enterprise;
    const std::string ask = is_fixed ? "; ask your administrator" : "";
    const auto of_server = " of server \"" + server + "\"" + at(rule);
    const auto written = core::trimmed(rule.text);
    const auto as_written = written == question.tool || written == name
                                ? std::string()
                                : " as \"" + core::printable(written, 200) + "\"";
    switch (rule.kind) {
        case Rule::Kind::DisabledTools:
            return name + " is in disabled_tools" + as_written + of_server + ask;
        case Rule::Kind::EnabledTools:
            return name + " is not in enabled_tools" + of_server + ask;
        case Rule::Kind::Level:
            return name + (verdict.level == Level::Disable ? " is disabled" : " is denied") +
                   " in tools" + as_written + of_server + ask;
        case Rule::Kind::Trust:
            return "server \"" + server + "\" is untrusted" + at(rule) + " and no rule names " +
                   asked_for + advice("trust = \"trusted\"");
        case Rule::Kind::Deny:
            return is_denied + " by [permissions] deny = \"" + rule.text + "\"" + at(rule) + ask;
        case Rule::Kind::AllowList:
            if (is_fixed)
                return is_denied + ", as the " + config::to_string(*rule.place) +
                       " does not allow " + (of_a_tool ? "it" : "them") + ask;
            return is_denied + ", as no pattern of [permissions] allow" + at(rule) + " matches \"" +
                   name + "\"; add that to it";
        case Rule::Kind::Pins: {
            const auto& mismatch = *question.mismatch;
            const auto told = (mismatch.subject.empty() ? name : mismatch.subject) + " is blocked" +
                              at(rule) + ": it " + mismatch.why;
            if (mismatch.kind == PinMismatch::Kind::Unknown) return told;  // and what to do
            return told + "; patchbay mcp diff " + server + " shows what differs, patchbay trust " +
                   server + " --tools approves it";
        }
        case Rule::Kind::Allow:  // forbids nothing
        case Rule::Kind::Ask:
        case Rule::Kind::Closed:
            break;
    }
    return is_denied + ": " + rule.text;
}

std::optional<std::string> Policy::certain_denial(core::Trust trust, std::string_view server,
                                                  std::string_view public_name,
                                                  std::string_view tool) const {
    Question question{trust, server, tool, public_name};
    question.reading = Question::Reading::Certain;  // what it lists may be the odd names of rules
    const auto rules = servers_.find(server);
    if (tool.empty() && rules != servers_.end()) {
        const auto raw = public_name.substr(std::min(server.size() + 7, public_name.size()));
        const auto named = rules->second.find(raw, question);
        const bool of_odd_names =
            named && rules->second.frees_odd_names && config::is_beginning(named->rule->text);
        const bool ruled =
            named && !of_odd_names &&
            (named->level == Level::Disable || named->rule->kind == Rule::Kind::Level);
        if (ruled) question.tool = raw;
        if (!ruled && rules->second.untrusted) return {};  // enabled_tools may name it
    }
    const auto verdict = judge(question);
    if (verdict.decision != Decision::Deny) return {};
    return reason(question, verdict);
}

}  // namespace patchbay::policy
