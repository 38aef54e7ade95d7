// What `why` tells is what a call and a list are judged by, whatever is configured: rules of every kind and scope, what
// whoever asks is shown, and what somebody approved of what has changed since.
#include "pins/approval.hpp"
#include "service/why.hpp"
#include "unit/pins/fake_store.hpp"
#include "unit/service/fixture.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace patchbay::service {
namespace {

using config::Level;
using config::Scope;
using core::Trust;
using Answer = Why::Answer;

const std::map<std::string, std::vector<std::string>> kTools{{"git", {"log", "push", "push_tag"}},
                                                             {"github", {"log", "create_issue"}}};
const std::vector<std::string> kPatterns{
    "mcp__*",           "mcp__git__*",           "mcp__git__push*",
    "mcp__git__push",   "mcp__git__log",         "mcp__github__*",
    "mcp__github__log", "mcp__github__create_*", "mcp__web__*"};
const std::vector<std::string> kKeys{"*", "p*", "push*", "push", "log", "create_*", "create_issue"};

struct Listed final : policy::ListedTools {
    std::uint64_t version() const override { return 1; }
    bool any(std::string_view server, std::string_view name, bool or_longer) const override {
        const auto found = kTools.find(std::string(server));
        return found != kTools.end() &&
               std::any_of(found->second.begin(), found->second.end(), [&](const auto& tool) {
                   return or_longer ? tool.starts_with(name) : tool == name;
               });
    }
};

// By the servers and patterns of a bundle.
struct Bundle final : connection::Sight {
    bool holds(std::string_view server) const override {
        return std::find(servers.begin(), servers.end(), server) != servers.end();
    }
    bool holds(std::string_view server, std::string_view public_name) const override {
        const auto fits = [&](const auto& each) { return protocol::matches(each, public_name); };
        return holds(server) && std::any_of(allow.begin(), allow.end(), fits) &&
               std::none_of(deny.begin(), deny.end(), fits);
    }
    std::vector<std::string> servers, allow, deny;
};

struct Viewer final : connection::Caller {
    Viewer(connection::Callers& among, Trust trust)
        : Caller(among, {core::Principal::Kind::Embedder, {}, {}, trust}) {}
    using Caller::see;
    void notify(const std::string&, const std::string&, std::string_view,
                connection::Reference) override {}
    connection::Question answer(const std::string&, const std::string&, const json::object&, Answer,
                                const connection::About&) override {
        return {};
    }
};

class WhyOfAnything : public ServiceTest {
protected:
    WhyOfAnything() {
        for (const auto& [id, tools] : kTools) {
            json::array all;
            for (const auto& tool : tools) all.push_back(test::tool_named(tool.c_str()));
            servers.at(id).be_modern(all);
        }
        pins_of = [this](catalogue::Catalogue& all) {
            pins.emplace(all, store, [](const std::string& server) -> std::optional<pins::Key> {
                return pins::Key{server, {}, "d"};
            });
            return &*pins;
        };
    }
    bool coin() { return random() % 2 == 0; }
    std::vector<std::string> some_of(const std::vector<std::string>& all, unsigned most) {
        std::vector<std::string> some;
        for (auto left = random() % (most + 1); left > 0; --left)
            some.push_back(all[random() % all.size()]);
        return some;
    }
    config::Place place() {
        const std::array scopes{Scope::User, Scope::Project, Scope::Local, Scope::Enterprise};
        return {scopes[random() % scopes.size()], "c.toml", static_cast<unsigned>(++line), 1};
    }
    void configure_anything() {
        line = 0;
        permissions = {};
        const auto note = [&](const auto& patterns, auto& places) {
            for (const auto& each : patterns) places[each] = place();
        };
        permissions.deny = some_of(kPatterns, 2);
        permissions.ask = some_of(kPatterns, 2);
        note(permissions.deny, permissions.deny_places);
        note(permissions.ask, permissions.ask_places);
        if (random() % 3 == 0) {
            permissions.allow = some_of(kPatterns, 4);
            note(*permissions.allow, permissions.allow_places);
            permissions.allow_lists = {{*permissions.allow, place()}};
        }
        for (auto& spec : specs) {
            auto& server = spec.config;
            const auto& own = kTools.at(server.id);
            server.enabled_tools.reset();
            if (random() % 5 == 0) server.enabled_tools = some_of(own, 3);
            server.disabled_tools =
                random() % 4 == 0 ? some_of(own, 2) : std::vector<std::string>();
            server.tools.clear();
            server.rules.clear();
            for (const auto& key : some_of(kKeys, 3)) {
                server.tools[key] = static_cast<Level>(random() % 7);
                server.rules["tools." + key] = place();
            }
            server.trust = random() % 6 == 0 ? "untrusted" : coin() ? "trusted" : "";
            const std::array words{"", "", "block", "warn", "off"};
            server.pins = words[random() % words.size()];
        }
        bundle = std::make_shared<Bundle>();
        bundle->servers = coin() ? std::vector<std::string>{"git", "github"}
                                 : some_of({"git", "github", "web"}, 2);
        bundle->allow = coin() ? std::vector<std::string>{"mcp__*"} : some_of(kPatterns, 3);
        bundle->deny = random() % 3 == 0 ? some_of(kPatterns, 1) : std::vector<std::string>();
    }
    // Somebody approved them, one by one as they are or as they were.
    void approve_anything() {
        for (const auto& [id, tools] : kTools) {
            const auto& listing = *catalogue->listings().at(id);
            pins::Record record;
            record.server = id;
            if (coin()) record.whole.insert(pins::Part::Tools);
            for (const auto& tool : listing.tools) {
                if (random() % 4 == 0) continue;
                record.pins[{pins::Part::Tools, tool.name}] = {
                    pins::digest_of(coin() ? pins::canonical_form(tool) : "what it was"),
                    static_cast<pins::Basis>(random() % 3), 1'000,
                    protocol::public_name(id, tool.name)};
            }
            store.put({id, {}, "d"}, std::move(record));
        }
        pins->refresh();
    }
    policy::Verdict judge(const std::string& server, const protocol::Tool& tool,
                          const std::string& public_name, Trust trust) {
        policy::Question question{trust, server, tool.name, public_name};
        question.listed = &listed;
        const auto& judged = pins->of_tool(server, tool, public_name);
        question.mismatch = judged.mismatch ? &*judged.mismatch : nullptr;
        return policy->judge(question);
    }

    std::mt19937 random{20260728};
    std::size_t line = 0;
    Listed listed;
    pins::FakeStore store;
    std::optional<pins::Pins> pins;
    std::shared_ptr<Bundle> bundle;
};

TEST_F(WhyOfAnything, IsWhatACallAndAListAreJudgedBy) {
    connect();
    ASSERT_EQ(catalogue->listings().size(), 2u);
    const auto statuses = known().statuses();
    std::map<Trust, std::unique_ptr<Viewer>> viewers;
    for (const auto trust : {Trust::Approves, Trust::NeedsApproval, Trust::NeedsRule})
        viewers[trust] = std::make_unique<Viewer>(callers, trust);
    std::map<Answer, int> seen;
    int pinned = 0;
#ifdef PATCHBAY_SANITIZED
    constexpr int kConfigurations = 10'000;  // there each takes several milliseconds
#else
    constexpr int kConfigurations = 100'000;
#endif
    for (int i = 0; i < kConfigurations && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        configure_anything();
        set_rules();
        if (i % 16 == 1) approve_anything();
        const auto trust = static_cast<Trust>(random() % 3);
        ASSERT_TRUE(viewers.contains(trust));
        auto& viewer = *viewers.at(trust);
        viewer.see(bundle);
        std::map<std::string, router::ListedTool> shown;
        for (const auto& each : router().tools(viewer)) shown.emplace(each.public_name, each);
        const Asker asker{trust, bundle.get(), "some", {}, "bundle"};
        for (const auto& [id, listing] : catalogue->listings()) {
            for (const auto& tool : listing->tools) {
                const auto name = protocol::public_name(id, tool.name);
                SCOPED_TRACE(name);
                const auto told = why(known(), asker, name, statuses);
                ++seen[told.answer];
                const auto row = shown.find(name);
                if (!bundle->holds(id, name)) {
                    EXPECT_EQ(told.answer, Answer::NotShown) << told.reason;
                    EXPECT_EQ(row, shown.end());
                    continue;
                }
                const auto verdict = judge(id, tool, name, trust);
                ASSERT_TRUE(told.ruling);
                EXPECT_EQ(told.ruling->decision, verdict.decision) << told.reason;
                EXPECT_EQ(told.ruling->level, verdict.level) << told.reason;
                ASSERT_EQ(told.ruling->rule.has_value(), verdict.rule != nullptr);
                if (verdict.rule) {
                    EXPECT_EQ(told.ruling->rule->kind, verdict.rule->kind);
                    EXPECT_EQ(told.ruling->rule->text, verdict.rule->text);
                    EXPECT_EQ(told.ruling->rule->place, verdict.rule->place);
                }
                const auto expected =
                    verdict.decision == policy::Decision::Allow ? Answer::Allowed
                    : verdict.decision == policy::Decision::Ask
                        ? (trust == Trust::NeedsRule ? Answer::Denied : Answer::Asked)
                    : verdict.level == Level::Disable ? Answer::Hidden
                                                      : Answer::Denied;
                EXPECT_EQ(told.answer, expected) << told.reason;
                ASSERT_EQ(row != shown.end(), verdict.listed()) << told.reason;
                if (row == shown.end()) continue;
                EXPECT_EQ(row->second.level, verdict.level);
                EXPECT_EQ(row->second.blocked, verdict.is_pinned());
                pinned += verdict.is_pinned();
            }
        }
    }
    // Each was met, so that none of it was looked at in vain.
    for (const auto answer :
         {Answer::Allowed, Answer::Asked, Answer::Denied, Answer::Hidden, Answer::NotShown})
        EXPECT_GT(seen[answer], kConfigurations / 100) << name_of(answer);
    EXPECT_GT(pinned, kConfigurations / 100);
}

}  // namespace
}  // namespace patchbay::service
