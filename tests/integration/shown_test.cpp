// What status, sign-ins and places look like to a person and to a program.
#include "integration/home.hpp"

#include <chrono>
#include <map>
#include <sstream>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

using ::testing::ContainsRegex;

// The rows of a table of two columns.
std::map<std::string, std::string> rows_of(const std::string& out) {
    std::map<std::string, std::string> rows;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
        const auto gap = line.find("  ");
        rows[line.substr(0, gap)] =
            gap == std::string::npos ? "" : line.substr(line.find_first_not_of(' ', gap));
    }
    return rows;
}

TEST(Shown, AServerInDetail) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"mcp", "status", "x"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    auto rows = rows_of(done.out);
    EXPECT_EQ(rows["id"], "x");
    EXPECT_EQ(rows["state"], "ready");
    EXPECT_EQ(rows["enabled"], "yes");
    EXPECT_EQ(rows["transport"], "stdio");
    EXPECT_THAT(rows["source"], HasSubstr((home.user_config() / "mcp.json").string() + ":1:"));
    EXPECT_THAT(rows["protocol"], ContainsRegex("^20[0-9][0-9]-"));
    EXPECT_THAT(rows["server"], ContainsRegex("^[^ ]+ [0-9.]+$"));
    EXPECT_THAT(rows["capabilities"], HasSubstr("tools"));
    EXPECT_THAT(rows["tools"], ContainsRegex("^[0-9]+$"));
    EXPECT_EQ(rows["restarts"], "0");
    EXPECT_THAT(rows["last connected"],
                ContainsRegex("^20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-9:]+Z$"));
    EXPECT_EQ(rows.count("last error"), 0u);
    EXPECT_EQ(rows.count("stray stdout lines"), 0u);
    // The word that its process runs may come behind its first answers.
    json::value told = json::object();
    EXPECT_TRUE(comes_true([&] {
        told = json::parse(home.run({"mcp", "status", "x", "--json"}).out);
        return told.get_object().contains("pid");
    }));
    EXPECT_EQ(told.at("id"), "x");
    EXPECT_EQ(told.at("scope"), "user");
    EXPECT_EQ(told.at("enabled"), true);
    EXPECT_EQ(told.at("state"), "ready");
    EXPECT_TRUE(told.at("pid").is_int64()) << told.at("pid");
    EXPECT_EQ(rows["server"], json::value_to<std::string>(told.at("server").at("name")) + " " +
                                  json::value_to<std::string>(told.at("server").at("version")));
    EXPECT_EQ(std::to_string(told.at("tools").as_int64()), rows["tools"]);
    EXPECT_EQ(told.at("protocol"), json::string(rows["protocol"]));
    EXPECT_THAT(json::value_to<std::string>(told.at("last_connected_at")),
                ContainsRegex("^20[0-9][0-9]-.*Z$"));
    for (const char* absent : {"fallback_from", "last_error", "notes"})
        EXPECT_FALSE(told.as_object().contains(absent)) << absent;
}

TEST(Shown, AServerThatIsNotThereSaysWhyAndNothingThatItDoesNotKnow) {
    Home home;
    home.add("dead", {{"command", "/bin/false"}});
    const auto done = home.run({"mcp", "status", "dead"});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    auto rows = rows_of(done.out);
    EXPECT_EQ(rows["state"], "failed");
    EXPECT_EQ(rows["tools"], "-");
    EXPECT_NE(rows["last error"], "");
    for (const char* absent : {"protocol", "server", "capabilities", "last connected"})
        EXPECT_EQ(rows.count(absent), 0u) << absent;
    const auto told = json::parse(home.run({"mcp", "status", "dead", "--json"}).out);
    EXPECT_TRUE(told.at("tools").is_null());
    EXPECT_EQ(told.at("last_error"), json::string(rows["last error"]));
    for (const char* absent : {"protocol", "server", "capabilities", "last_connected_at"})
        EXPECT_FALSE(told.as_object().contains(absent)) << absent;
    const auto all = home.run({"mcp", "status"});
    EXPECT_EQ(all.exit_code, 5);
    EXPECT_THAT(all.out, ContainsRegex("dead .* failed"));
    EXPECT_THAT(all.err, HasSubstr(rows["last error"]));
}

// However far its end has come when it is shown.
TEST(Shown, AServerThatDidNotStartInTimeInOneWordEverywhere) {
    Home home;
    home.add("slow", {{"command", "/bin/sh"},
                      {"args", {"-c", "trap '' TERM; sleep 3600 & wait; wait"}},
                      {"startup_timeout_sec", 0.3}});
    const auto one = home.run({"mcp", "status", "slow", "--json"});
    EXPECT_EQ(json::parse(one.out).at("state"), "failed");
    EXPECT_THAT(home.run({"mcp", "status"}).out, ContainsRegex("slow .* failed"));
}

TEST(Shown, ADisabledServerIsNoTrouble) {
    Home home;
    home.add_example("off", {}, {{"enabled", false}});
    const auto one = home.run({"mcp", "status", "off"});
    EXPECT_EQ(one.exit_code, 0) << one.err;
    auto rows = rows_of(one.out);
    EXPECT_EQ(rows["state"], "disabled");
    EXPECT_EQ(rows["enabled"], "no");
    const auto all = home.run({"mcp", "status"});
    EXPECT_EQ(all.exit_code, 0);
    EXPECT_THAT(all.out, AllOf(StartsWith("ID "), ContainsRegex("off .* no .* disabled")));
    EXPECT_EQ(all.err, "");
}

std::int64_t seconds_from_now(std::int64_t seconds) {
    return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) + seconds;
}

class SignInsShown : public ::testing::Test {
protected:
    void keep(const json::object& records) {
        const auto file = home.root() / "state/patchbay/mcp-auth.json";
        home.write(file, json::serialize(json::object{{"version", 1}, {"servers", records}}));
        ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
        ASSERT_EQ(::chmod(file.parent_path().c_str(), 0700), 0);
    }
    Home home;
};

TEST_F(SignInsShown, WithWhoAndWhereAndUntilWhen) {
    keep({{"b", {{"plugin", "auth_oauth"}, {"issuer", "https://b.example"}, {"scope", "read"}}},
          {"c", {{"plugin", "auth_oauth"}, {"ended", "invalid_grant"}, {"expires_at", 1}}},
          {"a",
           {{"plugin", "auth_oauth"},
            {"issuer", "https://a.example"},
            {"principal", "ada"},
            {"refresh_token", "a-secret"},
            {"expires_at", 1}}}});
    const auto done = home.run({"mcp", "auth"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out,
                ContainsRegex("^SERVER +ISSUER +WHO +SCOPE +EXPIRES *\n"
                              "a +https://a.example +ada +- +expired, renewed when used *\n"
                              "b +https://b.example +- +read +unknown *\n"
                              "c +- +- +- +ended; patchbay mcp login c *\n$"));
    EXPECT_EQ(json::parse(home.run({"mcp", "auth", "--json"}).out),
              json::parse(R"([{"server":"a","issuer":"https://a.example","scope":"",
                  "renewable":true,"ended":false,"store":"file","principal":"ada",
                  "expires_at":"1970-01-01T00:00:01Z"},
                 {"server":"b","issuer":"https://b.example","scope":"read",
                  "renewable":false,"ended":false,"store":"file"},
                 {"server":"c","issuer":"","scope":"","renewable":false,"ended":true,
                  "store":"file"}])"));
}

TEST_F(SignInsShown, WithTheTimeThatIsLeftInTheUnitThatFits) {
    const std::int64_t minute = 60, hour = 60 * minute, day = 24 * hour;
    const struct {
        json::value expires;
        const char* shown;
    } cases[] = {
        {1, "expired"},
        {0, "unknown"},
        {-1, "unknown"},
        {"soon", "unknown"},
        {seconds_from_now(90), "in [1-9][0-9]? s"},
        {seconds_from_now(100 * minute + 30), "in 100 min"},
        {seconds_from_now(2 * hour + 30), "in 2 h"},
        {seconds_from_now(47 * hour + 58 * minute), "in 47 h"},
        {seconds_from_now(2 * day + 30), "in 2 days"},
        {seconds_from_now(90 * day + 80), "in 90 days"},
    };
    json::object records;
    std::string rows = "\n";
    for (const auto& [expires, shown] : cases) {
        const auto name = "s" + std::to_string(records.size());
        records[name] = {{"plugin", "auth_oauth"}, {"expires_at", expires}};
        rows += name + " +- +- +- +" + shown + " *\n";
    }
    keep(records);
    EXPECT_THAT(home.run({"mcp", "auth"}).out, ContainsRegex(rows + "$"));
}

TEST_F(SignInsShown, OfNobodyWhenThereIsNone) {
    const auto done = home.run({"mcp", "auth"});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(done.err, "nobody is signed in; patchbay mcp login ID\n");
    EXPECT_EQ(home.run({"mcp", "auth", "--json"}).out, "[]\n");
}

TEST_F(SignInsShown, NotFromAStoreThatOthersCanRead) {
    keep({{"a", {{"plugin", "auth_oauth"}}}});
    ASSERT_EQ(::chmod((home.root() / "state/patchbay/mcp-auth.json").c_str(), 0644), 0);
    const auto done = home.run({"mcp", "auth"});
    EXPECT_EQ(done.exit_code, 7);
    EXPECT_THAT(done.err, HasSubstr("others must not reach it"));
}

TEST(Shown, LogsOfAServer) {
    Home home;
    home.add("talks", {{"command", "/bin/sh"},
                       {"args", {"-c", "echo one >&2; echo two >&2; echo three >&2; exit 3"}}});
    const auto none = home.run({"mcp", "logs", "talks"});
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_EQ(none.out, "");
    EXPECT_EQ(none.err, "server \"talks\" has written nothing yet\n");
    EXPECT_EQ(home.run({"mcp", "status", "talks"}).exit_code, 5);
    const auto last = home.run({"mcp", "logs", "talks", "-n", "2"});
    EXPECT_THAT(last.out, ContainsRegex("stderr two\n[^\n]*stderr three\n$"));
    EXPECT_THAT(last.out, Not(HasSubstr("one")));
    EXPECT_EQ(last.err, "");
    const auto told = json::parse(home.run({"mcp", "logs", "talks", "--json"}).out).as_array();
    ASSERT_GE(told.size(), 4u);
    EXPECT_THAT(json::value_to<std::string>(told[0]),
                HasSubstr("Z starts user config " + (home.user_config() / "mcp.json").string()));
    EXPECT_THAT(json::value_to<std::string>(told[1]), HasSubstr("stderr one"));
    EXPECT_THAT(json::value_to<std::string>(told.back()), HasSubstr("stderr three"));
    EXPECT_EQ(home.run({"mcp", "logs", "nosuch"}).exit_code, 6);
}

TEST(Shown, PlacesThatWereLookedAt) {
    Home home;
    const auto read = home.write(".mcp.json", "{}");
    const auto broken = home.write(home.user_config() / "config.toml", "[");
    const auto alone = home.write(".patchbay.local.toml", "");
    std::map<std::string, json::object> places;
    const auto told = json::parse(home.run({"config", "paths", "--json"}).out);
    for (const auto& place : told.as_array())
        places[json::value_to<std::string>(place.at("path"))] = place.as_object();
    EXPECT_EQ(places[read].at("found"), "read");
    EXPECT_EQ(places[read].at("scope"), "project");
    EXPECT_EQ(places[read].at("note"), "");
    EXPECT_EQ(places[broken].at("found"), "broken");
    EXPECT_EQ(places[broken].at("scope"), "user");
    EXPECT_EQ(places[home.user_config() / "config.yaml"].at("found"), "absent");
    EXPECT_EQ(places[alone].at("scope"), "local");
}

TEST(Shown, TheConfigurationIndentedForPeople) {
    Home home;
    home.add("a", {{"command", "x"}, {"args", {"1", "2"}}});
    const auto done = home.run({"config", "show"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, StartsWith("{\n  \"servers\": {\n    \"a\": {\n      \"transport\": "
                                     "\"stdio\",\n"));
    EXPECT_THAT(done.out, HasSubstr("\n      \"args\": [\"1\",\"2\"],\n"));
    EXPECT_EQ(json::parse(done.out), json::parse(home.run({"config", "show", "--json"}).out));
}

}  // namespace
}  // namespace patchbay::test
