// Servers that never answer: who waits for them is told so, and whose answers they hold back.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

TEST(OneSilentServer, IsSaidToBeWaitedFor) {
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 60}});
    for (const Words& words : {Words{"call", "mcp__silent__x"}, Words{"resources", "list"},
                               Words{"tools", "--server", "silent"}}) {
        Program program(home.patchbay(words));
        EXPECT_TRUE(program.wait_until([&] {
            return program.err().find(" of 60 s) ...\n") != std::string::npos;
        })) << words[0];
        program.signal(SIGINT);
        EXPECT_EQ(program.finish().exit_code, 130);
    }
}

TEST(ManySilentServers, AreNamedUpToTenOfThem) {
    Home home;
    home.add_example("a");  // only so many start at once, this one among the first
    for (const char* id : {"b", "c", "d", "e", "f", "g", "h", "i", "j", "k"})
        home.add_example(id, {"--never-answer"}, {{"startup_timeout_sec", 60}});
    for (const char* last :
         {R"(, j[^,]*, k[^,]* \.\.\.)", R"(, j[^,]*, k[^,]* and 1 more \.\.\.)"}) {
        Program program(home.patchbay({"tools"}));
        EXPECT_TRUE(program.wait_until(
            [&] { return program.err().find("waiting for ") != std::string::npos; }));
        program.signal(SIGINT);
        EXPECT_THAT(
            program.finish().err,
            ::testing::ContainsRegex("waiting for b[^,]*, c[^,]*, d[^,]*, e[^,]*, f[^,]*, g[^,]*, "
                                     "h[^,]*, i[^,]*" +
                                     std::string(last) + "\n"));
        home.add_example("l", {"--never-answer"}, {{"startup_timeout_sec", 60}});
    }
}

// Each list, and something of a server that answers.
class SilentServer : public testing::TestWithParam<std::pair<Words, const char*>> {};

TEST_P(SilentServer, HoldsNothingBackOfTheOthers) {
    const auto& [words, expected] = GetParam();
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 30}});
    home.add_example("good");
    Program program(home.patchbay(words));
    // Long before the silent one is given up.
    ASSERT_TRUE(program.wait_for_out(expected)) << program.err();
    ASSERT_TRUE(program.wait_until(
        [&] { return program.err().find("waiting for silent (") != std::string::npos; }));
    EXPECT_THAT(program.err(), Not(HasSubstr("startup_timeout_sec")));
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_EQ(done.out.find(expected, done.out.find(expected) + 1), std::string::npos)
        << "printed once: " << done.out;
    EXPECT_THAT(done.err, Not(HasSubstr("\"good\": interrupted"))) << "it had answered";
}
INSTANTIATE_TEST_SUITE_P(Lists, SilentServer,
                         testing::Values(std::pair(Words{"tools"}, "mcp__good__echo "),
                                         std::pair(Words{"resources", "list"}, "example://text "),
                                         std::pair(Words{"prompts", "list"}, "greet ")));

// What is named without its server may be the silent one's, and is not for whoever else lists it.
class SilentServerBesideAThing : public testing::TestWithParam<std::pair<Words, const char*>> {};

TEST_P(SilentServerBesideAThing, IsWaitedForAndWhoCannotWaitIsToldHow) {
    const auto& [words, expected] = GetParam();
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 60}});
    home.add_example("good");
    Program program(home.patchbay(words));
    ASSERT_TRUE(program.wait_until(
        [&] { return program.err().find("waiting for silent (") != std::string::npos; }));
    EXPECT_THAT(program.err(), HasSubstr("note: server \"good\" lists it, and others may; "
                                         "--server good does not wait for them\n"));
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_EQ(done.out, "") << "nobody was asked for it";
    auto named = words;
    named.insert(named.end(), {"--server", "good"});
    const auto one = home.run(named);
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr(expected));
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(SilentServerBesideAThing, IsGivenUpInTimeAndNobodyElseIsTakenForIt) {
    const auto& words = GetParam().first;
    const std::pair<Words, const char*> cases[] = {
        {{"--never-answer"}, "within 3"}, {{"--exit-at-start", "3"}, "exited with code 3"}};
    for (const auto& [flags, why] : cases) {
        Home home;
        home.add_example("first", flags, {{"startup_timeout_sec", 3}});
        const auto sent = home.add_recorded("good");
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 5) << done.err;
        EXPECT_EQ(done.out, "");
        for (const char* asked : {"resources/read", "prompts/get", "completion/complete", "Ada"})
            EXPECT_THAT(read_file(sent), Not(HasSubstr(asked)));
        EXPECT_THAT(done.err, HasSubstr(why));
        EXPECT_THAT(done.err,
                    HasSubstr("is offered by \"good\", and \"first\" could not be asked for it; "
                              "if that one is meant, add --server good\n"));
    }
}
INSTANTIATE_TEST_SUITE_P(
    Things, SilentServerBesideAThing,
    testing::Values(std::pair(Words{"resources", "read", "example://text"}, "text"),
                    std::pair(Words{"prompts", "get", "greet", "who=Ada"}, "Ada"),
                    std::pair(Words{"complete", "--prompt", "greet", "style=f"}, "formal")));

// Of a client's window nobody reads the statuses of servers: what stands in the log is all that there is.
TEST(ADownServer, IsToldOfByWhateverStays) {
    Home home;
    home.add("gone", {{"command", "/nonexistent/server"}});
    for (const char* verb : {"serve", "run"}) {
        Program host(home.patchbay({verb}));
        if (verb == std::string("serve"))
            host.send(
                R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                R"("capabilities":{},"clientInfo":{"name":"c","version":"1"}}})"
                "\n");
        EXPECT_TRUE(host.wait_until([&] {
            return host.err().find("server \"gone\"") != std::string::npos &&
                   host.err().find("patchbay mcp status gone") != std::string::npos;
        })) << verb
            << ": " << host.err();
        host.signal(SIGTERM);
        host.finish();
    }
}

}  // namespace
}  // namespace patchbay::test
