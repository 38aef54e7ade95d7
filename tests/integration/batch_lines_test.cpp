// `patchbay batch` where it answers by itself: lines that make no sense, servers that are not there,
// ids, waits, files of requests.
#include "integration/home.hpp"
#include "integration/scripted_mcp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

namespace patchbay::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
namespace json = boost::json;

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

TEST(BatchOnTheCommandLine, AnswersEveryRequestThatAnInterruptEnds) {
    Home home;
    const auto input = home.add_recorded("x");
    Program batch(home.patchbay({"batch"}));
    batch.send(
        "{\"id\":1,\"op\":\"wait\",\"method\":\"notifications/never\"}\n"
        "{\"id\":2,\"op\":\"tools/"
        "call\",\"name\":\"mcp__x__sleep\",\"arguments\":{\"ms\":3600000}}\n");
    ASSERT_TRUE(wait_for_file(input, "\"tools/call\"")) << batch.err();
    batch.signal(SIGINT);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    const Lines lines(done.out);
    EXPECT_EQ(lines.kind(1), "cancelled");
    EXPECT_EQ(lines.kind(2), "cancelled");
    EXPECT_THAT(read_file(input), HasSubstr("\"notifications/cancelled\""));
}

TEST(BatchOnTheCommandLine, AWaitCanBeCancelled) {
    const auto done = Home().run(
        {"batch"},
        "{\"id\":1,\"op\":\"wait\",\"method\":\"notifications/never\",\"timeout_ms\":3600000}\n"
        "{\"id\":2,\"op\":\"cancel\",\"target\":1}\n");
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_EQ(Lines(done.out).kind(1), "cancelled");
    EXPECT_EQ(Lines(done.out).kind(2), "");
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
                           "\"arguments\"?; known: id, op, "));
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

// ---- how many start at once

// Servers that are counted from their start to when they are asked for their tools.
class Starts {
public:
    void begin() {
        std::unique_lock lock(mutex_);
        ++begun_;
        most_ = std::max(most_, ++now_);
        changed_.notify_all();
        // Long enough for another one to begin, if it may.
        changed_.wait_for(lock, std::chrono::milliseconds(300), [this] { return most_ > 1; });
    }
    void end() {
        const std::scoped_lock lock(mutex_);
        --now_;
    }
    std::pair<int, int> all_and_most() {
        const std::scoped_lock lock(mutex_);
        return {begun_, most_};
    }

private:
    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    int begun_ = 0, now_ = 0, most_ = 0;
};

TEST(BatchOnTheCommandLine, SoManyRemoteServersStartAtOnceAsTheConfigurationSays) {
    for (const int limit : {1, 3}) {
        SCOPED_TRACE(limit);
        Starts starts;
        Home home;
        std::vector<std::unique_ptr<ScriptedHttp>> servers;
        for (int i = 0; i < 3; ++i) {
            const auto begun = std::make_shared<bool>(false);
            servers.push_back(std::make_unique<ScriptedHttp>(
                scripted_mcp({}, [&starts, begun](const std::string& method) {
                    if (!std::exchange(*begun, true)) starts.begin();
                    if (method == "tools/list") starts.end();
                })));
            home.add("s" + std::to_string(i), {{"url", servers.back()->url()}});
        }
        const auto done =
            home.run({"--set", "limits.remote_starts=" + std::to_string(limit), "batch"},
                     "{\"id\":1,\"op\":\"tools/list\"}\n");
        EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
        const auto [all, most] = starts.all_and_most();
        EXPECT_EQ(all, 3);
        EXPECT_EQ(most == 1, limit == 1) << most;
    }
}

TEST(BatchOnTheCommandLine, SoManyLocalServersStartAtOnceAsTheConfigurationSays) {
    for (const int limit : {1, 3}) {
        SCOPED_TRACE(limit);
        Home home;
        const auto lock = (home.root() / "starting").string();
        const auto overlap = home.root() / "overlap", begun = home.root() / "begun";
        // One that is asked for its tools has started, as far as it knows; whoever finds another one
        // before that says so.
        const std::string script =
            "echo >> '" + begun.string() + "'; mkdir '" + lock + "' 2>&- || echo >> '" +
            overlap.string() +
            "'; while IFS= read -r line; do case $line in *'\"tools/list\"'*) "
            "rmdir '" +
            lock + "' 2>&- ;; esac; printf '%s\\n' \"$line\"; done | exec '" + example_server() +
            "' --slow-start 300";
        for (const char* id : {"a", "b", "c"})
            home.add(id, {{"command", "/bin/sh"}, {"args", json::array{"-c", script}}});
        const auto done =
            home.run({"--set", "limits.local_starts=" + std::to_string(limit), "batch"},
                     "{\"id\":1,\"op\":\"tools/list\"}\n");
        EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
        EXPECT_EQ(read_file(begun), "\n\n\n");
        EXPECT_EQ(std::filesystem::exists(overlap), limit == 3);
    }
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
    const std::string hidden = "{\"a\":\r{\"b\":1}\r}";
    home.run({"batch"},
             R"({"id":1,"op":"tools/call","name":"mcp__x__echo","arguments":)" + hidden + "}\n" +
                 R"({"id":2,"op":"request","server":"x","method":"ping","params":)" + hidden +
                 "}\n" +
                 R"({"id":3,"op":"request","server":"x","method":"ping","params":{"_meta":)" +
                 hidden + "}}\n");
    const auto lines = read_file(sent);
    EXPECT_THAT(lines, Not(HasSubstr("\r")));
    EXPECT_THAT(lines, HasSubstr(R"("arguments":{"a": {"b":1} })"));
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

TEST(BatchOnTheCommandLine, ANotificationEndsOneWaitForItsServerAndMethod) {
    Home home;
    home.add_example("x", {"--era", "legacy"});
    home.add_example("y", {"--era", "legacy"});
    const auto wait = [](const std::string& id, const std::string& more) {
        return "{\"id\":\"" + id +
               "\",\"op\":\"wait\",\"method\":\"notifications/tools/list_changed\"" + more + "}\n";
    };
    const std::string change = R"({"id":"call","op":"tools/call","name":"mcp__x__change_tools"})"
                               "\n";
    const auto done = home.run(
        {"batch"},
        wait("first", "") + wait("other server", R"(,"server":"y","timeout_ms":200)") +
            R"({"id":"other method","op":"wait","method":"notifications/x","timeout_ms":200})"
            "\n" +
            wait("second", R"(,"server":"x","timeout_ms":200)") + change);
    EXPECT_EQ(done.exit_code, 1);
    const Lines lines(done.out);
    EXPECT_EQ(lines.kind("first"), "");
    for (const char* id : {"other server", "other method", "second"})
        EXPECT_EQ(lines.kind(id), "timeout") << id;
    const auto late = home.run({"batch"}, change + wait("seen", "") +
                                              R"({"op":"barrier"})"
                                              "\n" +
                                              wait("of y", R"(,"server":"y","timeout_ms":1)") +
                                              wait("again", R"(,"timeout_ms":1)"));
    EXPECT_EQ(Lines(late.out).kind("seen"), "");
    EXPECT_EQ(Lines(late.out).kind("of y"), "timeout");
    EXPECT_EQ(Lines(late.out).kind("again"), "timeout") << "one ends one";
}

TEST(BatchOnTheCommandLine, AWaitThatIsOverTakesNoNotificationFromOthers) {
    Home home;
    home.add_example("x", {"--era", "legacy"});
    Program batch(home.patchbay({"batch"}));
    batch.send(
        R"({"id":"short","op":"wait","method":"notifications/tools/list_changed","timeout_ms":1}
{"id":"given up","op":"wait","method":"notifications/tools/list_changed"}
{"id":"long","op":"wait","method":"notifications/tools/list_changed","timeout_ms":50000}
{"id":"cancel","op":"cancel","target":"given up"}
)");
    ASSERT_TRUE(batch.wait_for_out("\"timeout\"")) << batch.out();
    batch.send(R"({"op":"tools/call","name":"mcp__x__change_tools"})"
               "\n");
    const auto done = batch.finish();
    EXPECT_EQ(Lines(done.out).kind("given up"), "cancelled");
    EXPECT_EQ(Lines(done.out).kind("long"), "") << done.out;
}

TEST(BatchOnTheCommandLine, AListThatIsCancelledEndsAndItsIdIsFree) {
    Home home;
    home.add("mute", {{"command", "sh"}, {"args", {"-c", "while read -r line; do :; done"}}});
    home.add("gone", {{"command", "/nonexistent/server"}});
    for (const char* of : {R"(,"server":"mute")", ""}) {
        for (const char* op : {"tools/list", "resources/list", "prompts/list"}) {
            const auto done =
                home.run({"batch"}, "{\"id\":1,\"op\":\"" + std::string(op) + "\"" + of + "}\n" +
                                        R"({"id":"cancel","op":"cancel","target":1}
{"id":"again","op":"cancel","target":1}
{"id":"itself","op":"cancel","target":"itself"}
{"id":1,"op":"tools/list","server":"gone"})");
            const Lines lines(done.out);
            EXPECT_EQ(lines.all.size(), 5u) << done.out;
            EXPECT_EQ(lines.kind("cancel"), "") << done.out;
            EXPECT_EQ(lines.kind("again"), "not_found");
            EXPECT_EQ(lines.kind("itself"), "not_found");
            EXPECT_THAT(done.out, HasSubstr("the list was cancelled")) << op << of;
            EXPECT_THAT(done.out, HasSubstr("/nonexistent/server")) << "the second of that id";
        }
    }
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

TEST(BatchOnTheCommandLine, AnInterruptCancelsListsThatWaitForAServer) {
    Home home;
    home.add_example("x");
    const auto input = home.add_recorded("mute", {"--never-answer", "--at", "first"});
    Program batch(home.patchbay({"batch"}));
    std::string lines;
    const Words ops{"tools/list", "resources/list", "prompts/list"};
    for (const auto& op : ops)
        for (const std::string server : {"", R"(,"server":"mute")"})
            lines += R"({"id":")" + op + std::to_string(server.size()) + R"(","op":")" + op + "\"" +
                     server + "}\n";
    batch.send(lines);
    ASSERT_TRUE(wait_for_file(input, "\"server/discover\"")) << batch.err();
    batch.signal(SIGINT);
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    std::size_t answers = 0;
    for (auto at = done.out.find(R"({"id":)"); at != done.out.npos;
         at = done.out.find(R"({"id":)", at + 1))
        ++answers;
    EXPECT_EQ(answers, 6u) << "each once\n" << done.out;
    for (const auto& op : ops) {
        for (const char* size : {"0", "16"}) {
            EXPECT_EQ(Lines(done.out).kind(json::value(op + size)), "cancelled") << done.out;
            EXPECT_EQ(Lines(done.out).message(json::value(op + size)), "interrupted by the user");
        }
    }
}

TEST(BatchOnTheCommandLine, AnInterruptCancelsWhatIsListenedToAndWhatWaits) {
    Home home;
    home.add_example("x", {"--era", "modern"});
    Program batch(home.patchbay({"batch"}));
    batch.send(
        R"({"id":1,"op":"subscriptions/listen","server":"x","notifications":{"toolsListChanged":true}}
{"id":2,"op":"wait","method":"notifications/never"}
{"id":3,"op":"barrier"}
{"id":4,"op":"status"}
)");
    ASSERT_TRUE(batch.wait_for_out("notifications/subscriptions/acknowledged")) << batch.err();
    batch.signal(SIGINT);
    // What ends the input before would end the stream well.
    ASSERT_TRUE(batch.wait_for_out("\"cancelled\"")) << batch.out();
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, 130);
    for (int id = 1; id <= 3; ++id) EXPECT_EQ(Lines(done.out).kind(id), "cancelled") << id;
    EXPECT_THAT(done.out, Not(HasSubstr("\"id\":4"))) << "nothing more is started";
}

}  // namespace
}  // namespace patchbay::test
