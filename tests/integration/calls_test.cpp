// `patchbay call` against the example server: both transports, both eras.
#include "integration/home.hpp"
#include "integration/scripted_mcp.hpp"

#include <csignal>
#include <optional>

namespace patchbay::test {
namespace {

using ::testing::EndsWith;
namespace fs = std::filesystem;

struct Way {
    const char* name;
    bool tcp;
    const char* era;
    const char* protocol;  // what `auto` comes to
};

class Calls : public ::testing::TestWithParam<Way> {
protected:
    Calls() {
        const auto& way = GetParam();
        if (way.tcp) {
            server_.emplace(home, Words{"--era", way.era});
            home.add("x", {{"transport", "tcp"}, {"port", server_->port()}});
        } else {
            home.add_example("x", {"--era", way.era});
        }
    }

    Home home;

private:
    std::optional<TcpServer> server_;
};

TEST_P(Calls, TextIsPrintedAsText) {
    const auto done = home.run({"call", "mcp__x__echo", "message=good day"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "good day\n");
    EXPECT_EQ(done.err, "");
}

TEST_P(Calls, TypesOfArgumentsComeFromTheSchema) {
    const auto done = home.run({"call", "mcp__x__add", "a=2", "b=0.5"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "2.5E0\n");
    const auto wrong = home.run({"call", "mcp__x__add", "a=two", "b=3"});
    EXPECT_EQ(wrong.exit_code, 3);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, HasSubstr("mcp__x__add: argument \"a\": \"two\" is not a number"));
}

TEST_P(Calls, ArgumentsMayComeFromStdinAsJson) {
    const auto done =
        home.run({"call", "mcp__x__add", "--args", "-", "--raw"}, "{\"a\":40,\"b\":2}");
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("\"structuredContent\":{\"sum\":42}"));
    const auto wrong = home.run({"call", "mcp__x__add", "--args", "{\"a\":"});
    EXPECT_EQ(wrong.exit_code, 3);
    EXPECT_THAT(wrong.err, HasSubstr("--args is not valid JSON at byte"));
}

TEST_P(Calls, ImagesAreSavedToFiles) {
    const auto done = home.run({"call", "mcp__x__image"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "one picture\n");
    EXPECT_THAT(done.err, HasSubstr("image saved to ./image-1.png (74 bytes)"));
    EXPECT_EQ(read_file(home.work() / "image-1.png").substr(0, 4), "\x89PNG");
}

TEST_P(Calls, AToolErrorIsExitCode2) {
    const auto done = home.run({"call", "mcp__x__fail", "message=not today"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.out, "not today\n");
    EXPECT_THAT(done.err, HasSubstr("the tool answered with an error"));
}

TEST_P(Calls, AnErrorOfTheProtocolIsToldWithItsCode) {
    const auto done =
        home.run({"call", "mcp__x__rpc_error", "message=no such thing", "code=-32050"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, HasSubstr("error: server \"x\" answered -32050: no such thing"));
}

TEST_P(Calls, BigResultsArriveWhole) {
    constexpr int kBytes = 8'000'000;
    const auto done = home.run({"call", "mcp__x__big", "bytes=" + std::to_string(kBytes)});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    ASSERT_GE(done.out.size(), static_cast<std::size_t>(kBytes));
    EXPECT_EQ(done.out.substr(0, 20), "The quick brown fox ");
    EXPECT_EQ(done.out.substr(64 * 100'000, 20), "The quick brown fox ");
}

TEST_P(Calls, ATimeOutIsExitCode8) {
    // It counts the connecting too, and on a loaded machine gets no further.
    const auto own = home.run({"call", "mcp__x__sleep", "ms=3600000", "--timeout", "0.2"});
    EXPECT_EQ(own.exit_code, 8);
    EXPECT_THAT(own.err, AllOf(HasSubstr("server \"x\""), HasSubstr("200 ms")));
    const auto configured = home.run(
        {"call", "mcp__x__sleep", "ms=3600000", "--set", "servers.x.tool_timeout_sec=0.2"});
    EXPECT_EQ(configured.exit_code, 8);
    EXPECT_THAT(configured.err,
                HasSubstr("server \"x\": tools/call was not answered within 200 ms"));
}

TEST_P(Calls, NamesThatAreNotThereAreExitCode6AndGetASuggestion) {
    const auto tool = home.run({"call", "mcp__x__ecko", "message=hi"});
    EXPECT_EQ(tool.exit_code, 6);
    EXPECT_THAT(
        tool.err,
        HasSubstr("server \"x\" has no tool \"mcp__x__ecko\"; did you mean \"mcp__x__echo\""));
    const auto server = home.run({"call", "mcp__y__echo", "message=hi"});
    EXPECT_EQ(server.exit_code, 6);
    EXPECT_THAT(server.err, HasSubstr("no tool \"mcp__y__echo\""));
}

TEST_P(Calls, StatusTellsStateAndProtocol) {
    const auto done = home.run({"mcp", "status", "x"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("ready"));
    EXPECT_THAT(done.out, HasSubstr(GetParam().protocol));
    EXPECT_THAT(done.out, HasSubstr(GetParam().tcp ? "tcp" : "stdio"));
}

TEST_P(Calls, ResourcesAndPromptsAreServedToo) {
    const auto list = home.run({"resources", "list"});
    EXPECT_EQ(list.exit_code, 0) << list.err;
    EXPECT_THAT(list.out, HasSubstr("example://text"));
    const auto read = home.run({"resources", "read", "example://text"});
    EXPECT_EQ(read.exit_code, 0) << read.err;
    EXPECT_EQ(read.out, "The text of a resource.\n");
    const auto prompt = home.run({"prompts", "get", "greet", "who=Ada", "style=formal"});
    EXPECT_EQ(prompt.exit_code, 0) << prompt.err;
    EXPECT_THAT(prompt.out, HasSubstr("Good day, Ada."));
    const auto as_json = home.run({"prompts", "get", "greet", "who:=1"});
    EXPECT_NE(as_json.exit_code, 0);
    EXPECT_THAT(as_json.err, HasSubstr("\"who:=1\": := is for the arguments of tools; these are "
                                       "strings, write 'who=1'\n"));
    const auto templates = home.run({"resources", "templates"});
    EXPECT_THAT(templates.out, HasSubstr("example://item/{n}"));
}

INSTANTIATE_TEST_SUITE_P(, Calls,
                         ::testing::Values(Way{"StdioLegacy", false, "legacy", "2025-11-25"},
                                           Way{"StdioModern", false, "modern", "2026-07-28"},
                                           Way{"TcpLegacy", true, "legacy", "2025-11-25"},
                                           Way{"TcpModern", true, "modern", "2026-07-28"}),
                         [](const auto& way) { return way.param.name; });

// Arguments that a schema says something of that we do not check are sent, but not without a word.
TEST(CallsOfOtherServers, WhatIsNotCheckedOfTheArgumentsIsSaid) {
    const auto tools = boost::json::parse(R"([
        {"name":"odd","inputSchema":{"type":"object","properties":{"a":{"pattern":"(?=x)y"}}}},
        {"name":"plain","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}])");
    const ScriptedHttp server(scripted_mcp(tools.as_array()));
    Home home;
    home.add("s", {{"url", server.url()}});
    const auto said = home.run({"call", "mcp__s__odd", "a=b"});
    EXPECT_EQ(said.exit_code, 0) << said.err;
    EXPECT_EQ(said.out, "done\n");
    EXPECT_THAT(said.err, AllOf(HasSubstr("note: mcp__s__odd: "), HasSubstr("(?=x)y")));
    for (const Words& quiet :
         {Words{"--quiet", "call", "mcp__s__odd", "a=b"}, Words{"call", "mcp__s__odd"},
          Words{"call", "mcp__s__plain", "a=b"}}) {
        const auto done = home.run(quiet);
        EXPECT_EQ(done.out, "done\n");
        EXPECT_EQ(done.err, "") << testing::PrintToString(quiet);
    }
}

TEST(CallsOfModernServers, WhatAServerMayNotAskNamesTheSettingThatLetsIt) {
    Home home;
    home.add_example("x", {"--era", "modern"});
    const auto asked = home.run({"call", "mcp__x__ask"});
    EXPECT_EQ(asked.exit_code, 1);
    EXPECT_THAT(asked.err, EndsWith("the client has no elicitation; to be asked at the terminal, "
                                    "add --set client.elicitation=ask\n"));
    EXPECT_THAT(home.run({"call", "mcp__x__sample"}).err,
                HasSubstr("add --set client.sampling=fixed and --set client.sampling_text=TEXT"));
    EXPECT_EQ(home.run({"call", "mcp__x__sample", "--set", "client.sampling=fixed", "--set",
                        "client.sampling_text=Ada"})
                  .exit_code,
              0);
}

class Interrupted : public ::testing::TestWithParam<const char*> {};

TEST_P(Interrupted, CallEndsWith130AndTheServerIsToldToCancel) {
    Home home;
    const auto input = home.add_recorded("x", {"--era", GetParam()});
    Program call(home.patchbay({"call", "mcp__x__sleep", "ms=3600000"}));
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << call.err();
    call.signal(SIGINT);
    const auto done = call.finish();
    EXPECT_EQ(done.exit_code, 130) << done.err;
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(read_file(input), HasSubstr("\"notifications/cancelled\""));
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(Interrupted, CallThatTimesOutIsCancelledAtTheServer) {
    Home home;
    const auto input = home.add_recorded("x", {"--era", GetParam()});
    const auto done = home.run(
        {"call", "mcp__x__sleep", "ms=3600000", "--set", "servers.x.tool_timeout_sec=0.2"});
    EXPECT_EQ(done.exit_code, 8) << done.err;
    EXPECT_THAT(read_file(input), HasSubstr("\"notifications/cancelled\""));
}

INSTANTIATE_TEST_SUITE_P(, Interrupted, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

TEST(CallOnTheCommandLine, ArgumentsFromAClosedStdinAreAnErrorOfTheirOwn) {
    Home home;
    home.add_example("x");
    auto command = home.patchbay({});
    command.argv = {"/bin/sh", "-c",
                    "exec '" + command.argv[0] + "' call mcp__x__echo --args - <&-"};
    const auto done = run(command);
    EXPECT_NE(done.exit_code, 0);
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(done.err, "error: --args -: stdin cannot be read; is it closed?\n");
}

// A server whose tools keep none of their promises.
constexpr const char* kCareless = R"(while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
  *'"method":"initialize"'*) r='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{}},"serverInfo":{"name":"c","version":"1"}}' ;;
  *'"tools/list"'*) r='"result":{"tools":[{"name":"none","inputSchema":{"type":"object"}},{"name":"text","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}]}' ;;
  *'"name":"none"'*) r='"result":{"content":[]}' ;;
  *'"name":"text"'*) r='"result":"x"' ;;
  *'"prompts/get"'*) r='"result":{"messages":"x"}' ;;
  *'"resources/read"'*) r='"result":{"contents":[5,{"uri":"a:1","text":"kept"}]}' ;;
  *'"completion/complete"'*) r='"result":{"completion":[]}' ;;
  *'"name":"other"'*) r='"result":{"content":[],"structuredContent":{}}' ;;
  *'"id"'*) r='"error":{"code":-32601,"message":"no"}' ;;
  *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$r"
done)";

TEST(CallOnTheCommandLine, AResultThatIsNotWhatItsToolPromisesIsTold) {
    Home home;
    home.add("c", {{"command", "/bin/sh"}, {"args", {"-c", kCareless}}});
    const auto none = home.run({"call", "mcp__c__none"});
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_THAT(none.err, HasSubstr("warning: the result of mcp__c__none: it has no content\n"));
    const auto other = home.run({"call", "mcp__c__other", "--json"});
    EXPECT_EQ(other.exit_code, 0);
    EXPECT_THAT(other.err, HasSubstr("warning: the result of mcp__c__other: its structuredContent "
                                     "breaks the tool's outputSchema: "));
    EXPECT_EQ(home.run({"-q", "call", "mcp__c__none"}).err, "");
}

TEST(CallOnTheCommandLine, AResultThatIsNotOfItsShapeIsAnErrorOfItsServer) {
    Home home;
    home.add("c", {{"command", "/bin/sh"}, {"args", {"-c", kCareless}}});
    const std::pair<Words, const char*> cases[] = {
        {{"call", "mcp__c__text"}, "answered tools/call with a result that is no object: \"x\""},
        {{"prompts", "get", "p", "--server", "c"},
         "answered prompts/get with a result whose \"messages\" is no array"},
        {{"complete", "--prompt", "p", "a=b", "--server", "c"},
         "answered completion/complete with a result whose \"completion.values\" is no array"}};
    for (const auto& [words, why] : cases) {
        SCOPED_TRACE(why);
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 1);
        EXPECT_EQ(done.out, "");
        EXPECT_THAT(done.err, HasSubstr(std::string("error: server \"c\": ") + why));
        auto as_json = words;
        as_json.push_back("--json");
        const auto error = boost::json::parse(home.run(as_json).out).at("error");
        EXPECT_EQ(error.at("kind"), "protocol");
    }
    const auto some = home.run({"resources", "read", "a:1", "--server", "c"});
    EXPECT_EQ(some.exit_code, 0);
    EXPECT_EQ(some.out, "kept\n");
    EXPECT_THAT(some.err,
                HasSubstr("warning: server \"c\": resources/read: left out 1 item that is "
                          "no object\n"));
}

}  // namespace
}  // namespace patchbay::test
