// `patchbay batch` where it answers by itself: lines that make no sense, servers that are not there,
// ids, files of requests.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;

TEST(BatchOnTheCommandLine, SaysWhatIsWrongWithAMember) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"batch"},
                               "{\"id\":1,\"op\":\"ping\",\"server\":\"x\",\"timeout_ms\":\"5\"}\n"
                               "{\"id\":2,\"op\":\"ping\",\"server\":\"x\",\"timeout_ms\":0}\n"
                               "{\"id\":3,\"op\":\"ping\",\"server\":7}\n"
                               "{\"id\":4,\"op\":\"ping\",\"server\":\"x\",\"params\":[]}\n"
                               "{\"id\":5,\"op\":\"ping\",\"server\":\"x\",\"server\":\"y\"}\n"
                               "{\"id\":6,\"op\":\"ping\",\"server\":\"x\"}\n");
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    EXPECT_THAT(lines.message(1), HasSubstr("line 1: \"timeout_ms\" must be a whole number"));
    EXPECT_THAT(lines.message(2), HasSubstr("line 2: \"timeout_ms\" must be a whole number"));
    EXPECT_THAT(lines.message(3), HasSubstr("line 3: \"server\" must be a string"));
    EXPECT_THAT(lines.message(4), HasSubstr("line 4: \"params\" must be an object"));
    EXPECT_THAT(lines.message(nullptr), HasSubstr("line 5 has the key \"server\" twice"));
    EXPECT_EQ(lines.kind(6), "");
}

TEST(BatchOnTheCommandLine, NamesTheLineOfWhateverMakesNoSense) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"batch"},
                               "{bad\n\n[3]\n{\"id\":\"d\"}\n{\"op\":\"nope\"}\n"
                               "{\"op\":\"tools/call\"}\n"
                               "{\"op\":\"tools/call\",\"name\":\"mcp__x__a\",\"arguments\":[]}\n"
                               "{\"op\":\"request\",\"server\":\"x\"}\n"
                               "{\"op\":\"request\",\"method\":\"a\"}\n"
                               "{\"op\":\"ping\"}\n{\"op\":\"cancel\"}\n{\"op\":\"wait\"}\n"
                               "{\"op\":7}\n");
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    ASSERT_EQ(lines.all.size(), 12u) << done.out;
    std::int64_t number = 1;
    for (const auto& line : lines.all) {
        const json::value answer = line;
        EXPECT_EQ(answer.at_pointer("/error/kind"), "invalid") << answer;
        EXPECT_EQ(answer.at_pointer("/error/line"), number) << answer;
        EXPECT_THAT(json::value_to<std::string>(answer.at_pointer("/error/message")),
                    StartsWith("line " + std::to_string(number)));
        number += number == 1 ? 2 : 1;  // an empty line is passed over
    }
}

TEST(BatchOnTheCommandLine, AListOfAllServersNamesTheOnesThatAreMissing) {
    Home home;
    home.add_example("x");
    home.add("gone", {{"command", "/nonexistent/server"}});
    for (const char* op : {"tools/list", "resources/list", "prompts/list"}) {
        const auto done = home.run({"batch"}, "{\"id\":1,\"op\":\"" + std::string(op) + "\"}\n");
        EXPECT_EQ(done.exit_code, 1) << op;
        const json::value answer = Lines(done.out).answer(1);
        const std::string member = std::string(op).substr(0, std::string(op).find('/'));
        EXPECT_GT(answer.at_pointer("/result/" + member).as_array().size(), 1u) << op;
        EXPECT_EQ(answer.at_pointer("/result/errors/0/server"), "gone") << op;
    }
}

TEST(BatchOnTheCommandLine, SaysOfAServerThatIsOutOfOrderWhatCallSays) {
    Home home;
    home.add_example("off", {}, {{"disabled", true}});
    home.add("bad", {{"command", "/bin/true"}, {"args", "no list"}});
    home.add_example("x");
    home.write(".mcp.json", R"({"mcpServers": {"mine": {"command": "/bin/true"}}})");
    const auto error = [](const std::string& out, const std::string& member = "message") {
        return json::value_to<std::string>(json::parse(out).at_pointer("/error/" + member));
    };
    for (const auto& [id, why] :
         {std::pair("off", "set disabled = false"), std::pair("bad", "args"),
          std::pair("mine", "patchbay trust mine"), std::pair("nowhere", "mcp__nowhere__echo"),
          std::pair("x", "server \"x\" has no tool")}) {
        const std::string name = "mcp__" + std::string(id) + "__ecko";
        const auto call = home.run({"call", name, "--json"});
        const auto done =
            home.run({"batch"}, R"({"id":1,"op":"tools/call","name":")" + name + "\"}\n");
        EXPECT_EQ(done.exit_code, 1) << id;
        EXPECT_EQ(Lines(done.out).kind(1), error(call.out, "kind")) << id;
        EXPECT_EQ(Lines(done.out).message(1), error(call.out));
        if (id != std::string("nowhere")) {
            EXPECT_THAT(Lines(done.out).message(1), HasSubstr(why));
        }
    }
    const auto other = home.run({"batch"}, R"({"id":1,"op":"tools/call","name":"x.echo"})");
    EXPECT_THAT(Lines(other.out).message(1), HasSubstr("did you mean \"mcp__x__echo\"?"));
    for (const char* id : {"off", "bad", "mine", "nowhere"}) {
        const auto tools = home.run({"tools", "--server", id, "--json"});
        std::string input;
        const Words ops{"tools/list", "resources/list", "ping", "wait"};
        for (const auto& op : ops)
            input += R"({"id":")" + op + R"(","op":")" + op + R"(","server":")" + id + "\"" +
                     (op == "wait" ? R"(,"method":"notifications/never"})" : "}") + "\n";
        const auto done = home.run({"batch"}, input);
        for (const auto& op : ops) {
            EXPECT_EQ(Lines(done.out).kind(json::value(op)), error(tools.out, "kind"))
                << op << " " << id;
            EXPECT_EQ(Lines(done.out).message(json::value(op)), error(tools.out)) << op;
        }
    }
}

TEST(BatchOnTheCommandLine, ALineWithoutAnIdTakesNoOthers) {
    const auto done = Home().run({"batch"},
                                 "{\"op\":\"wait\",\"method\":\"notifications/never\"}\n"
                                 "{\"id\":1,\"op\":\"status\"}\n"
                                 "{\"id\":4,\"op\":\"status\"}\n"
                                 "{\"op\":\"cancel\",\"target\":\"line 1\"}\n"
                                 "{\"op\":\"barrier\"}\n");
    const Lines lines(done.out);
    EXPECT_THAT(lines.all, SizeIs(5)) << done.out;
    EXPECT_EQ(lines.kind("line 1"), "cancelled");
    for (const json::value& id :
         {json::value(1), json::value(4), json::value("line 4"), json::value("line 5")})
        EXPECT_EQ(lines.kind(id), "") << id;
}

TEST(BatchOnTheCommandLine, AnIdIsTakenUntilItsAnswerIsThere) {
    const auto done = Home().run({"batch"},
                                 R"({"id":{"a":1},"op":"wait","method":"notifications/never"}
{"id":{"a":1},"op":"status"}
{"id":2,"op":"cancel","target":{"a":1}}
{"id":{"a":1},"op":"status"}
{"id":2,"op":"cancel","target":{"a":1}}
)");
    ASSERT_THAT(Lines(done.out).all, SizeIs(5)) << done.out;
    EXPECT_THAT(done.out,
                StartsWith(R"({"id":{"a":1},"ok":false,"error":{"kind":"invalid","line":2,)"
                           R"("message":"line 2: id {\"a\":1} is in flight already"}})"
                           "\n"));
    EXPECT_THAT(done.out, HasSubstr(R"({"id":2,"ok":true,"result":{}})"));
    EXPECT_THAT(done.out, HasSubstr(R"({"id":{"a":1},"ok":false,"error":{"kind":"cancelled",)"
                                    R"("message":"the wait was cancelled"}})"));
    EXPECT_THAT(done.out, HasSubstr(R"({"id":{"a":1},"ok":true,"result":{"servers":[]}})"));
    EXPECT_THAT(done.out,
                EndsWith(R"("message":"no request or wait with the id {\"a\":1} is in flight"}})"
                         "\n"));
}

TEST(BatchOnTheCommandLine, AMisspeltMemberIsNotLost) {
    Home home;
    const auto sent = home.add_recorded("x");
    const Lines lines(home.run({"batch"},
                               R"({"id":1,"op":"tools/call","name":"mcp__x__echo","argument":{}}
{"id":2,"op":"ping","server":"x","timeout":5}
{"id":3,"op":"tools/call","params":{"name":"mcp__x__echo","k":1},"arguments":{"message":"a"}}
{"id":4,"op":"tools/call","params":{"name":"mcp__x__echo"},"uri":"a"}
{"id":5,"op":"status","server":"x"}
)")
                          .out);
    EXPECT_THAT(lines.message(1),
                StartsWith("line 1: tools/call has no member \"argument\"; did you mean "
                           "\"arguments\"? Known: id, op, "));
    EXPECT_THAT(
        lines.message(2),
        HasSubstr("ping has no member \"timeout\"; known: id, op, server, timeout_ms, progress"));
    EXPECT_THAT(lines.message(4), HasSubstr("tools/call has no member \"uri\""));
    EXPECT_THAT(lines.kind(4), "invalid");
    EXPECT_EQ(lines.message(5), "line 5: status has no member \"server\"; known: id, op");
}

TEST(BatchOnTheCommandLine, WhatItPassesOnIsWhatWasWritten) {
    Home home;
    const auto sent = home.add_recorded("x");
    const auto done = home.run(
        {"batch"},
        R"({"id":12345678901234567890123,"op":"tools/call","name":"mcp__x__echo","arguments":{"message":"a","n":18446744073709551616}}
{"id":1.0,"op":"request","server":"x","method":"tools/call","params":{"name":"echo","arguments":{"message":"b","n":0.10},"_meta":{"k":1e2}}}
{"id":2,"op":"resources/read","server":"x","params":{"uri":"a://b","k":99999999999999999999}}
)");
    EXPECT_THAT(done.out, AllOf(HasSubstr(R"({"id":12345678901234567890123,"ok":true)"),
                                HasSubstr(R"({"id":1.0,"ok":true)")));
    EXPECT_THAT(read_file(sent),
                AllOf(HasSubstr(R"("arguments":{"message":"a","n":18446744073709551616})"),
                      HasSubstr(R"("arguments":{"message":"b","n":0.10})"), HasSubstr(R"("k":1e2)"),
                      HasSubstr(R"("k":99999999999999999999)")));
}

// A request in the server's own words is judged by the tool that it names.
TEST(BatchOnTheCommandLine, ARequestReachesNoToolThatIsDenied) {
    const auto request = [](const char* id, const char* tool) {
        return R"({"op":"request","server":"x","method":"tools/call","id":")" + std::string(id) +
               R"(","params":{"name":")" + tool + R"(","arguments":{"message":"for )" + tool +
               "\"}}}\n";
    };
    Home home;
    const auto sent = home.add_recorded("x");
    const auto done = home.run(
        {"--set", "permissions.deny=[\"mcp__x__image\"]", "--set",
         "servers.x.disabled_tools=[\"fail\"]", "--set", "servers.x.tools.add=\"deny\"", "batch"},
        request("denied", "image") + request("disabled", "fail") + request("of its own", "add") +
            request("open", "echo"));
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    for (const char* id : {"denied", "of its own"}) EXPECT_EQ(lines.kind(id), "denied") << done.out;
    EXPECT_NE(lines.kind("disabled"), "") << done.out;
    EXPECT_EQ(lines.text("open"), "for echo") << done.out;
    EXPECT_THAT(read_file(sent), AllOf(HasSubstr("for echo"), Not(HasSubstr("for image")),
                                       Not(HasSubstr("for fail")), Not(HasSubstr("for add"))));
}

// For many a server a carriage return ends a line as well.
TEST(BatchOnTheCommandLine, NothingThatItPassesOnIsALineOfItsOwn) {
    Home home;
    const auto sent = home.add_recorded("x");
    const std::string hidden = "{\"message\":\"m\",\"a\":\r{\"b\":1}\r}";
    home.run({"batch"},
             R"({"id":1,"op":"tools/call","name":"mcp__x__echo","arguments":)" + hidden + "}\n" +
                 R"({"id":2,"op":"request","server":"x","method":"ping","params":)" + hidden +
                 "}\n" +
                 R"({"id":3,"op":"request","server":"x","method":"ping","params":{"_meta":)" +
                 hidden + "}}\n");
    const auto lines = read_file(sent);
    EXPECT_THAT(lines, Not(HasSubstr("\r")));
    EXPECT_THAT(lines, HasSubstr(R"("arguments":{"message":"m","a": {"b":1} })"));
}

TEST(BatchOnTheCommandLine, WhatCannotBeReadIsWrongUsage) {
    const Home home;
    for (const auto& [words, why] :
         {std::pair("batch nofile", "nofile: No such file or directory"),
          std::pair("batch .", ".: Is a directory"),
          std::pair("batch < .", "stdin: Is a directory"),
          std::pair("batch <&-", "stdin: Bad file descriptor"),
          std::pair("batch - <&-", "stdin: Bad file descriptor"),
          std::pair("batch 0< /dev/null nofile --json", "nofile: No such file or directory")}) {
        auto command = home.patchbay({});
        command.argv = {"/bin/sh", "-c", "exec '" + command.argv[0] + "' " + words};
        const auto done = run(command);
        EXPECT_EQ(done.exit_code, 3) << words;
        EXPECT_EQ(done.err, "error: cannot read " + std::string(why) + "\n") << words;
    }
}

TEST(BatchOnTheCommandLine, SendsNothingThatLacksWhatItNeeds) {
    Home home;
    const auto input = home.add_recorded("x");
    const auto done = home.run({"batch"}, R"({"id":1,"op":"resources/read","server":"x"}
{"id":2,"op":"resources/read","server":"x","params":{"uri":7}}
{"id":3,"op":"prompts/get","server":"x","name":"greet","arguments":[]}
{"id":4,"op":"logging/setLevel","server":"x"}
{"id":5,"op":"resources/read","server":"x","params":{"uri":"example://text"}}
)");
    const Lines lines(done.out);
    EXPECT_EQ(lines.message(1), "line 1: resources/read needs a \"uri\"");
    EXPECT_EQ(lines.message(2), "line 2: \"uri\" must be a string");
    EXPECT_EQ(lines.message(3), "line 3: \"arguments\" must be an object");
    EXPECT_EQ(lines.message(4), "line 4: logging/setLevel needs a \"level\"");
    EXPECT_EQ(lines.kind(5), "") << done.out;
    const auto sent = read_file(input);
    const auto first = sent.find("\"resources/read\"");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(sent.find("\"resources/read\"", first + 1), std::string::npos) << sent;
    EXPECT_THAT(sent, Not(HasSubstr("\"prompts/get\"")));
}

TEST(BatchOnTheCommandLine, ParamsOfAToolMayBeAMemberToo) {
    Home home;
    home.add_example("x");
    const auto done =
        home.run({"batch"}, R"({"id":1,"op":"tools/call","params":)"
                            R"({"name":"mcp__x__echo","arguments":{"message":"hi"}}})");
    EXPECT_EQ(done.exit_code, 0) << done.out;
    EXPECT_EQ(Lines(done.out).text(1), "hi");
}

// More than is read at once, and more than may be in flight; the last line lacks its end.
TEST(BatchOnTheCommandLine, AFileOfRequestsIsReadToItsEnd) {
    Home home;
    std::string text;
    for (int i = 0; i < 4000; ++i)
        text += "{\"id\":" + std::to_string(i) + ",\"op\":\"cancel\",\"target\":\"none\"}\r\n";
    const auto done =
        home.run({"batch", home.write("requests", text + R"({"id":"z","op":"status"})")});
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    ASSERT_THAT(lines.all, SizeIs(4001));
    for (int i = 0; i < 4000; ++i) ASSERT_EQ(lines.all[static_cast<std::size_t>(i)].at("id"), i);
    EXPECT_EQ(lines.kind("z"), "");
    EXPECT_EQ(home.run({"batch", home.write("empty", "")}).exit_code, 0);
    EXPECT_EQ(home.run({"batch", home.write("blank", "\n \t\r\n\n")}).out, "");
}

TEST(BatchOnTheCommandLine, ALineMayBe16MiBLong) {
    const std::string begin = R"({"id":1,"op":"status")";
    const auto line = [&](std::size_t length) {
        return begin + std::string(length - begin.size() - 1, ' ') + "}\n";
    };
    constexpr std::size_t kMost = 16u << 20;
    const std::string after = "{\"id\":2,\"op\":\"status\"}\n";
    const auto most = Home().run({"batch"}, line(kMost) + after);
    EXPECT_EQ(most.exit_code, 0) << most.out.substr(0, 500);
    EXPECT_EQ(Lines(most.out).kind(1), "");
    const auto more = Home().run({"batch"}, "\n" + line(kMost + 1) + after);
    EXPECT_EQ(more.exit_code, 1);
    EXPECT_EQ(more.out,
              "{\"id\":null,\"ok\":false,\"error\":{\"kind\":\"limit\",\"line\":2,"
              "\"message\":\"line 2 is over 16 MiB; nothing more is read\"}}\n");
}

TEST(BatchOnTheCommandLine, AListOfOneServerIsItsErrorWhenItCannotBeReached) {
    Home home;
    home.add("gone", {{"command", "/nonexistent/server"}});
    for (const char* op : {"tools/list", "resources/list", "prompts/list"}) {
        const auto done =
            home.run({"batch"}, "{\"id\":1,\"op\":\"" + std::string(op) + R"(","server":"gone"})");
        EXPECT_EQ(done.exit_code, 1) << op;
        EXPECT_EQ(Lines(done.out).kind(1), "unavailable") << done.out;
        EXPECT_THAT(Lines(done.out).message(1), HasSubstr("/nonexistent/server")) << op;
    }
}

}  // namespace
}  // namespace patchbay::test
