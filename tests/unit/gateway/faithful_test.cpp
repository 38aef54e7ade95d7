// What client and server write to each other passes a session as the bytes that it is: numbers that no
// type holds, the order of members, escapes, members and `_meta` that nobody here knows.
#include "gateway/client_session.hpp"
#include "protocol/compose.hpp"
#include "unit/service/fixture.hpp"

#include <array>
#include <random>

namespace patchbay::gateway {
namespace {

namespace json = boost::json;

constexpr std::size_t kMessages = 100'000;
constexpr std::uint32_t kSeed = 20260728;

// JSON as somebody else may write it, without white space between its tokens.
class Texts {
public:
    std::size_t below(std::size_t most) { return random_() % most; }
    std::string value(int depth = 3) {
        switch (below(depth > 0 ? 8 : 4)) {
            case 0:
                return std::array{"true", "false", "null"}[below(3)];
            case 1:
            case 2:
                return number();
            case 3:
            case 4:
                return string();
            case 5:
                return array(depth - 1);
            default:
                return object(depth - 1);
        }
    }
    std::string object(int depth = 3) {
        std::string members;
        for (std::size_t i = 0, most = below(4); i < most; ++i)
            members.append(i ? "," : "").append(key(i)).append(":").append(value(depth));
        return "{" + members + "}";
    }

private:
    std::string array(int depth) {
        std::string items;
        for (std::size_t i = 0, most = below(4); i < most; ++i)
            items.append(i ? "," : "").append(value(depth));
        return "[" + items + "]";
    }
    std::string number() {
        constexpr std::array kOdd{"0",
                                  "-0",
                                  "1E400",
                                  "-1e999",
                                  "1E-400",
                                  "1.50",
                                  "1e2",
                                  "0.1E+7",
                                  "18446744073709551615",
                                  "-9223372036854775808",
                                  "12345678901234567890123"};
        const auto which = below(kOdd.size() * 2);
        return which < kOdd.size() ? kOdd[which] : std::to_string(random_());
    }
    std::string string() {
        constexpr std::array kPieces{"a",           "\\u00e9", "\xc3\xa9", "\\ud83d\\ude00",
                                     "\\/",         "\\\\",    "\\\"",     "\\n",
                                     " ",           "{",       "}",        ",",
                                     ":",           "[",       "\\u0000",  "\\u007F",
                                     "\xe2\x80\xa8"};
        std::string text = "\"";
        for (std::size_t i = 0, most = below(6); i < most; ++i)
            text += kPieces[below(kPieces.size())];
        return text + "\"";
    }
    std::string key(std::size_t number) {
        constexpr std::array kKeys{"\"z", "\"\\u0061", "\"jsonrpc", "\"id", "\"\\\"", "\"result"};
        return kKeys[below(kKeys.size())] + std::to_string(number) + "\"";
    }

    std::mt19937 random_{kSeed};
};

class Faithful : public service::ServiceTest, Outward {
protected:
    Faithful() {
        permissions = {};
        for (auto& [id, server] : servers) {
            server.be_legacy({test::tool_named("log")});
            server.results["initialize"] = [](const auto&) -> json::value {
                return {{"protocolVersion", "2025-11-25"},
                        {"capabilities",
                         {{"tools", json::object()},
                          {"prompts", json::object()},
                          {"completions", json::object()},
                          {"logging", json::object()},
                          {"resources", json::object()}}}};
            };
            for (const auto& [method, member] :
                 {std::pair{"resources/list", "resources"}, {"prompts/list", "prompts"}})
                if (id != "git")
                    server.results[method] = [member = std::string(member)](const auto&) {
                        return json::object{{member, json::array()}};
                    };
        }
        // What it is asked this test answers itself.
        for (const char* method : {"tools/call", "prompts/list", "resources/list"})
            server().results.erase(method);
        session_.emplace(
            ClientSession::Parts{callers, known(), *catalogue, *this},
            core::Principal{core::Principal::Kind::Client, {}, "test", core::Trust::Approves},
            connection::Responder(config.client, {}), "1");
    }
    test::FakeServer& server() { return servers.at("git"); }
    void take(const std::string& message) { session_->take(message); }
    void greet() {
        take(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":)"
             R"("2025-11-25","capabilities":{"elicitation":{}}}})");
        take(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
        take(R"({"jsonrpc":"2.0","id":"tools","method":"tools/list"})");
        ASSERT_TRUE(loop.run_until([&] { return sent_.size() >= 2; }));
        forget();
    }
    void forget() {
        sent_.clear();
        server().bodies.clear();
        server().received.clear();
    }

    // The text that reached the server behind what had, and its id there.
    std::string at_server() {
        const auto before = read_at_server_;
        EXPECT_TRUE(loop.run_until([&] { return server().bodies.size() > before; }));
        if (server().bodies.size() <= before) return {};
        ++passed_;
        return std::string(server().bodies[read_at_server_++]);
    }
    std::string at_client() {
        const auto before = read_at_client_;
        EXPECT_TRUE(loop.run_until([&] { return sent_.size() > before; }));
        if (sent_.size() <= before) return {};
        ++passed_;
        return sent_[read_at_client_++];
    }
    static std::string id_of(const std::string& message) {
        const auto envelope = protocol::parse_envelope(message);
        return envelope ? std::string(envelope->id) : "none";
    }
    void expect_in(const std::string& message, const std::string& text) {
        ASSERT_NE(message.find(text), std::string::npos)
            << "message " << passed_ << " of seed " << kSeed << "\n  wanted: " << text
            << "\n  came:   " << message;
    }

    // What is begun with a call of the client's, whose id is `id`: how it looks at the server.
    std::string call(const std::string& id, const std::string& more_meta = {}) {
        const auto arguments = texts_.object(), extra = texts_.value(), meta = texts_.value();
        take(R"({"jsonrpc":"2.0","id":)" + id +
             R"(,"method":"tools/call","params":{"name":"mcp__git__log","arguments":)" + arguments +
             R"(,"extra":)" + extra + R"(,"_meta":{"com.example/k":)" + meta + more_meta + "}}}");
        auto came = at_server();
        expect_in(came, R"("name":"log","arguments":)" + arguments + R"(,"extra":)" + extra);
        expect_in(came, R"("com.example/k":)" + meta);
        return came;
    }
    std::string result() {
        return R"({"content":[],"more":)" + texts_.value() + R"(,"_meta":)" + texts_.object() + "}";
    }
    void finish(const std::string& wire, const std::string& id) {
        const bool failed = texts_.below(4) == 0;
        const auto outcome =
            failed ? R"("error":{"code":-32050,"message":"no","data":)" + texts_.value() + "}"
                   : R"("result":)" + result();
        server().say(R"({"jsonrpc":"2.0","id":)" + wire + "," + outcome + "}");
        const auto came = at_client();
        expect_in(came, R"({"jsonrpc":"2.0","id":)" + id + "," +
                            outcome.substr(0, failed ? outcome.size() : 9));
        expect_in(came, failed ? outcome : outcome.substr(10));
    }
    std::string question() {
        return R"({"message":"m","requestedSchema":)" + texts_.object() + R"(,"more":)" +
               texts_.value() + "}";
    }
    std::string given() {
        return R"({"action":"accept","content":)" + texts_.object() + R"(,"more":)" +
               texts_.value() + "}";
    }
    void ask(const std::string& params) {
        server().say(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":)" +
                     params + "}");
    }

    // ---- what passes, by kinds
    void a_call() {
        const auto id = std::to_string(++last_);
        const auto wire = id_of(call(id));
        finish(wire, id);
    }
    void a_call_that_is_told_of() {
        const auto id = std::to_string(++last_), token = std::string("\"t\\u0065\"");
        const auto wire = id_of(call(id, R"(,"progressToken":)" + token));
        const auto progress =
            R"("progress":1E400,"total":12345678901234567890123,"message":"\u00e9","more":)" +
            texts_.value();
        server().say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
            wire + "," + progress + "}}");
        expect_in(at_client(), R"({"progressToken":)" + token + "," + progress + "}");
        const auto logged = R"("level":"info","data":)" + texts_.value() + R"(,"_meta":{"k":)" +
                            texts_.value() + "}";
        server().say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{)" + logged +
                     "}}");
        expect_in(at_client(), "{" + logged + "}");
        finish(wire, id);
    }
    void a_call_that_asks() {
        const auto id = std::to_string(++last_);
        const auto wire = id_of(call(id));
        const auto params = question(), answer = given();
        ask(params);
        const auto asked = at_client();
        expect_in(asked, R"("params":)" + params);
        take(R"({"jsonrpc":"2.0","id":)" + id_of(asked) + R"(,"result":)" + answer + "}");
        expect_in(at_server(), R"("result":)" + answer + "}");
        finish(wire, id);
    }
    void a_modern_call_that_asks() {
        const std::string modern =
            R"(,"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}})";
        const auto first = std::to_string(++last_), second = std::to_string(++last_);
        const auto meta = R"("_meta":{"com.example/k":)" + texts_.value() + modern + "}";
        const auto params = R"("name":"mcp__git__log","arguments":)" + texts_.object();
        const auto begin = [&](const std::string& id, const std::string& round) {
            take(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{)" +
                 params + round + "," + meta + "}}");
        };
        begin(first, "");
        const auto wire = id_of(at_server());
        const auto question_text = question(), answer = given();
        ask(question_text);
        const auto wanted = at_client();
        expect_in(wanted, R"({"method":"elicitation/create","params":)" + question_text + "}");
        const auto whole = json::parse(wanted);
        const auto& round = whole.at("result").as_object();
        const std::string key(round.at("inputRequests").as_object().begin()->key());
        begin(second, R"(,"inputResponses":{")" + key + "\":" + answer + R"(},"requestState":)" +
                          json::serialize(round.at("requestState")));
        expect_in(at_server(), R"("result":)" + answer + "}");
        const auto more = texts_.value();
        server().say(R"({"jsonrpc":"2.0","id":)" + wire + R"(,"result":{"content":[],"more":)" +
                     more + "}}");
        expect_in(at_client(), R"("content":[],"more":)" + more + "}");
    }
    void lists() {
        const auto id = std::to_string(++last_);
        const auto more = R"("more":)" + texts_.value() + R"(,"_meta":)" + texts_.object();
        for (const bool prompts : {true, false}) {
            const std::string member = prompts ? "prompts" : "resources";
            take(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + member + R"(/list"})");
            const auto wire = id_of(at_server());
            const auto name = prompts ? R"("name":"p")" : R"("uri":"a:1","name":"n")";
            server().say(R"({"jsonrpc":"2.0","id":)" + wire + R"(,"result":{")" + member +
                         R"(":[{)" + name + "," + more + R"(}],"other":1E400}})");
            expect_in(at_client(), R"("result":{")" + member + R"(":[{)" +
                                       (prompts ? R"("name":"mcp__git__p",)" + more +
                                                      R"(,"description":"[git]"}]})"
                                                : std::string(name) + "," + more + "}]}"));
        }
    }
    void a_completion() {
        const auto id = std::to_string(++last_);
        const auto ref = R"(,"more":)" + texts_.value() + "}";
        const auto argument =
            R"("argument":{"name":"a","value":"v","more":)" + texts_.value() + "}";
        take(
            R"({"jsonrpc":"2.0","id":)" + id +
            R"(,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"mcp__git__p")" +
            ref + "," + argument + "}}");
        const auto came = at_server();
        expect_in(came, R"("ref":{"type":"ref/prompt","name":"p")" + ref + "," + argument);
        finish(id_of(came), id);
    }

    void pass_something() {
        switch (texts_.below(8)) {
            case 0:
                return a_call_that_is_told_of();
            case 1:
                return a_call_that_asks();
            case 2:
                return a_modern_call_that_asks();
            case 3:
                return lists();
            case 4:
                return a_completion();
            default:
                return a_call();
        }
    }

    Texts texts_;
    std::vector<std::string> sent_;
    std::size_t read_at_server_ = 0, read_at_client_ = 0, passed_ = 0;
    std::uint64_t last_ = 1'000'000'000'000'000'000;
    std::optional<ClientSession> session_;

private:
    void answer(Answer answer, Route) override { sent_.push_back(std::move(answer.message)); }
    void say(std::string message, Route) override { sent_.push_back(std::move(message)); }
    bool send_question(const std::string&, std::string message, Route to) override {
        say(std::move(message), to);
        return true;
    }
    void send_event(const std::string&, std::string message, Route) override {
        sent_.push_back(std::move(message));
    }
    void leave_unanswered(Route) override {}
};

TEST_F(Faithful, ToEveryByteBothWays) {
    greet();
    lists();  // so that the prompt of the completions is known
    while (passed_ < kMessages && !HasFatalFailure() && !HasNonfatalFailure()) {
        pass_something();
        forget();
        read_at_server_ = read_at_client_ = 0;
    }
    EXPECT_GE(passed_, kMessages);
}

}  // namespace
}  // namespace patchbay::gateway
