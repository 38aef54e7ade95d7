// The example server keeps to the protocol where it is polite; other tests build on that.
#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

namespace json = boost::json;
using testing::HasSubstr;

constexpr std::chrono::seconds kPatience{10};

// Lines from a descriptor, each waited for until a deadline.
class Lines {
public:
    explicit Lines(const int& fd) : fd_(fd) {}  // borrowed, read anew each time
    // Empty: nothing came in time, or the other end closed.
    std::string next(std::chrono::milliseconds patience = kPatience) {
        const auto deadline = std::chrono::steady_clock::now() + patience;
        for (;;) {
            if (const auto end = text_.find('\n'); end != std::string::npos) {
                const std::string line = text_.substr(0, end);
                text_.erase(0, end + 1);
                return line;
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(
                deadline - std::chrono::steady_clock::now());
            pollfd watched{fd_, POLLIN, 0};
            if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) <= 0)
                return {};
            char block[4096];
            const ssize_t got = ::read(fd_, block, sizeof block);
            if (got <= 0) return {};
            text_.append(block, static_cast<std::size_t>(got));
        }
    }

private:
    const int& fd_;
    std::string text_;
};

class Server {
public:
    explicit Server(std::vector<std::string> flags = {}) {
        std::signal(SIGPIPE, SIG_IGN);  // a server that is gone is a failed write
        int input[2], output[2], noise[2];
        EXPECT_EQ(
            ::pipe2(input, O_CLOEXEC) | ::pipe2(output, O_CLOEXEC) | ::pipe2(noise, O_CLOEXEC), 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, input[0], 0);
        posix_spawn_file_actions_adddup2(&actions, output[1], 1);
        posix_spawn_file_actions_adddup2(&actions, noise[1], 2);
        flags.insert(flags.begin(), PATCHBAY_EXAMPLE_SERVER);
        std::vector<char*> arguments;
        for (auto& flag : flags) arguments.push_back(flag.data());
        arguments.push_back(nullptr);
        EXPECT_EQ(::posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ),
                  0);
        posix_spawn_file_actions_destroy(&actions);
        for (const int fd : {input[0], output[1], noise[1]}) ::close(fd);
        in_ = input[1];
        out_ = output[0];
        err_ = noise[0];
    }
    ~Server() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            wait();
        }
        ::close(out_);
        ::close(err_);
    }
    Server(const Server&) = delete;

    void send(const std::string& text) {
        const std::string line = text + "\n";
        ASSERT_EQ(::write(in_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    }
    std::string ask(const std::string& text) {
        send(text);
        return answers.next();
    }
    int wait() {  // closes its stdin first
        ::close(in_);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

private:
    pid_t pid_ = -1;
    int in_ = -1, out_ = -1, err_ = -1;

public:
    Lines answers{out_};
    Lines errors{err_};
};

std::string modern(const std::string& id, const std::string& method, const std::string& members,
                   const std::string& capabilities = "{}",
                   const std::string& version = "2026-07-28") {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{)" +
           members + (members.empty() ? "" : ",") +
           R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
           R"(","io.modelcontextprotocol/clientCapabilities":)" + capabilities + "}}}";
}

std::string legacy(const std::string& id, const std::string& method, const std::string& members) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{)" +
           members + "}}";
}

std::string shake_hands(Server& server, const std::string& version,
                        const std::string& capabilities = "{}") {
    const auto answer = server.ask(
        legacy("0", "initialize",
               R"("protocolVersion":")" + version +
                   R"(","clientInfo":{"name":"t","version":"1"},"capabilities":)" + capabilities));
    server.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    return answer;
}

const std::string kEcho = R"("name":"echo","arguments":{"message":"hi"})";

TEST(ExampleServer, SpeaksBothErasOnOneConnection) {
    Server server;
    EXPECT_THAT(server.ask(modern("1", "server/discover", "")),
                HasSubstr(R"("supportedVersions":["2026-07-28")"));
    EXPECT_THAT(server.ask(modern("2", "tools/call", kEcho)),
                HasSubstr(R"("resultType":"complete")"));
    for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
        EXPECT_THAT(shake_hands(server, version),
                    HasSubstr(std::string(R"("protocolVersion":")") + version));
    }
    EXPECT_EQ(server.ask(legacy("\"x\"", "tools/call", kEcho)),
              R"({"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"hi"}]}})");
}

TEST(ExampleServer, EndsWithItsInput) {
    Server server;
    EXPECT_EQ(server.wait(), 0);
}

TEST(ExampleServer, RefusesModernRequestsThatSayTooLittleOrTheWrongRevision) {
    Server server;
    EXPECT_THAT(server.ask(modern("1", "tools/list", "", "{}", "2099-01-01")), HasSubstr("-32022"));
    EXPECT_THAT(server.ask(modern("2", "tools/list", "", "null")), HasSubstr("-32602"));
    EXPECT_THAT(server.ask(legacy("3", "tools/list", "")), HasSubstr("not initialized"));
    EXPECT_THAT(server.ask("{nonsense"), HasSubstr("-32700"));
}

TEST(ExampleServer, OfOneEraRefusesTheOther) {
    Server old({"--era", "legacy"}), young({"--era", "modern"});
    EXPECT_THAT(old.ask(modern("1", "server/discover", "")), HasSubstr("-32601"));
    EXPECT_THAT(shake_hands(young, "2025-11-25"), HasSubstr(R"("supported":["2026-07-28"])"));
}

TEST(ExampleServer, AnswersOthersWhileOneSleepsAndForgetsWhatIsCancelled) {
    Server server;
    server.send(modern("1", "tools/call", R"("name":"sleep","arguments":{"ms":3600000})"));
    EXPECT_THAT(server.ask(modern("2", "tools/call", kEcho)), HasSubstr(R"("id":2)"));
    server.send(modern("3", "tools/call", R"("name":"sleep","arguments":{"ms":50})"));
    server.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
    EXPECT_THAT(server.ask(modern("4", "tools/call", R"("name":"sleep","arguments":{"ms":100})")),
                HasSubstr(R"("id":4)"));  // 3 would have come first
}

TEST(ExampleServer, TellsProgressOnlyToThoseWhoAsk) {
    Server server;
    shake_hands(server, "2025-11-25");
    const auto answer = server.ask(
        legacy("1", "tools/call",
               R"("name":"progress","arguments":{"steps":2},"_meta":{"progressToken":"p"})"));
    EXPECT_THAT(answer, HasSubstr(R"("progressToken":"p","progress":1,"total":2)"));
    EXPECT_THAT(server.answers.next(), HasSubstr(R"("progress":2)"));
    EXPECT_THAT(server.answers.next(), HasSubstr("2 steps done"));
    EXPECT_THAT(
        server.ask(legacy("2", "tools/call", R"("name":"progress","arguments":{"steps":2})")),
        HasSubstr("2 steps done"));
}

TEST(ExampleServer, AsksByInputRequiredInTheModernEra) {
    Server server;
    const std::string call = R"("name":"ask","arguments":{})";
    EXPECT_THAT(server.ask(modern("1", "tools/call", call)), HasSubstr("-32021"));
    const std::string able = R"({"elicitation":{}})";
    EXPECT_THAT(server.ask(modern("2", "tools/call", call, able)),
                HasSubstr(R"("resultType":"input_required")"));
    const std::string retry =
        call +
        R"(,"inputResponses":{"question":{"action":"accept","content":{"name":"Ada"}}},"requestState":)";
    EXPECT_THAT(
        server.ask(modern("3", "tools/call", retry + R"("asked elicitation/create")", able)),
        HasSubstr("Ada"));
    EXPECT_THAT(server.ask(modern("4", "tools/call", retry + R"("forged")", able)),
                HasSubstr("-32602"));
}

TEST(ExampleServer, AsksItsClientInTheLegacyEra) {
    Server server;
    shake_hands(server, "2025-06-18", R"({"roots":{}})");
    const auto question =
        json::parse(server.ask(legacy("1", "tools/call", R"("name":"roots")"))).as_object();
    EXPECT_EQ(question.at("method").as_string(), "roots/list");
    EXPECT_THAT(server.ask(R"({"jsonrpc":"2.0","id":)" + json::serialize(question.at("id")) +
                           R"(,"result":{"roots":[{"uri":"file:///here"}]}})"),
                HasSubstr("file:///here"));
    EXPECT_THAT(server.ask(legacy("2", "tools/call", R"("name":"sample")")),
                HasSubstr("the client has no sampling"));
}

TEST(ExampleServer, SplitsListsIntoPages) {
    Server server({"--page-size", "10", "--tools", "4"});
    const auto first = server.ask(modern("1", "tools/list", ""));
    EXPECT_THAT(first, HasSubstr(R"("nextCursor":"10")"));
    const auto last = server.ask(modern("2", "tools/list", R"("cursor":"10")"));
    EXPECT_THAT(last, HasSubstr(R"("name":"tool_4")"));
    EXPECT_THAT(last, testing::Not(HasSubstr("nextCursor")));
    EXPECT_THAT(server.ask(modern("3", "tools/list", R"("cursor":"eleven")")),
                HasSubstr("Invalid cursor"));
}

TEST(ExampleServer, TellsSubscribersThatToolsChanged) {
    Server server;
    EXPECT_THAT(server.ask(modern("7", "subscriptions/listen",
                                  R"("notifications":{"toolsListChanged":true})")),
                HasSubstr("notifications/subscriptions/acknowledged"));
    EXPECT_THAT(
        server.ask(modern("8", "tools/call", R"("name":"change_tools")")),
        HasSubstr(
            R"("method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}})"));
    EXPECT_THAT(server.answers.next(), HasSubstr("extra_16"));
    EXPECT_THAT(server.ask(modern("9", "tools/call", R"("name":"extra_16")")),
                HasSubstr("extra_16"));
}

TEST(ExampleServer, ServesSeveralClientsOverTcp) {
    Server server({"--tcp", "0"});
    const std::string told = server.errors.next();
    ASSERT_THAT(told, HasSubstr("listening on 127.0.0.1:"));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(told.substr(told.rfind(':') + 1))));
    std::vector<int> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(::connect(clients.back(), reinterpret_cast<sockaddr*>(&address), sizeof address),
                  0);
    }
    for (const int client : clients) {  // the first is still open while the last is served
        const std::string line = modern(std::to_string(client), "tools/call", kEcho) + "\n";
        ASSERT_EQ(::write(client, line.data(), line.size()), static_cast<ssize_t>(line.size()));
        EXPECT_THAT(Lines(client).next(), HasSubstr("\"id\":" + std::to_string(client)));
    }
    for (const int client : clients) ::close(client);
}

TEST(ExampleServer, MisbehavesOnlyAsAsked) {
    Server deaf({"--silent-probe"});
    deaf.send(modern("1", "server/discover", ""));
    EXPECT_THAT(shake_hands(deaf, "2025-11-25"),
                HasSubstr(R"("id":0)"));  // the probe was never answered

    Server twice({"--answer-twice"});
    const auto answer = twice.ask(modern("1", "tools/call", kEcho));
    EXPECT_EQ(twice.answers.next(), answer);

    Server other({"--protocol", "1999-01-01", "--era", "legacy"});
    EXPECT_THAT(shake_hands(other, "2025-11-25"), HasSubstr(R"("protocolVersion":"1999-01-01")"));

    Server cut({"--close-mid-message"});
    EXPECT_EQ(cut.ask(modern("1", "tools/call", kEcho)), "");
    EXPECT_EQ(Server({"--exit-at-start", "7"}).wait(), 7);
    Server dying({"--die-after", "1"});
    EXPECT_THAT(dying.ask(modern("1", "tools/call", kEcho)), HasSubstr("hi"));
    EXPECT_EQ(dying.ask(modern("2", "tools/call", kEcho)), "");
    EXPECT_EQ(Server({"--no-such-flag"}).wait(), 64);
}

}  // namespace
