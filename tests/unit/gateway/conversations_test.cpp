// A host that is an agent itself: whoever embeds the gateway answers what clients say to it.
#include "session_fixture.hpp"

namespace patchbay::gateway {
namespace {

using ::testing::AllOf;
using ::testing::SizeIs;

// Says what it was told, with the number of the turn; "bye" ends a conversation. It may take its time.
class Agent final : public Conversations {
public:
    explicit Agent(core::Loop& loop) : loop_(loop) {}

    service::Operation start(const std::string& message, Said said) override {
        const auto name = "talk-" + std::to_string(++started);
        turns_[name] = 0;
        return answer(name, message, std::move(said));
    }
    service::Operation reply(const std::string& conversation, const std::string& message,
                             Said said) override {
        return answer(conversation, message, std::move(said));
    }
    void end(const std::string& conversation) override { ended.push_back(conversation); }

    void go_on() {
        for (auto& each : std::exchange(waiting_, {})) each();
    }

    int started = 0;
    bool thinks = false;  // until it is told to go on
    std::string answers;  // empty: what it was told
    std::vector<std::string> ended;

private:
    service::Operation answer(const std::string& name, const std::string& message, Said said) {
        const auto held = std::make_shared<int>();
        const auto tell = [this, name, message, said, watch = std::weak_ptr(held)] {
            if (watch.expired()) return;
            if (message == "fail") return said(Error{ErrorCode::Internal, "it has no idea"});
            said(Turn{name,
                      answers.empty() ? std::to_string(++turns_[name]) + ": " + message : answers,
                      message == "bye"});
        };
        if (thinks)
            waiting_.push_back(tell);
        else
            loop_.defer(tell);
        return held;
    }

    core::Loop& loop_;
    std::map<std::string, int> turns_;
    std::vector<std::function<void()>> waiting_;
};

class ConversationsTest : public SessionTest {
protected:
    ConversationsTest() {
        config.gateway.host_tools = true;
        conversations = &agent;
    }
    ~ConversationsTest() override { session_.reset(); }  // it ends its conversations with the agent
    json::object begin_with(const std::string& message) {
        return ask(
            ++last_, "tools/call",
            {{"name", "patchbay__start_conversation"}, {"arguments", {{"message", message}}}});
    }
    static json::object reply_of(const std::string& conversation, const std::string& message) {
        return {{"name", "patchbay__reply"},
                {"arguments", {{"conversation", conversation}, {"message", message}}}};
    }
    std::string reply(const std::string& conversation, const std::string& message) {
        return json::serialize(ask(++last_, "tools/call", reply_of(conversation, message)));
    }
    Agent agent{loop};
    int last_ = 10;
};

TEST_F(ConversationsTest, GoOnForAsLongAsBothHaveSomethingToSay) {
    greet();
    EXPECT_THAT(json::serialize(ask(2, "tools/list")),
                AllOf(HasSubstr("patchbay__start_conversation"), HasSubstr("patchbay__reply")));
    const auto first = begin_with("hello");
    EXPECT_EQ(at(first, "/result/structuredContent/text"), "1: hello");
    EXPECT_EQ(at(first, "/result/structuredContent/over"), false);
    EXPECT_EQ(at(first, "/result/structuredContent/conversation"), "talk-1");
    EXPECT_THAT(reply("talk-1", "and?"), HasSubstr("2: and?"));
    EXPECT_THAT(reply("talk-1", "bye"), HasSubstr("3: bye"));
    EXPECT_THAT(reply("talk-1", "still there?"),
                AllOf(HasSubstr("isError"), HasSubstr("start_conversation begins one")));
    session_.reset();
    EXPECT_THAT(agent.ended, IsEmpty()) << "it was over";
}

TEST_F(ConversationsTest, WhereTheHostIsNoAgentThereAreNone) {
    conversations = nullptr;
    greet();
    EXPECT_THAT(json::serialize(ask(2, "tools/list")),
                AllOf(HasSubstr("patchbay__server_status"), Not(HasSubstr("conversation"))));
    EXPECT_THAT(json::serialize(begin_with("hello")), HasSubstr("no tool"));
}

TEST_F(ConversationsTest, OfAnotherClientAreNotGoneOnWith) {
    greet();
    EXPECT_THAT(reply("talk-1", "hello"), HasSubstr("no conversation"));
    EXPECT_EQ(agent.started, 0);
}

TEST_F(ConversationsTest, HaveOneReplyAtATimeAndWhoCancelsItMaySaySomethingElse) {
    greet();
    begin_with("hello");
    agent.thinks = true;
    say(2, "tools/call", reply_of("talk-1", "first"));
    EXPECT_THAT(reply("talk-1", "second"), HasSubstr("has a reply under way"));
    session().take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
    agent.go_on();
    agent.thinks = false;
    EXPECT_THAT(reply("talk-1", "third"), HasSubstr("2: third"));
}

TEST_F(ConversationsTest, EndWithTheirClientAndTheOldestWhereThereAreTooMany) {
    greet();
    for (std::size_t i = 0; i <= ClientConversations::kMost; ++i) begin_with("hello");
    EXPECT_THAT(agent.ended, ElementsAre("talk-1"));
    agent.thinks = true;
    say(2, "tools/call", reply_of("talk-2", "wait"));
    session_.reset();
    EXPECT_THAT(agent.ended, SizeIs(ClientConversations::kMost + 1));
    agent.go_on();
}

TEST_F(ConversationsTest, AreBoundedInWhatIsSaidAndTroubleIsToldToTheModel) {
    greet();
    const auto failed = [&](const std::string& message) {
        const auto answer = begin_with(message);
        EXPECT_EQ(at(answer, "/result/isError"), true);
        return json::serialize(answer);
    };
    EXPECT_THAT(failed("fail"), HasSubstr("it has no idea"));
    EXPECT_THAT(failed(std::string(ClientConversations::kTextBytes + 1, 'x')),
                HasSubstr("the message has"));
    EXPECT_THAT(failed(""), HasSubstr("/message"));
    agent.answers = std::string(ClientConversations::kTextBytes + 1, 'x');
    EXPECT_THAT(failed("hello"), HasSubstr("the answer has"));
}

}  // namespace
}  // namespace patchbay::gateway
