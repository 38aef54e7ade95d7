// HTTP servers that answer badly: each call ends once, with a clear error, and nobody else notices.
#include "integration/npm.hpp"

#include <gmock/gmock.h>

namespace patchbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;

class HttpPeers : public NpmTest {
protected:
    // Its port.
    std::string start(const std::string& behaviour, const Words& more = {}) {
        Command command{
            {kNode, fs::path(PATCHBAY_SOURCE_DIR) / "tests/servers/http_peer/peer.mjs", behaviour},
            home.environment,
            home.work(),
            {},
            kDeadline};
        command.argv.insert(command.argv.end(), more.begin(), more.end());
        peer_ = std::make_unique<Program>(command);
        EXPECT_TRUE(peer_->wait_until([&] { return peer_->out().find('\n') != std::string::npos; }))
            << peer_->err();
        return peer_->out().substr(0, peer_->out().find('\n'));
    }
    void add_peer(const std::string& behaviour, json::object more = {}) {
        more["url"] = "http://127.0.0.1:" + start(behaviour) + "/mcp";
        more["restart"] = false;
        home.add("bad", more);
    }
    Outcome call(Words options = {}) {
        Words words = std::move(options);
        words.insert(words.end(), {"call", "mcp__bad__say"});
        return home.run(words);
    }

    std::unique_ptr<Program> peer_;
};

struct Bad {
    const char* behaviour;
    int exit_code;
    Words says;
};

class BadHttp : public HttpPeers, public ::testing::WithParamInterface<Bad> {};

TEST_P(BadHttp, EndsTheCallWithAClearError) {
    const auto& bad = GetParam();
    add_peer(bad.behaviour);
    const auto done = call({"--set", "limits.message_bytes=100000"});
    EXPECT_EQ(done.exit_code, bad.exit_code) << done.out << done.err;
    for (const auto& part : bad.says) EXPECT_THAT(done.err, HasSubstr(part));
    EXPECT_EQ(done.err.find("server \"bad\"") == std::string::npos, bad.exit_code == 0);
    EXPECT_LT(done.took, 10s);
}

TEST_P(BadHttp, LeavesAGoodServerBesideItAlone) {
    const auto& bad = GetParam();
    add_peer(bad.behaviour);
    home.add_example("good");
    const auto batch = home.run(
        {"--set", "limits.message_bytes=100000", "batch"},
        R"({"id":"a","op":"tools/call","name":"mcp__bad__say","timeout_ms":8000})"
        "\n"
        R"({"id":"b","op":"tools/call","name":"mcp__good__echo","arguments":{"message":"hi"}})"
        "\n"
        R"({"op":"barrier","id":"-"})"
        "\n"
        R"({"id":"c","op":"tools/call","name":"mcp__good__echo","arguments":{"message":"ho"}})"
        "\n");
    const Lines lines(batch.out);
    EXPECT_EQ(lines.text("b"), "hi");
    EXPECT_EQ(lines.text("c"), "ho");
    EXPECT_EQ(lines.kind("a").empty(), bad.exit_code == 0) << batch.out;
}

INSTANTIATE_TEST_SUITE_P(
    , BadHttp,
    ::testing::Values(
        Bad{"fine", 0, {}}, Bad{"answers-twice", 0, {}},
        Bad{"html", 1, {"text/html", "is this the URL of an MCP server?"}},
        Bad{"html-error", 1, {"HTTP 404 Not Found", "an HTML page"}},
        Bad{"no-type", 1, {"no Content-Type"}}, Bad{"status-500", 1, {"HTTP 500 Oops", "boom"}},
        Bad{"endless-headers", 5, {"not HTTP"}}, Bad{"long-header", 5, {"not HTTP"}},
        Bad{"no-http", 5, {"not HTTP"}}, Bad{"chunk-nonsense", 1, {"a chunk without a size"}},
        Bad{"chunk-cut-off", 5, {"cut off before its last chunk"}},
        Bad{"negative-length", 1, {"Content-Length is not a number"}},
        Bad{"cut-off", 5, {"bytes of its Content-Length are missing"}},
        Bad{"closes-at-once", 5, {"without an answer"}}, Bad{"not-json", 1, {"malformed"}},
        Bad{"too-much-json", 1, {"more than 100000 bytes (limit message_bytes)"}},
        Bad{"stream-cut-off", 5, {"cut off"}}, Bad{"stream-without-answer", 1, {}},
        Bad{"event-too-large", 1, {"more than 100000 bytes (limit message_bytes)"}},
        Bad{"answer-for-nobody", 1, {}}, Bad{"redirect-loop", 1, {"more than 3 redirects"}},
        Bad{"redirect-to-get", 1, {"302", "set the url to http://127.0.0.1"}},
        Bad{"redirect-elsewhere", 1, {"must begin with http"}},
        Bad{"gzip-bomb", 1, {"more than 100000 bytes (limit message_bytes)"}},
        Bad{"other-encoding", 1, {"Content-Encoding that was not asked for"}}),
    [](const auto& bad) {
        std::string name = bad.param.behaviour;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

TEST_F(HttpPeers, AServerThatNeverAnswersOrDripsIsLeftWhenTheCallsTimeIsOver) {
    for (const char* behaviour : {"never", "drips"}) {
        add_peer(behaviour);
        const auto done = home.run({"call", "mcp__bad__say", "--timeout", "1"});
        EXPECT_EQ(done.exit_code, 8) << done.err;
        EXPECT_THAT(done.err, HasSubstr("was not answered within 1 s"));
        EXPECT_LT(done.took, 5s);
    }
}

TEST_F(HttpPeers, ASessionIdOfOddBytesIsRefused) {
    add_peer("odd-session");
    const auto done = call();
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err, HasSubstr("MCP-Session-Id holds more than visible ASCII"));
}

TEST_F(HttpPeers, AChallengeIsShownWithTheNextStep) {
    add_peer("status-401");
    const auto done = call();
    EXPECT_NE(done.exit_code, 0);
    EXPECT_THAT(done.err, AllOf(HasSubstr("401"), HasSubstr("http://127.0.0.1")));
}

TEST_F(HttpPeers, NobodyIsSentToASignInThatThereIsNot) {
    add_peer("status-403");
    const auto done = call();
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, AllOf(HasSubstr("offers no sign-in"), HasSubstr("bearer_token_env_var"),
                                Not(HasSubstr("mcp login"))));
}

TEST_F(HttpPeers, AnAuthorizationOfTheConfigurationThatIsRefusedIsNamedWithItsPlace) {
    add_peer("status-401", {{"headers", {{"Authorization", "Bearer s3cr3t"}}}});
    const auto done = call();
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err,
                AllOf(HasSubstr("the Authorization in its headers ("), HasSubstr("mcp.json:"),
                      Not(HasSubstr("s3cr3t")), Not(HasSubstr("set auth or"))));
}

TEST_F(HttpPeers, AProgramThatBringsNoTokenIsOneOfItsAuthTable) {
    home.write(home.user_config() / "config.toml",
               "[auth.corp]\nkind = \"bearer\"\ncommand = [\"/bin/false\"]\n"
               "[auth.gone]\nkind = \"bearer\"\ncommand = [\"/bin/not-there\"]\n");
    add_peer("fine", {{"auth", "corp"}});
    EXPECT_THAT(call().err,
                HasSubstr("auth \"corp\": command \"/bin/false\" ended with exit code 1"));
    add_peer("fine", {{"auth", "gone"}});
    const auto gone = call().err;
    EXPECT_THAT(gone, HasSubstr("auth \"gone\": command \"/bin/not-there\""));
    EXPECT_EQ(gone.find("command \"/bin/not-there\""), gone.rfind("command \"/bin/not-there\""))
        << gone;
}

TEST_F(HttpPeers, ALineBreakOrAReservedNameInAConfiguredHeaderStopsNothingElse) {
    home.add_example("good");
    for (const auto& [headers, told] :
         {std::pair<json::object, const char*>{{{"X-A", "b\r\nEvil: yes"}}, "\"X-A\": its value"},
          {{{"Host", "evil"}}, "\"Host\" is set by Patchbay itself"}}) {
        add_peer("fine", {{"headers", headers}});
        const auto done = call();
        EXPECT_THAT(done.exit_code, testing::AnyOf(4, 5)) << done.err;
        EXPECT_THAT(done.err, AllOf(HasSubstr(told), Not(HasSubstr("Evil"))));
        EXPECT_EQ(home.run({"call", "mcp__good__echo", "message=hi"}).out, "hi\n");
    }
}

TEST_F(HttpPeers, ABearerTokenOfTheEnvironmentIsSentAndNeverShown) {
    add_peer("fine", {{"bearer_token_env_var", "TOKEN_OF_MINE"}});
    const auto missing = call();
    EXPECT_EQ(missing.exit_code, 5);
    EXPECT_THAT(missing.err, HasSubstr("TOKEN_OF_MINE"));
    home.environment["TOKEN_OF_MINE"] = "s3cr3t-t0ken";
    const auto done = call({"--log-level", "trace"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, Not(HasSubstr("s3cr3t-t0ken")));
}

TEST_F(HttpPeers, ARedirectToAnotherOriginIsToldAndNotFollowedAndOneWithinItIs) {
    home.environment["TOKEN_OF_MINE"] = "s3cr3t";
    const json::object secrets{{"bearer_token_env_var", "TOKEN_OF_MINE"},
                               {"headers", {{"X-Key", "k"}}}};
    add_peer("redirect-across", secrets);
    const auto across = call();
    EXPECT_NE(across.exit_code, 0);
    EXPECT_EQ(across.out, "");
    EXPECT_THAT(across.err, HasSubstr("a redirect to another origin, http://localhost:"));
    add_peer("redirect-within", secrets);
    EXPECT_EQ(call().out, "with a secret\n");
}

// ---- TLS

class Tls : public HttpPeers {
protected:
    void SetUp() override {
        HttpPeers::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-days", "2", "-subj", "/CN=test authority", "-keyout", file("ca.key"), "-out",
                 file("ca.pem")});
    }
    std::string file(const std::string& name) const { return home.root() / name; }
    void openssl(Words words) {
        words.insert(words.begin(), "/usr/bin/openssl");
        const auto done = test::run({words, home.environment, home.root(), {}, kDeadline});
        ASSERT_EQ(done.exit_code, 0) << done.err;
    }
    // A certificate of the test authority for `name`.
    void certify(const std::string& name, const std::string& days,
                 const std::string& subject = "/CN=peer") {
        openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                 subject, "-keyout", file("peer.key"), "-out", file("peer.csr")});
        home.write("../san.cnf", name.empty() ? "" : "subjectAltName=" + name + "\n");
        openssl({"x509", "-req", "-in", file("peer.csr"), "-CA", file("ca.pem"), "-CAkey",
                 file("ca.key"), "-CAcreateserial", "-days", days, "-extfile", file("san.cnf"),
                 "-out", file("peer.pem")});
    }
    void add_tls_peer(const std::string& behaviour, json::object more = {}) {
        more["url"] =
            "https://localhost:" + start(behaviour, {"--tls", file("peer.pem"), file("peer.key")}) +
            "/mcp";
        more["restart"] = false;
        home.add("bad", more);
    }
    Outcome call_over_tls(json::object more = {}) {
        add_tls_peer("fine", std::move(more));
        return call();
    }
};

TEST_F(Tls, ACertificateOfAKnownAuthorityForTheHostIsTrusted) {
    certify("DNS:localhost", "2");
    const auto done = call_over_tls({{"ca_file", file("ca.pem")}});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "hi\n");
}

TEST_F(Tls, MoreThanASocketTakesGoesBothWays) {
    certify("DNS:localhost", "2");
    add_tls_peer("echoes", {{"ca_file", file("ca.pem")}});
    std::string requests;
    const auto text = [](int id) { return std::string(3u << 20, static_cast<char>('a' + id)); };
    for (int id = 0; id < 6; ++id)
        requests += json::serialize(json::object{
                        {"id", id},
                        {"op", "tools/call"},
                        {"name", "mcp__bad__say"},
                        {"arguments", {{"text", text(id)}, {"stream", id % 2 == 1}}}}) +
                    "\n";
    const auto batch = home.run({"batch"}, requests);
    EXPECT_EQ(batch.exit_code, 0) << batch.err;
    const Lines lines(batch.out);
    for (int id = 0; id < 6; ++id) EXPECT_TRUE(lines.text(id) == text(id)) << id;
}

TEST_F(Tls, ACertificateOfAnUnknownAuthorityIsRefused) {
    certify("DNS:localhost", "2");
    const auto done = call_over_tls();
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err, AllOf(HasSubstr("TLS with localhost"),
                                HasSubstr("unable to get local issuer certificate")));
}

TEST_F(Tls, ACertificateForAnotherHostIsRefused) {
    certify("DNS:elsewhere.example", "2");
    const auto done = call_over_tls({{"ca_file", file("ca.pem")}});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err, HasSubstr("the certificate is not for this host"));
}

TEST_F(Tls, ACertificateThatNamesTheHostOnlyAsItsSubjectIsRefused) {
    for (const char* names : {"", "email:someone@example.com"}) {
        certify(names, "2", "/CN=localhost");
        const auto done = call_over_tls({{"ca_file", file("ca.pem")}});
        EXPECT_EQ(done.exit_code, 5) << done.err;
        EXPECT_THAT(done.err, HasSubstr("its subjectAltName does not name it"));
    }
}

TEST_F(Tls, AFileOfAuthoritiesThatHoldsNoneIsNamed) {
    certify("DNS:localhost", "2");
    const auto done = call_over_tls({{"ca_file", file("ca.key")}});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err,
                HasSubstr("ca_file \"" + file("ca.key") + "\" holds no certificate in PEM"));
}

TEST_F(Tls, AnExpiredCertificateIsRefused) {
    certify("DNS:localhost", "-1");
    const auto done = call_over_tls({{"ca_file", file("ca.pem")}});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err, HasSubstr("certificate has expired"));
}

}  // namespace
}  // namespace patchbay::test
