// What is asked of servers stands in the audit, of every caller, and nobody edits it unseen.
#include "integration/home.hpp"
#include "support/result_schema.hpp"

#include <csignal>
#include <fstream>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::SizeIs;

struct AnAudit : testing::Test {
    Home home;
    AnAudit() { home.add_example("x"); }

    fs::path folder() const { return home.root() / "state/patchbay/audit"; }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        std::error_code gone;
        for (const auto& each : fs::directory_iterator(folder(), gone))
            if (each.path().extension() == ".jsonl") found.push_back(each.path());
        std::sort(found.begin(), found.end());
        return found;
    }
    json::array show(Words words = {}) {
        words.insert(words.begin(), {"--json", "audit", "show"});
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 0) << done.err;
        auto told = json::parse(done.out).as_array();
        EXPECT_TRUE(are_all("audit_record", told));
        return told;
    }
    Outcome verify() { return home.run({"audit", "verify"}); }
    void configure(const std::string& text) {
        home.write(home.user_config() / "config.toml", text);
    }
    static std::string text(const json::value& record, const char* key) {
        const auto* found = record.as_object().if_contains(key);
        return found && found->is_string() ? std::string(found->as_string()) : std::string();
    }
};

TEST_F(AnAudit, HasACallWithWhoAskedWhatDecidedAndHowItEnded) {
    configure("[permissions]\nallow = ['mcp__x__*']\n");
    const auto called = home.run({"call", "mcp__x__echo", "message=sesame-in-arguments"});
    ASSERT_EQ(called.exit_code, 0) << called.err;
    const auto all = show();
    ASSERT_THAT(all, SizeIs(1));
    const auto& record = all[0].as_object();
    EXPECT_EQ(record.at("kind"), "call");
    EXPECT_EQ(record.at("caller").at("kind"), "person");
    EXPECT_EQ(record.at("server"), "x");
    EXPECT_EQ(record.at("tool"), "echo");
    EXPECT_EQ(record.at("name"), "mcp__x__echo");
    EXPECT_EQ(record.at("decision"), "allow");
    EXPECT_THAT(text(record, "rule"), HasSubstr("mcp__x__*"));
    EXPECT_THAT(text(record, "place"), HasSubstr("config.toml:2:"));
    EXPECT_EQ(record.at("outcome"), "ok");
    EXPECT_EQ(text(record, "digest").size(), 64u);
    EXPECT_GT(record.at("result_bytes").to_number<int>(), 0);
    EXPECT_EQ(record.at("arguments_bytes"),
              std::string(R"({"message":"sesame-in-arguments"})").size());
    EXPECT_THAT(read_file(files().front()), Not(HasSubstr("sesame")));
    EXPECT_EQ(verify().exit_code, 0);
    struct stat info {};
    ASSERT_EQ(::stat(files().front().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(AnAudit, HasWhatWasRefusedAndWhy) {
    configure("[permissions]\ndeny = ['mcp__x__echo']\n");
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 7);
    const auto all = show({"--decision", "deny"});
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(text(all[0], "outcome"), "denied");
    EXPECT_THAT(text(all[0], "rule") + text(all[0], "reason"), HasSubstr("mcp__x__echo"));
    EXPECT_THAT(text(all[0], "reason"), HasSubstr("config.toml:2:"));
    EXPECT_THAT(show({"--decision", "allow"}), SizeIs(0));
}

TEST_F(AnAudit, HasArgumentsOnlyWhereThatIsAskedForAndThenMasked) {
    home.add_example("x", {}, {{"env", json::object{{"API_TOKEN", "canary-4711-token"}}}});
    configure("[audit]\narguments = true\n");
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=a canary-4711-token b"}).exit_code, 0);
    const auto all = show();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].at("arguments"), json::parse(R"({"message":"a *** b"})"));
    EXPECT_THAT(read_file(files().front()), Not(HasSubstr("canary")));
}

TEST_F(AnAudit, KeepsNothingWhereItIsTurnedOff) {
    configure("[audit]\nenabled = false\n");
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(folder()));
    EXPECT_THAT(verify().out, HasSubstr("nothing is recorded"));
}

TEST_F(AnAudit, IsNotForACheckoutToTurnOff) {
    home.write(".patchbay/config.toml", "[audit]\nenabled = false\n");
    const auto called = home.run({"call", "mcp__x__echo", "message=hi"});
    ASSERT_EQ(called.exit_code, 0) << called.err;
    EXPECT_THAT(called.err, HasSubstr("audit"));
    EXPECT_THAT(show(), SizeIs(1));
}

TEST_F(AnAudit, IsOneChainOfManyProcesses) {
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    std::vector<std::unique_ptr<Program>> programs;
    for (int i = 0; i < 6; ++i) {
        programs.push_back(std::make_unique<Program>(home.patchbay({"batch"})));
        for (int call = 0; call < 5; ++call)
            programs.back()->send(
                "{\"id\":" + std::to_string(call) +
                ",\"op\":\"tools/"
                "call\",\"name\":\"mcp__x__echo\",\"arguments\":{\"message\":\"m\"}}\n");
    }
    for (auto& program : programs) EXPECT_EQ(program->finish().exit_code, 0) << program->err();
    EXPECT_THAT(show({"-n", "0"}), SizeIs(30));
    EXPECT_THAT(show({"--principal", "batch"}), SizeIs(30));
    const auto verdict = home.run({"--json", "audit", "verify"});
    EXPECT_EQ(verdict.exit_code, 0) << verdict.out;
    const auto told = json::parse(verdict.out);
    EXPECT_TRUE(is_a("audit_verdict", told));
    EXPECT_EQ(told.at("records"), 30);
}

TEST_F(AnAudit, NamesTheLineThatSomebodyChanged) {
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const auto file = files().front();
    auto whole = read_file(file);
    const auto second = whole.find('\n') + 1;
    whole.replace(whole.find("\"ok\"", second), 4, "\"no\"");
    std::ofstream(file, std::ios::trunc) << whole;
    const auto verdict = verify();
    EXPECT_EQ(verdict.exit_code, 1);
    EXPECT_THAT(verdict.err, HasSubstr(file.string() + ":2: was changed"));
    EXPECT_THAT(verdict.err, Not(HasSubstr(":3:")));
}

TEST_F(AnAudit, OutlivesAKillAndTellsOfACallThatWasInFlight) {
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    Program batch(home.patchbay({"batch"}));
    batch.send(
        "{\"id\":1,\"op\":\"tools/"
        "call\",\"name\":\"mcp__x__sleep\",\"arguments\":{\"ms\":60000}}\n{"
        "\"id\":2,\"op\":\"ping\",\"server\":\"x\"}\n");
    ASSERT_TRUE(batch.wait_for_out("\"id\":2")) << batch.err();
    ASSERT_TRUE(wait_for_file(files().front(), "\"begun\""));
    batch.signal(SIGKILL);
    batch.finish();
    // As it is killed in the middle of a line.
    std::ofstream(files().front(), std::ios::app) << "{\"n\":3,\"at\":\"2026-";
    EXPECT_EQ(verify().exit_code, 0) << verify().err;
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const auto verdict = verify();
    EXPECT_EQ(verdict.exit_code, 0) << verdict.err;
    EXPECT_THAT(verdict.err, HasSubstr("note: "));
    std::vector<std::string> kinds;
    for (const auto& record : show()) kinds.push_back(text(record, "kind"));
    EXPECT_EQ(kinds, (std::vector<std::string>{"call", "begun", "mended", "call"}));
}

TEST_F(AnAudit, RefusesACallThatCannotBeRecordedWhereThatIsRequired) {
    configure("[audit]\nrequired = true\n");
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    EXPECT_THAT(show(), SizeIs(2)) << "before it was sent and after";
    fs::permissions(folder(), fs::perms::all);
    const auto refused = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(refused.exit_code, 5) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("cannot be recorded"), HasSubstr("[audit] required"),
                                   HasSubstr(folder().string())));
    EXPECT_EQ(refused.out, "");
    configure("");
    const auto warned = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(warned.exit_code, 0) << warned.err;
    EXPECT_THAT(warned.err, HasSubstr("the audit cannot be written"));
}

TEST_F(AnAudit, IsExportedAsLinesAndAsATable) {
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const auto lines = home.run({"audit", "export"});
    EXPECT_EQ(lines.out, read_file(files().front()));
    const auto table = home.run({"audit", "export", "--format", "csv"});
    EXPECT_THAT(table.out, StartsWith("n,at,kind,id,caller,"));
    EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 2);
    EXPECT_THAT(table.out, HasSubstr(",mcp__x__echo,"));
    const auto shown = home.run({"audit", "show", "--since", "1h", "--server", "x"});
    EXPECT_THAT(shown.out,
                AllOf(HasSubstr("mcp__x__echo"), HasSubstr("person"), HasSubstr("allow")));
    EXPECT_EQ(home.run({"audit", "show", "--since", "1999"}).exit_code, 3);
    EXPECT_THAT(show({"--server", "y"}), SizeIs(0));
}

TEST_F(AnAudit, HasWhatIsReadToo) {
    const auto listed = home.run({"resources", "read", "example://text"});
    const auto all = show();
    ASSERT_THAT(all, SizeIs(1)) << listed.err;
    EXPECT_EQ(text(all[0], "method"), "resources/read");
    EXPECT_EQ(text(all[0], "about"), "example://text");
    EXPECT_FALSE(all[0].as_object().contains("name"));
    home.run({"prompts", "get", "mcp__x__greet", "who=you"});
    home.run({"resources", "read", "example://none?token=sesame-and-more", "--server", "x"});
    EXPECT_THAT(home.run({"audit", "show"}).out,
                AllOf(HasSubstr("resources/read example://text"), HasSubstr("prompts/get greet"),
                      Not(HasSubstr("sesame"))));
    EXPECT_THAT(home.run({"audit", "show", "--about", "gre"}).out,
                AllOf(HasSubstr("prompts/get greet"), Not(HasSubstr("example://"))));
}

TEST_F(AnAudit, SaysThatAWordMeansNothingInsteadOfThatNothingIsThere) {
    EXPECT_THAT(home.run({"audit", "show"}).err, HasSubstr("nothing is recorded"));
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const auto word = home.run({"audit", "show", "--decision", "denied"});
    EXPECT_EQ(word.exit_code, 3);
    for (const char* each : {"allow", "deny", "asked", "approved", "refused", "nobody_there"})
        EXPECT_THAT(word.err, HasSubstr(each));
    EXPECT_THAT(home.run({"audit", "show", "--help"}).out, HasSubstr("asked"));
    const auto server = home.run({"audit", "show", "--server", "xy"});
    EXPECT_EQ(server.exit_code, 0);
    EXPECT_THAT(server.err, AllOf(HasSubstr("no record fits: 1 record was looked at"),
                                  HasSubstr("none is of server \"xy\"")));
    const auto as_json = home.run({"audit", "show", "--server", "xy", "--json"});
    EXPECT_EQ(as_json.out, "[]\n");
    EXPECT_EQ(as_json.err, server.err);
    const auto exported = home.run({"audit", "export", "--server", "xy"});
    EXPECT_EQ(exported.out, "");
    EXPECT_EQ(exported.err, server.err);
    EXPECT_THAT(home.run({"audit", "show", "--principal", "persn"}).err,
                HasSubstr("none is of principal \"persn\"; did you mean \"person\"?"));
    EXPECT_EQ(home.run({"audit", "show", "--decision", "asked"}).exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
