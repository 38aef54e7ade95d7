// Secrets of every kind, planted where files may have them: whatever the host is asked and whatever it writes, none of
// them comes out but where it belongs.
#include "integration/home.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

struct Canaries : testing::Test {
    // All begin alike, so that half of one is found too.
    static constexpr std::string_view kMark = "cAnArY", kEnd = "7f3Kq9Zt";
    std::string canary(const std::string& kind) const {
        return std::string(kMark) + "-" + kind + "-7f3Kq9Zt";
    }

    Home home;
    std::string said;  // by all that was run
    fs::path config_file;

    Canaries() {
        home.environment["BEARER_VARIABLE"] = canary("bearer-variable");
        home.environment["HEADER_VARIABLE"] = canary("header-variable");
        EXPECT_EQ(home.run({"secret", "set", "kept"}, canary("secret") + "\n").exit_code, 0);
        const auto file = home.write(home.root() / "token", canary("file") + "\n");
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
        const auto program =
            home.write(home.root() / "prints", "#!/bin/sh\necho " + canary("command") + "\n");
        fs::permissions(program, fs::perms::owner_all);
        // One that says on stderr all that it was given.
        const std::string line =
            "env | grep -a " + std::string(kEnd) + " >&2; exec '" + example_server() + "'";
        home.add("talks", {{"command", "/bin/sh"},
                           {"args", json::array{"-c", line}},
                           {"env",
                            {{"API_TOKEN", canary("env")},
                             {"BY_NAME", "${secret:kept}"},
                             {"BY_FILE", "${file:" + file + "}"},
                             {"BY_COMMAND", "${command:" + program + "}"}}}});
        // Nobody is there: what was to be sent is told in the error, or not.
        home.add("web", {{"url", "http://127.0.0.1:9/mcp?key=" + canary("query")},
                         {"headers",
                          {{"Authorization", "Bearer " + canary("header")},
                           {"X-Api-Key", canary("api-key")},
                           {"X-From", "${HEADER_VARIABLE}"}}},
                         {"startup_timeout_sec", 2}});
        home.add("bearer", {{"url", "http://127.0.0.1:9/mcp"},
                            {"bearer_token_env_var", "BEARER_VARIABLE"},
                            {"startup_timeout_sec", 2}});
        home.add("signs",
                 {{"url", "http://127.0.0.1:9/mcp"},
                  {"oauth", {{"client_id", "me"}, {"client_secret", canary("client-secret")}}},
                  {"startup_timeout_sec", 2}});
        home.add("userinfo", {{"url", "http://me:" + canary("password") + "@127.0.0.1:9/mcp"}});
        config_file = home.write(home.user_config() / "config.toml",
                                 "[audit]\narguments = true\n[log]\nlevel = \"trace\"\n");
    }

    void heard(const Words& words, const std::string& text) {
        const auto at = text.find(kMark);
        if (at == std::string::npos) return;
        std::string what;
        for (const auto& word : words) what += word + " ";
        ADD_FAILURE() << "`patchbay " << what << "` says ..."
                      << text.substr(at > 200 ? at - 200 : 0, 400) << "...";
    }
    Outcome run(const Words& words, const std::string& input = {}) {
        auto done = home.run(words, input);
        EXPECT_FALSE(done.timed_out);
        heard(words, done.out);
        heard(words, done.err);
        return done;
    }
    // Where a secret belongs: what the person wrote, and the store that was asked to keep one.
    bool belongs(const fs::path& file) const {
        return file.parent_path() == home.user_config() || file == home.root() / "token" ||
               file == home.root() / "prints" || file.filename() == "mcp-secrets.json";
    }
    void sweep(const std::string& when) {
        std::error_code gone;
        for (const auto& each : fs::recursive_directory_iterator(home.root(), gone)) {
            if (!each.is_regular_file(gone) || belongs(each.path())) continue;
            const auto text = read_file(each.path());
            const auto at = text.find(kMark);
            EXPECT_EQ(at, std::string::npos) << when << ": " << each.path() << " holds ..."
                                             << text.substr(at > 100 ? at - 100 : 0, 300);
        }
    }
};

TEST_F(Canaries, StayWhereTheyWereWritten) {
    EXPECT_EQ(run({"call", "mcp__talks__echo", "message=hello"}).exit_code, 0);
    // What a tool answers is its server's word, and goes where it was asked for.
    home.run({"call", "mcp__talks__echo", "message=" + canary("env")});
    home.run({"call", "mcp__talks__echo", "--args", "{\"message\":\"" + canary("secret") + "\"}"});
    run({"call", "mcp__talks__nope"});
    run({"call", "mcp__talks__add", "a=x"});
    for (const char* server : {"web", "bearer", "signs", "userinfo"}) {
        run({"call", "mcp__" + std::string(server) + "__echo", "message=x", "--timeout", "5"});
        run({"tools", "--server", server, "--refresh"});
        run({"mcp", "test", server});
        run({"mcp", "get", server});
        run({"--json", "mcp", "get", server});
        run({"why", server});
    }
    for (const Words& words : {Words{"tools"},
                               Words{"--json", "tools"},
                               Words{"mcp", "status"},
                               Words{"--json", "mcp", "status"},
                               Words{"mcp", "list"},
                               Words{"--json", "mcp", "list"},
                               Words{"mcp", "logs", "talks"},
                               Words{"--json", "mcp", "logs", "talks"},
                               Words{"config", "show"},
                               Words{"config", "show", "--origin"},
                               Words{"--json", "config", "show"},
                               Words{"config", "check"},
                               Words{"--json", "config", "check"},
                               Words{"config", "paths"},
                               Words{"config", "plan"},
                               Words{"why", "mcp__talks__echo"},
                               Words{"--json", "why", "mcp__talks__echo"},
                               Words{"export", "claude", "--dry-run"},
                               Words{"export", "codex", "--dry-run"},
                               Words{"secret", "list"},
                               Words{"trust"},
                               Words{"audit", "show"},
                               Words{"--json", "audit", "show", "-n", "0"},
                               Words{"audit", "export", "--format", "csv"},
                               Words{"audit", "verify"},
                               Words{"resources", "list"},
                               Words{"prompts", "list"}})
        run(words);
    sweep("after the verbs");
}

TEST_F(Canaries, AreNotInWhatAHostThatStaysTells) {
    home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000";
    Program host(home.patchbay({"run", "--log-level", "trace"}));
    ASSERT_TRUE(host.wait_until([&] { return host.err().find("ready") != std::string::npos; }))
        << host.err();
    EXPECT_EQ(home.run({"call", "mcp__talks__echo", "message=" + canary("env")}).exit_code, 0);
    run({"call", "mcp__web__echo", "message=x", "--timeout", "5"});
    for (const Words& words :
         {Words{"events"}, Words{"mcp", "status"}, Words{"--json", "mcp", "status"},
          Words{"mcp", "list"}, Words{"config", "plan"}, Words{"mcp", "logs", "talks"},
          Words{"mcp", "restart", "talks"}, Words{"audit", "show"}})
        run(words);
    host.signal(SIGTERM);
    const auto done = host.finish();
    heard({"run"}, done.out);
    heard({"run"}, done.err);
    sweep("after a host that stayed");
}

TEST_F(Canaries, AreNotInWhatAGatewayLogs) {
    Program serve(home.patchbay({"serve", "--stdio", "--log-level", "trace"}));
    serve.send(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\","
        "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"mcp__web__echo\","
        "\"arguments\":{\"message\":\"x\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"mcp__talks__nope\"}}\n");
    EXPECT_TRUE(serve.wait_for_out("\"id\":4")) << serve.err();
    EXPECT_TRUE(serve.wait_for_out("\"id\":3")) << serve.err();
    serve.close_input();
    const auto done = serve.finish();
    heard({"serve"}, done.out);
    heard({"serve"}, done.err);
    sweep("after a gateway");
}

TEST_F(Canaries, AreInWhatAnUndoKeepsOnlyAsFarAsTheFileHadThem) {
    EXPECT_EQ(run({"mcp", "add", "more", "--scope", "user", "--env", "API_KEY=" + canary("added"),
                   "--", "cat"})
                  .exit_code,
              0);
    run({"mcp", "disable", "talks", "--scope", "user"});
    run({"config", "undo", "--dry-run"});
    run({"mcp", "remove", "more", "--scope", "user"});
    run({"config", "undo"});
    // What takes a change back has to hold what it takes back, for this user alone.
    std::error_code gone;
    for (const auto& each : fs::recursive_directory_iterator(home.root() / "state", gone)) {
        if (!each.is_regular_file(gone) || belongs(each.path())) continue;
        if (read_file(each.path()).find(kMark) == std::string::npos) continue;
        EXPECT_EQ(each.status().permissions() & fs::perms::mask,
                  fs::perms::owner_read | fs::perms::owner_write)
            << each.path();
        EXPECT_THAT(each.path().string(), HasSubstr("/backups/")) << each.path();
    }
}

}  // namespace
}  // namespace patchbay::test
