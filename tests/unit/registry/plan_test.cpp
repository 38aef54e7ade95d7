// What a changed configuration does: to connections, to lists of tools, to what may be called.
#include "registry/plan.hpp"

#include "support/config_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace patchbay::registry {
namespace {

using test::config_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Plan plan_of(const std::string& before, const std::string& after, const KnownTools& known = {}) {
    return plan(*snapshot_of(config_of(before)), *snapshot_of(config_of(after)), known);
}

std::string text_of(const Plan& plan) {
    std::string text;
    for (const auto& line : lines_of(plan))
        text += line.what + " " + line.whom + (line.how.empty() ? "" : ": " + line.how) + "\n";
    return text;
}

// Every key of a server, and what another value of it does.
struct Row {
    const char* key;
    const char* before;  // lines of [servers.a]
    const char* after;
    const char* plan;
};
const char* const kStdio = "command = \"run\"\n";
const char* const kUrl = "url = \"https://example.com\"\n";
const Row kRows[] = {
    {"transport", "transport = \"http\"\nurl = \"https://e.com\"",
     "transport = \"sse\"\nurl = \"https://e.com\"", "restart a: transport\n"},
    {"command", "command = \"x\"", "command = \"y\"", "restart a: command\n"},
    {"args", kStdio, "command = \"run\"\nargs = [\"-v\"]", "restart a: args\n"},
    {"cwd", "command = \"run\"\ncwd = \"/a\"", "command = \"run\"\ncwd = \"/b\"",
     "restart a: cwd\n"},
    {"env", "command = \"run\"\nenv = {A = \"1\"}", "command = \"run\"\nenv = {A = \"2\"}",
     "restart a: env\n"},
    {"pid_namespace", kStdio, "command = \"run\"\npid_namespace = true",
     "restart a: pid_namespace\n"},
    {"url", "url = \"https://a.com\"", "url = \"https://b.com\"", "restart a: url\n"},
    {"headers", kUrl, "url = \"https://example.com\"\nheaders = {X = \"1\"}",
     "restart a: headers\n"},
    {"host", "transport = \"tcp\"\nhost = \"127.0.0.1\"\nport = 1",
     "transport = \"tcp\"\nhost = \"::1\"\nport = 1", "restart a: host\n"},
    {"port", "transport = \"tcp\"\nport = 1", "transport = \"tcp\"\nport = 2", "restart a: port\n"},
    {"allow_remote", "transport = \"tcp\"\nport = 1",
     "transport = \"tcp\"\nport = 1\nallow_remote = true", "restart a: allow_remote\n"},
    {"config", "transport = \"tcp\"\nconfig = {port = 1}",
     "transport = \"tcp\"\nconfig = {port = 2}", "restart a: port\n"},
    {"enabled", "command = \"run\"\nenabled = false", kStdio, "start a\n"},
    {"expand", kStdio, "command = \"run\"\nexpand = false", "restart a: expand\n"},
    {"auth", kUrl, "url = \"https://example.com\"\nauth = \"none\"", "restart a: auth\n"},
    {"bearer_token_env_var", kUrl, "url = \"https://example.com\"\nbearer_token_env_var = \"T\"",
     "restart a: bearer_token_env_var\n"},
    {"oauth", kUrl, "url = \"https://example.com\"\noauth = {client_id = \"me\"}",
     "restart a: oauth\n"},
    {"startup_timeout_sec", kStdio, "command = \"run\"\nstartup_timeout_sec = 5",
     "adjust a: startup_timeout\n"},
    {"startup_timeout_ms", kStdio, "command = \"run\"\nstartup_timeout_ms = 5",
     "adjust a: startup_timeout\n"},
    {"request_timeout_ms", kStdio, "command = \"run\"\nrequest_timeout_ms = 5",
     "adjust a: request_timeout\n"},
    {"request_timeout_sec", kStdio, "command = \"run\"\nrequest_timeout_sec = 5",
     "adjust a: request_timeout\n"},
    {"tool_timeout_sec", kStdio, "command = \"run\"\ntool_timeout_sec = 5",
     "adjust a: tool_timeout\n"},
    {"tool_timeout_ms", kStdio, "command = \"run\"\ntool_timeout_ms = 5",
     "adjust a: tool_timeout\n"},
    {"enabled_tools", "command = \"run\"\nenabled_tools = [\"x\"]",
     "command = \"run\"\nenabled_tools = [\"x\", \"y\"]",
     "gained mcp__a__y\nwidened servers.a.enabled_tools: + y\n"},
    {"disabled_tools", "command = \"run\"\ndisabled_tools = [\"x\"]", kStdio,
     "gained mcp__a__x\nwidened servers.a.disabled_tools: - x\n"},
    {"tools", "command = \"run\"\ntools = {x = \"deny\"}",
     "command = \"run\"\ntools = {x = \"allow-always\"}",
     "widened servers.a.tools.x: deny -> allow-always\n"},
    {"trust", "command = \"run\"\ntrust = \"untrusted\"", kStdio,
     "widened servers.a.trust: no longer untrusted\n"},
    {"pins", "command = \"run\"\npins = \"block\"", "command = \"run\"\npins = \"warn\"",
     "widened servers.a.pins: block -> warn\n"},
    {"mode", kStdio, "command = \"run\"\nmode = \"shared\"", "adjust a: mode\n"},
    {"lazy", kStdio, "command = \"run\"\nlazy = true", "adjust a: lazy\n"},
    {"idle_timeout_sec", kStdio, "command = \"run\"\nidle_timeout_sec = 5",
     "adjust a: idle_timeout\n"},
    {"forward_headers", kUrl, "url = \"https://example.com\"\nforward_headers = [\"x-a\"]",
     "adjust a: forward_headers\n"},
    {"warm", kStdio, "command = \"run\"\nwarm = 1", "adjust a: warm\n"},
    {"protocol", kStdio, "command = \"run\"\nprotocol = \"2025-11-25\"", "restart a: protocol\n"},
    {"fallback", kUrl, "url = \"https://example.com\"\nfallback = [\"sse\"]",
     "restart a: fallback\n"},
    {"limits", kStdio, "command = \"run\"\nlimits = { files = 64 }", "restart a: limits\n"},
    {"required", kStdio, "command = \"run\"\nrequired = true", "adjust a: required\n"},
    {"check_arguments", kStdio, "command = \"run\"\ncheck_arguments = false",
     "adjust a: check_arguments\n"},
    {"restart", kStdio, "command = \"run\"\nrestart = false", "adjust a: restart\n"},
    {"connect_timeout_ms", kUrl, "url = \"https://example.com\"\nconnect_timeout_ms = 5",
     "restart a: connect_timeout_ms\n"},
    {"pass_env", kStdio, "command = \"run\"\npass_env = [\"X\"]", "restart a: pass_env\n"},
    {"stop_grace_ms", kStdio, "command = \"run\"\nstop_grace_ms = 5", "restart a: stop_grace_ms\n"},
    {"ca_file", kUrl, "url = \"https://example.com\"\nca_file = \"/ca\"", "restart a: ca_file\n"},
    {"client_certificate", kUrl, "url = \"https://example.com\"\nclient_certificate = \"/c\"",
     "restart a: client_certificate\n"},
    {"client_key", kUrl, "url = \"https://example.com\"\nclient_key = \"/k\"",
     "restart a: client_key\n"},
    {"proxy", kUrl, "url = \"https://example.com\"\nproxy = \"http://p\"", "restart a: proxy\n"},
    {"keep_alive_sec", kUrl, "url = \"https://example.com\"\nkeep_alive_sec = 5",
     "restart a: keep_alive_sec\n"},
    {"unix_socket", kUrl, "url = \"https://example.com\"\nunix_socket = \"/s\"",
     "restart a: unix_socket\n"},
};

TEST(PlanOfAKey, IsThatOfTheTable) {
    for (const auto& row : kRows) {
        SCOPED_TRACE(row.key);
        const std::string head = "[servers.a]\n";
        const auto before = config_of(head + row.before), after = config_of(head + row.after);
        ASSERT_EQ(before.servers.size(), 1u) << row.before;
        ASSERT_EQ(after.servers.size(), 1u) << row.after;
        const auto made = plan(*snapshot_of(before), *snapshot_of(after));
        EXPECT_EQ(text_of(made), row.plan);
        // What the connections do is what the plan says.
        const auto done = difference(specs_of(before), specs_of(after));
        EXPECT_EQ(done.changed.size(), made.restart.size());
        EXPECT_EQ(done.added.size(), made.restart.size() + made.start.size());
        EXPECT_TRUE(plan_of(head + row.after, head + row.after).empty());
    }
}

TEST(PlanOfAKey, HasARowForEachOfTheSchema) {
    std::ostringstream text;
    text << std::ifstream(PATCHBAY_SOURCE_DIR "/config/schema/patchbay.schema.json").rdbuf();
    const auto schema = boost::json::parse(text.str());
    std::set<std::string> keys, rows;
    for (const auto& key : schema.at("$defs").at("server").at("properties").as_object())
        keys.emplace(key.key());
    // Gone before anything is judged (decision 49): what changes is what they put in.
    for (const auto* filled_in : {"template", "with"}) EXPECT_EQ(keys.erase(filled_in), 1u);
    for (const auto& row : kRows) rows.emplace(row.key);
    EXPECT_EQ(rows, keys) << "what does a change of that key do to a running server?";
}

TEST(Plan, NamesEachKeyOfAServerThatRestarts) {
    EXPECT_EQ(text_of(plan_of("[servers.a]\ncommand = \"x\"",
                              "[servers.a]\ncommand = \"y\"\nlazy = true\ntool_timeout_sec = 5")),
              "restart a: command, lazy, tool_timeout\n");
}

TEST(Plan, ATimeoutInAnotherUnitIsTheSame) {
    EXPECT_TRUE(plan_of("[servers.a]\ncommand = \"x\"\ntool_timeout_sec = 5",
                        "[servers.a]\ncommand = \"x\"\ntool_timeout_ms = 5000")
                    .empty());
}

TEST(Plan, WhatATableSignsInWithStartsItsServersAnew) {
    const std::string servers =
        "[servers.a]\nurl = \"https://a.com\"\nauth = \"corp\"\n[servers.b]\ncommand = \"b\"\n";
    EXPECT_EQ(text_of(plan_of(servers + "[auth.corp]\nkind = \"bearer\"\ntoken = \"${A}\"",
                              servers + "[auth.corp]\nkind = \"bearer\"\ntoken = \"${B}\"")),
              "restart a: auth.corp\n");
}

TEST(Plan, KnowsEveryToolThatAServerHasListed) {
    const std::string a = "[servers.a]\ncommand = \"run\"\n";
    const KnownTools known{{"a", {"x", "y", "z"}}};
    const auto fewer = plan_of(a, a + "enabled_tools = [\"y\", \"absent\"]", known);
    EXPECT_THAT(fewer.lost, ElementsAre("mcp__a__x", "mcp__a__z"));
    EXPECT_THAT(fewer.gained, IsEmpty()) << "no server lists that";
    EXPECT_THAT(plan_of(a, "", known).lost, ElementsAre("mcp__a__x", "mcp__a__y", "mcp__a__z"));
    EXPECT_THAT(plan_of("", a + "disabled_tools = [\"x\"]", known).gained,
                ElementsAre("mcp__a__y", "mcp__a__z"));
    EXPECT_TRUE(plan_of(a, a, known).empty());
}

TEST(Plan, ARuleOfWhatDoesNotRunIsNoNews) {
    const std::string off = "[servers.a]\ncommand = \"run\"\nenabled = false\n";
    EXPECT_TRUE(plan_of(off, off + "tools = {x = \"allow-always\"}\nargs = [\"z\"]").empty());
    EXPECT_EQ(text_of(plan_of("[servers.a]\ncommand = \"run\"", off)), "stop a\n");
}

TEST(Plan, SaysOfEachRuleWhichWayItGoes) {
    struct Case {
        const char* before;
        const char* after;
        const char* plan;
    };
    const Case cases[] = {
        {"", "[permissions]\ndeny = [\"mcp__a__*\"]", "narrowed permissions.deny: + mcp__a__*\n"},
        {"[permissions]\ndeny = [\"mcp__a__*\"]", "", "widened permissions.deny: - mcp__a__*\n"},
        {"", "[permissions]\nallow = [\"mcp__a__*\"]",
         "widened permissions.allow: + mcp__a__* (without an approval)\nnarrowed "
         "permissions.allow: "
         "only what it names\n"},
        {"[permissions]\nallow = [\"mcp__a__*\"]", "",
         "widened permissions.allow: no longer only what it names\n"
         "narrowed permissions.allow: - mcp__a__* (not without an approval)\n"},
        {"[permissions]\nallow = [\"mcp__a__x\"]", "[permissions]\nallow = [\"mcp__a__y\"]",
         "widened permissions.allow: + mcp__a__y\nnarrowed permissions.allow: - mcp__a__x\n"},
        {"", "[permissions]\nask = [\"mcp__a__*\"]", "narrowed permissions.ask: + mcp__a__*\n"},
        {"[permissions]\nask = [\"mcp__a__*\"]", "", "widened permissions.ask: - mcp__a__*\n"},
        {"", "tools = {x = \"require-approval\"}",
         "narrowed servers.a.tools.x: no rule -> require-approval\n"},
        {"", "tools = {\"*\" = \"deny\"}", "narrowed servers.a.tools.*: no rule -> deny\n"},
        {"tools = {\"*\" = \"deny\"}", "tools = {\"*\" = \"deny\", x = \"allow-always\"}",
         "widened servers.a.tools.x: deny -> allow-always\n"},
        {"tools = {\"*\" = \"deny\"}", "tools = {\"*\" = \"deny\", x = \"deny\"}", ""},
        {"", "[permissions]\nallow = 5", "narrowed permissions: deny everything\n"},
        {"[permissions]\nallow = 5", "", "widened permissions: no longer deny everything\n"},
    };
    const std::string a = "[servers.a]\ncommand = \"run\"\n";
    for (const auto& each : cases) {
        SCOPED_TRACE(each.after);
        EXPECT_EQ(text_of(plan_of(a + each.before, a + each.after)), each.plan);
    }
}

TEST(Plan, OfAnUntrustedServerNamingAToolAllowsIt) {
    const std::string a = "[servers.a]\ncommand = \"run\"\ntrust = \"untrusted\"\n";
    EXPECT_EQ(text_of(plan_of(a, a + "tools = {x = \"require-approval\"}")),
              "widened servers.a.tools.x: no rule -> require-approval\n");
    EXPECT_EQ(text_of(plan_of(a, a + "enabled_tools = [\"x\"]", {{"a", {"x"}}})),
              "widened servers.a.enabled_tools: + x\n"
              "narrowed servers.a.enabled_tools: only what it names\n");
}

TEST(Plan, WhatAHostReadsOnceWaitsForTheNext) {
    EXPECT_EQ(text_of(plan_of("", "[client]\nname = \"x\"\n[limits]\nlocal_starts = 1")),
              "later client.name: counts when the host starts the next time\n"
              "later limits.local_starts: counts when the host starts the next time\n");
}

TEST(Plan, AnAgentThatIsGoneIsShownNothing) {
    EXPECT_EQ(text_of(plan_of("[agents.a]\nservers = [\"x\"]\n[agents.b]\nservers = [\"x\"]\n",
                              "[agents.b]\nservers = [\"y\"]\n[agents.c]\n")),
              "shown b: its clients are shown what it says by now\n"
              "shown c: its clients are shown what it says by now\n"
              "closed a: it is gone, and who comes as it is shown nothing\n");
}

TEST(Plan, ABundleCountsAtOnceAsAnAgentDoes) {
    EXPECT_EQ(text_of(plan_of("[bundles.a]\nservers = [\"x\"]\n[bundles.b]\nservers = [\"x\"]\n",
                              "[bundles.b]\nservers = [\"y\"]\n")),
              "shown bundles.b: its clients are shown what it says by now\n"
              "closed bundles.a: it is gone, and who comes as it is shown nothing\n");
}

TEST(Plan, OfABrokenEnterpriseFileStopsAll) {
    auto denied = config_of("[servers.a]\ncommand = \"run\"\n");
    const auto before = snapshot_of(denied);
    denied.deny_all = true;
    EXPECT_EQ(text_of(plan(*before, *snapshot_of(denied))),
              "stop a\nnarrowed permissions: deny everything\n");
}

TEST(Plan, InJsonHasEveryMemberWhateverIsEmpty) {
    const auto empty = to_json(Plan());
    for (const char* member : {"start", "stop", "restart", "adjust", "tools_gained", "tools_lost",
                               "widened", "narrowed", "shown", "closed", "next_start"})
        EXPECT_EQ(empty.at(member), boost::json::array()) << member;
    const auto changed = to_json(plan_of("[servers.a]\ncommand = \"x\"",
                                         "[servers.a]\ncommand = \"y\"\n"
                                         "tools = {t = \"deny\"}"));
    EXPECT_EQ(boost::json::serialize(changed.at("restart")),
              R"([{"server":"a","keys":["command"]}])");
    EXPECT_EQ(boost::json::serialize(changed.at("narrowed")),
              R"([{"rule":"servers.a.tools.t","change":"no rule -> deny"}])");
}

}  // namespace
}  // namespace patchbay::registry
