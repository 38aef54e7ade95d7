// Programs that people try a server with, before `patchbay serve`: the Inspector's CLI and mcporter. Each
// lists once, or calls once, and ends.
#include "integration/npm_clients.hpp"

namespace patchbay::test {
namespace {

struct OneShot {
    const char *client, *way;
};
void PrintTo(const OneShot& shot, std::ostream* out) {
    *out << shot.client << " over " << shot.way;
}

class OneShotClients : public Clients, public ::testing::WithParamInterface<OneShot> {
protected:
    void SetUp() override {
        Clients::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        add("every");
        // Who lists once hears of no server that is later than the list.
        home.write(home.user_config() / "config.toml", "[gateway]\nfirst_list_ms = 60000\n");
    }
    // Where the server is: a URL or the words of a command.
    Words server() {
        const std::string way = GetParam().way;
        if (way == "stdio") return serve();
        const auto urls = serve_http();
        if (way == "mcp_remote") return mcp_remote(urls.http, "auto");
        return {way == "sse" ? urls.sse : urls.http};
    }
    static bool is_inspector() { return GetParam().client != std::string("mcporter"); }
    Words list(const Words& server) const {
        return is_inspector() ? inspector(server, {"--method", "tools/list"})
                              : mcporter({"list", "--json"}, server, {});
    }
    Words call(const Words& server) const {
        const std::string tool = "mcp__every__echo";
        if (!is_inspector())
            return mcporter({"call", "--output", "json"}, server, {tool, "message=hi"});
        return inspector(server, {"--method", "tools/call", "--tool-name", tool, "--tool-args-json",
                                  R"({"message":"hi"})"});
    }
    // It hands its environment on only as far as it is told to.
    Words inspector(const Words& server, const Words& what) const {
        const bool modern = GetParam().client == std::string("inspector_modern");
        const auto script = kServers / "inspector/clients/launcher/build/index.js";
        Words all{kNode.string(), needs(script),    "--cli",
                  "--format",     "json",           "--connect-timeout",
                  "60000",        "--protocol-era", modern ? "modern" : "legacy"};
        for (const auto& [name, value] : home.environment)
            all.insert(all.end(), {"-e", name + "=" + value});
        all.insert(all.end(), what.begin(), what.end());
        all.push_back("--");
        all.insert(all.end(), server.begin(), server.end());
        return all;
    }
    Words mcporter(const Words& verb, const Words& server, const Words& what) const {
        Words all{kNode.string(), needs(kModules / "mcporter/dist/cli.js")};
        all.insert(all.end(), verb.begin(), verb.end());
        all.insert(all.end(), {"--no-oauth", "--timeout", "60000", "--name", "gateway"});
        const bool http = server.size() == 1;
        all.insert(all.end(), {http ? "--http-url" : "--stdio", server.front()});
        if (http) all.push_back("--allow-http");
        for (std::size_t i = 1; i < server.size(); ++i)
            all.insert(all.end(), {"--stdio-arg", server[i]});
        all.insert(all.end(), what.begin(), what.end());
        return all;
    }
    // What it printed; the Inspector puts it into an envelope.
    static json::value printed(const Outcome& done) {
        EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
        json::error_code failed;
        const auto all = json::parse(done.out, failed);
        EXPECT_TRUE(!failed && all.is_object()) << done.out << done.err;
        if (failed || !all.is_object()) return json::object{};
        const auto* envelope = all.get_object().if_contains("result");
        return envelope ? *envelope : all;
    }
};

INSTANTIATE_TEST_SUITE_P(
    , OneShotClients,
    ::testing::Values(OneShot{"inspector", "stdio"}, OneShot{"inspector", "http"},
                      OneShot{"inspector", "sse"}, OneShot{"inspector", "mcp_remote"},
                      OneShot{"inspector_modern", "stdio"}, OneShot{"inspector_modern", "http"},
                      OneShot{"mcporter", "stdio"}, OneShot{"mcporter", "http"},
                      OneShot{"mcporter", "sse"}, OneShot{"mcporter", "mcp_remote"}),
    [](const auto& shot) { return std::string(shot.param.client) + "_over_" + shot.param.way; });

TEST_P(OneShotClients, ListToolsAndCallOne) {
    const auto where = server();
    const auto listed = printed(run_client(list(where)));
    ASSERT_TRUE(listed.as_object().contains("tools")) << listed;
    EXPECT_THAT(json::serialize(listed.at("tools")),
                AllOf(HasSubstr(R"("name":"mcp__every__echo")"),
                      HasSubstr(R"("name":"mcp__every__get-structured-content")")));
    const auto called = printed(run_client(call(where)));
    ASSERT_TRUE(called.as_object().contains("content")) << called;
    EXPECT_EQ(called.at("content").at(0).at("text"), "Echo: hi");
    EXPECT_EQ(what_is_left_at_the_end(), "");
}

}  // namespace
}  // namespace patchbay::test
