// Merging only narrows: whatever the scopes below say, together or alone, nobody gets more than an administrator's file
// allows, nor by a checkout more than without it. Each key is tried with every word it can have in every scope.
#include "config/executors.hpp"
#include "config/levels.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace patchbay::config {
namespace {

// The weakest first; an administrator's is above them all.
constexpr std::array kBelow = {Scope::User, Scope::Project, Scope::Local, Scope::Session};
constexpr std::array kTools = {"a", "b", "c"};

using Freedom = std::vector<int>;  // of each thing that can be had, how much: more is freer
using Words = std::vector<std::string>;

struct Key {
    const char* name;
    Words words;  // what a file may say of it; every file may also say nothing
    Freedom (*freedom)(const Config& config);
    // Of these alone an administrator's word also takes away of what is there; of the others it stands in its place.
    bool adds_up = false;
};

const Server& server_of(const Config& config) {
    static const Server none;
    const auto* server = find(config, "x");
    return server ? *server : none;
}

bool has(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

Freedom is_on(const Config& config) {
    return {find(config, "x") && server_of(config).enabled};
}

Freedom level_of_a(const Config& config) {
    // A tool of which nobody says anything is asked about.
    return {static_cast<int>(level_for(server_of(config), "a", Level::RequireApproval))};
}

Freedom left_by_disabled(const Config& config) {
    Freedom free;
    for (const auto* tool : kTools) free.push_back(!has(server_of(config).disabled_tools, tool));
    return free;
}

Freedom left_by_enabled(const Config& config) {
    const auto& list = server_of(config).enabled_tools;
    Freedom free;
    for (const auto* tool : kTools) free.push_back(!list || has(*list, tool));
    return free;
}

Freedom trust_of(const Config& config) {
    const auto& trust = server_of(config).trust;
    return {trust == "untrusted" ? 0 : trust.empty() ? 1 : 2};
}

// What a server may list otherwise than it was approved; where nobody says so it may where nobody stands behind it.
Freedom pins_of(const Config& config) {
    const auto& pins = server_of(config).pins;
    return {pins == "block" ? 0 : pins.empty() ? 1 : pins == "warn" ? 2 : 3};
}

// By patterns as rules have them: a name, or the beginning of one with a star.
bool matches(const std::vector<std::string>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& each) {
        return each.ends_with('*') ? name.starts_with(each.substr(0, each.size() - 1))
                                   : name == each;
    });
}

Freedom allowed(const Config& config) {
    const auto& rules = config.permissions;
    Freedom free;
    for (const auto* tool : kTools) {
        const auto name = std::string("mcp__x__") + tool;
        free.push_back(!config.deny_all && (!rules.allow || matches(*rules.allow, name)) &&
                       !matches(rules.deny, name));
    }
    return free;
}

Freedom not_asked(const Config& config) {
    Freedom free;
    for (const auto* tool : kTools)
        free.push_back(!matches(config.permissions.ask, std::string("mcp__x__") + tool));
    return free;
}

// Of one of this name nothing is forbidden but what is said to be.
Freedom reached(const Config& config) {
    Freedom free;
    const auto executor = executor_named(config, "local_pc");
    for (const auto* transport : {"stdio", "http", "sse", "ws", "tcp"}) {
        const bool program = transport == std::string("stdio");
        free.push_back(!executor || forbidden_by(*executor, transport, program).empty());
    }
    return free;
}

Freedom limit_of(const Config& config) {
    return {static_cast<int>(config.limits.schema_depth)};
}

Freedom agent_of(const Config& config) {
    for (const auto& agent : config.agents)
        if (agent.name == "e") return {agent.enabled && agent.fault.empty()};
    return {0};
}

std::string of_server(const std::string& word) {
    return "[servers.x]\n" + word + "\n";
}

Words lists(const std::string& begin, const std::string& end) {
    Words words;
    for (const auto* list : {"'a'", "'b'", "'a', 'b'", "'a', 'b', 'c'"})
        words.push_back(begin + "[" + list + "]" + end);
    return words;
}

std::vector<Key> keys() {
    Words levels, trusts, pins;
    for (const auto* level : {"disable", "deny", "require-approval", "allow-once", "allow-session",
                              "allow-project", "allow-always"})
        levels.push_back(of_server(std::string("tools.a = '") + level + "'"));
    for (const auto* trust : {"trusted", "untrusted"})
        trusts.push_back(of_server(std::string("trust = '") + trust + "'"));
    for (const auto* word : {"block", "warn", "off"})
        pins.push_back(of_server(std::string("pins = '") + word + "'"));
    return {
        {"enabled", {of_server("enabled = true"), of_server("enabled = false")}, is_on},
        {"tools.NAME", levels, level_of_a},
        {"tools.BEGINNING",
         {of_server("tools.'*' = 'disable'"), of_server("tools.'*' = 'deny'"),
          of_server("tools.'*' = 'allow-always'"), of_server("tools.'a*' = 'require-approval'"),
          of_server("tools.'a*' = 'allow-session'"), of_server("tools.a = 'deny'"),
          of_server("tools.a = 'allow-always'")},
         level_of_a},
        {"permissions.ask",
         {"[permissions]\nask = ['mcp__x__a']\n", "[permissions]\nask = ['mcp__x__b*']\n",
          "[permissions]\nask = []\n", "[permissions]\nask = ['mcp__*']\n"},
         not_asked,
         true},
        {"disabled_tools", lists("[servers.x]\ndisabled_tools = ", "\n"), left_by_disabled},
        {"enabled_tools", lists("[servers.x]\nenabled_tools = ", "\n"), left_by_enabled},
        {"trust", trusts, trust_of},
        {"pins", pins, pins_of},
        {"permissions.deny",
         {"[permissions]\ndeny = ['mcp__x__a']\n", "[permissions]\ndeny = ['mcp__x__b*']\n",
          "[permissions]\ndeny = []\n", "[permissions]\ndeny = ['mcp__*']\n"},
         allowed,
         true},
        {"permissions.allow",
         {"[permissions]\nallow = ['mcp__x__a']\n", "[permissions]\nallow = ['mcp__x__b*']\n",
          "[permissions]\nallow = ['mcp__x__*']\n",
          "[permissions]\nallow = ['mcp__x__a', 'mcp__x__c']\n"},
         allowed,
         true},
        {"executors",
         {"[executors.local_pc]\nallow_stdio = true\nallow_http = false\n",
          "[executors.local_pc]\nallow_stdio = false\n",
          "[executors.local_pc]\nallow_tcp = false\n"},
         reached,
         true},
        {"limits", {"[limits]\nschema_depth = 8\n", "[limits]\nschema_depth = 64\n"}, limit_of},
        {"agents.enabled",
         {"[agents.e]\nenabled = true\n", "[agents.e]\nenabled = false\n"},
         agent_of},
    };
}

bool at_most(const Freedom& one, const Freedom& other) {
    for (std::size_t i = 0; i < one.size(); ++i)
        if (one[i] > other[i]) return false;
    return true;
}

// What each scope says, by its number in Key::words; 0: nothing.
using Said = std::array<std::size_t, kBelow.size()>;

// One key, and what an administrator says of it: the number of a word; 0: nothing.
struct Case {
    Key key;
    std::size_t administrator;
};
void PrintTo(const Case& one, std::ostream* out) {
    *out << one.key.name << " " << one.administrator;
}

class Below : public ::testing::TestWithParam<Case> {
protected:
    Below() {
        read(Scope::Client, "[servers.x]\ncommand = 'x'\n", client_);
        for (const auto scope : kBelow) {
            auto& words = below_.emplace_back();
            for (const auto& word : GetParam().key.words) read(scope, word, words.emplace_back());
        }
        for (const auto& word : GetParam().key.words)
            read(Scope::Enterprise, "exclusive = false\n" + word, above_.emplace_back());
    }

    Freedom freedom(const Said& said, std::size_t administrator) const {
        std::vector<Fragment> fragments{client_};
        for (std::size_t i = 0; i < said.size(); ++i)
            if (said[i]) fragments.push_back(below_[i][said[i] - 1]);
        if (administrator) fragments.push_back(above_[administrator - 1]);
        return GetParam().key.freedom(merge(std::move(fragments)));
    }

    // Every combination of the scopes below.
    void each(const std::function<void(const Said&)>& look) const {
        Said said{};
        const auto most = GetParam().key.words.size();
        for (;;) {
            look(said);
            std::size_t at = 0;
            while (at < said.size() && ++said[at] > most) said[at++] = 0;
            if (at == said.size()) return;
        }
    }

    std::string told(const Said& said, std::size_t administrator) const {
        std::string text;
        for (std::size_t i = 0; i < said.size(); ++i)
            if (said[i])
                text += std::string(name_of(kBelow[i])) + ": " + GetParam().key.words[said[i] - 1];
        if (administrator) text += "enterprise: " + GetParam().key.words[administrator - 1];
        return text;
    }

private:
    static void read(Scope scope, const std::string& text, Fragment& into) {
        into = toml(scope, text);
        ASSERT_FALSE(into.broken) << text;
        ASSERT_TRUE(into.diagnostics.empty()) << text << all(into.diagnostics);
    }

    Fragment client_;
    std::vector<std::vector<Fragment>> below_;
    std::vector<Fragment> above_;
};

class Ceiling : public Below {};

TEST_P(Ceiling, NobodyBelowGetsMoreThanAnAdministratorSays) {
    const auto word = GetParam().administrator;
    const auto most = freedom({}, word);
    each([&](const Said& said) {
        if (HasFailure()) return;
        const auto now = freedom(said, word);
        EXPECT_TRUE(at_most(now, most)) << told(said, word);
        if (GetParam().key.adds_up) {
            EXPECT_TRUE(at_most(now, freedom(said, 0))) << told(said, word);
        }
    });
}

class Checkout : public Below {};

TEST_P(Checkout, GetsNobodyMoreThanThereIsWithoutIt) {
    each([&](const Said& said) {
        auto without = said;
        without[1] = without[2] = 0;
        if (without == said || HasFailure()) return;
        EXPECT_TRUE(at_most(freedom(said, 0), freedom(without, 0))) << told(said, 0);
    });
}

std::vector<Case> cases(bool with_administrator) {
    std::vector<Case> all;
    for (const auto& key : keys())
        for (std::size_t word = with_administrator; word <= key.words.size(); ++word) {
            all.push_back({key, word});
            if (!with_administrator) break;
        }
    return all;
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
    std::string name(info.param.key.name);
    std::replace(name.begin(), name.end(), '.', '_');
    return name + "_" + std::to_string(info.param.administrator);
}

INSTANTIATE_TEST_SUITE_P(EachWord, Ceiling, ::testing::ValuesIn(cases(true)), name_of_case);
INSTANTIATE_TEST_SUITE_P(EachKey, Checkout, ::testing::ValuesIn(cases(false)), name_of_case);

}  // namespace
}  // namespace patchbay::config
