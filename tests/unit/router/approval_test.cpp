// Calls that need approval: whom they are asked of, and what becomes of them meanwhile.
#include "unit/router/fixture.hpp"

namespace patchbay::router {
namespace {

using connection::Approval;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Approvals : public RouterTest {
protected:
    Approvals() { agent.approves = true; }

    void begin(std::chrono::milliseconds timeout = {}) {
        Call request;
        request.name = "mcp__git__log";
        request.arguments = R"({"n":1})";
        request.timeout = timeout;
        router().call(agent, std::move(request), [this](const Result<Reply>& reply) {
            outcome.emplace(reply ? Result<std::string>(std::string(reply->result))
                                  : Result<std::string>(reply.error()));
        });
    }
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    void begin_and_be_asked() {
        begin();
        ASSERT_TRUE(until([&] { return agent.approvals.size() == 1; }));
    }
    std::size_t sent() { return servers.at("git").requests("tools/call").size(); }

    void offer_resources() {
        servers.at("git").results["server/discover"] = [](const auto&) -> json::value {
            return {{"supportedVersions", {"2026-07-28"}},
                    {"capabilities", {{"resources", json::object()}}}};
        };
        servers.at("git").results["resources/read"] = [](const auto&) -> json::value {
            return {{"resultType", "complete"}};
        };
    }
    void begin_to_read(connection::Caller& asker) {
        ServerRequest request;
        request.server = "git";
        request.method = "resources/read";
        request.params.members = R"("uri":"a:1")";
        router().request(asker, std::move(request), [this](const Result<Reply>& reply) {
            outcome.emplace(reply ? Result<std::string>(std::string(reply->result))
                                  : Result<std::string>(reply.error()));
        });
    }
    void redefine_git() {
        specs[0].definition_key += "x";
        specs[0].config.settings["args"] = specs[0].definition_key;
        connections->apply(specs);
    }
    void say_nothing() { servers.at("git").results.erase("server/discover"); }
    // Another one has come in its place before the end of the first is known.
    void replace_git_while_it_starts() {
        auto& git = servers.at("git");
        ASSERT_TRUE(until([&] { return git.requests("server/discover").size() == 1; }));
        offer_resources();
        git.holds_on = true;
        redefine_git();
        ASSERT_TRUE(until([&] {
            return connections->find("git").value().get().status().state ==
                   connection::State::Ready;
        }));
        git.let_go();
    }

    std::optional<Result<std::string>> outcome;
};

TEST_F(Approvals, AreAskedOfTheCallerWhoseCallItIs) {
    begin_and_be_asked();
    const auto& wanted = agent.approvals[0].first;
    EXPECT_EQ(wanted.server, "git");
    EXPECT_EQ(wanted.tool, "log");
    EXPECT_EQ(wanted.public_name, "mcp__git__log");
    EXPECT_EQ(wanted.arguments, R"({"n":1})");
    EXPECT_THAT(caller.approvals, IsEmpty());
    EXPECT_EQ(sent(), 0u);
    agent.approvals[0].second(Approval::Given);
    EXPECT_FALSE(outcome) << "answered from inside the call";
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_THAT(**outcome, HasSubstr(R"("arguments":{"n":1})"));
    agent.approvals[0].second(Approval::Refused);  // decided already
    EXPECT_EQ(sent(), 1u);
}

TEST_F(Approvals, AreDecidedByTheFirstWord) {
    for (const auto first : {Approval::Refused, Approval::NobodyThere}) {
        outcome.reset();
        agent.approvals.clear();
        begin_and_be_asked();
        const auto decide = agent.approvals[0].second;
        decide(first);
        decide(Approval::Given);  // before the turn ends
        ASSERT_TRUE(until([&] { return outcome.has_value(); }));
        EXPECT_FALSE(*outcome);
        EXPECT_EQ(sent(), 0u);
    }
}

TEST_F(Approvals, ThatAreNotGivenSayWhoRefused) {
    begin_and_be_asked();
    agent.approvals[0].second(Approval::Refused);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::Denied);
    EXPECT_EQ(outcome->error().message, "mcp__git__log was not approved by embedder");
    EXPECT_EQ(sent(), 0u);
}

TEST_F(Approvals, WithNobodyThereSayWhichRuleWouldAllowIt) {
    begin_and_be_asked();
    agent.approvals[0].second(Approval::NobodyThere);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message,
                HasSubstr("needs approval and nobody is there to give it; to allow it: "));
}

// Answers of before, in memory.
class FakeDecisions final : public connection::Decisions {
public:
    bool allow(const connection::Approvable& wanted, const core::Principal&) override {
        ++asked;
        return kept == wanted.key();
    }
    std::vector<config::Level> levels(const core::Principal&) const override {
        return {config::Level::AllowAlways};
    }
    Result<void> keep(const connection::Approvable& wanted, config::Level level,
                      const core::Principal&) override {
        if (fails) return Error{ErrorCode::Io, "the disk is full"};
        kept = wanted.key();
        kept_level = level;
        return {};
    }
    std::string kept;
    std::optional<config::Level> kept_level;
    int asked = 0;
    bool fails = false;
};

class KeptApprovals : public Approvals {
protected:
    KeptApprovals() { decisions = &kept; }
    void answer(std::size_t at, Approval approval) {
        ASSERT_TRUE(until([&] { return agent.approvals.size() == at + 1; }));
        agent.approvals[at].second(approval);
        ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    }
    FakeDecisions kept;
};

TEST_F(KeptApprovals, AnswerTheNextCallInItsPlace) {
    begin();
    answer(0, Approval::Always);
    EXPECT_TRUE(*outcome);
    EXPECT_EQ(kept.kept_level, config::Level::AllowAlways);
    outcome.reset();
    begin();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome);
    EXPECT_EQ(agent.approvals.size(), 1u);
    EXPECT_EQ(sent(), 2u);
}

TEST_F(KeptApprovals, AreOfferedWhereTheyCanBeKeptAndNoOthers) {
    begin();
    ASSERT_TRUE(until([&] { return agent.approvals.size() == 1; }));
    using config::Level;
    EXPECT_THAT(agent.approvals[0].first.levels,
                ::testing::ElementsAre(Level::AllowOnce, Level::AllowSession, Level::AllowAlways));
    answer(0, Approval::ForProject);  // which was not offered
    EXPECT_TRUE(*outcome) << "it is given for this once";
    EXPECT_FALSE(kept.kept_level);
}

TEST_F(KeptApprovals, ThatCannotBeKeptCountForThatCallAndSaySo) {
    kept.fails = true;
    begin();
    ::testing::internal::CaptureStderr();
    answer(0, Approval::Always);
    EXPECT_TRUE(*outcome);
    EXPECT_THAT(
        ::testing::internal::GetCapturedStderr(),
        HasSubstr("the approval of mcp__git__log counts for this once alone: the disk is full"));
}

TEST_F(KeptApprovals, LetNothingThroughThatIsDenied) {
    begin();
    answer(0, Approval::Always);
    outcome.reset();
    permissions.deny.push_back("mcp__git__log");
    set_rules();
    begin();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_FALSE(*outcome);
    EXPECT_EQ(sent(), 1u);
}

TEST_F(KeptApprovals, AreNotAskedForWhereAnAdministratorsRuleAsks) {
    begin();
    answer(0, Approval::Always);
    outcome.reset();
    permissions.ask.push_back("mcp__git__log");
    permissions.ask_places["mcp__git__log"] = {config::Scope::Enterprise, "e.toml", 1, 1};
    set_rules();
    const auto before = kept.asked;
    begin();
    ASSERT_TRUE(until([&] { return agent.approvals.size() == 2; }));
    EXPECT_EQ(kept.asked, before);
    EXPECT_THAT(agent.approvals[1].first.levels, ::testing::ElementsAre(config::Level::AllowOnce));
    EXPECT_EQ(agent.approvals[1].first.rule,
              "permissions.ask \"mcp__git__log\" (enterprise config e.toml:1:1)");
    answer(1, Approval::Refused);
    EXPECT_FALSE(*outcome);
}

TEST_F(Approvals, LetNothingThroughThatIsForbiddenMeanwhile) {
    begin_and_be_asked();
    permissions.deny.push_back("mcp__git__*");
    set_rules();
    agent.approvals[0].second(Approval::Given);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("is denied by [permissions] deny"));
    EXPECT_EQ(sent(), 0u);
}

TEST_F(Approvals, OfAServerAreNotOfTheOneThatComesInItsPlace) {
    begin_and_be_asked();
    specs[0].config.settings["args"] = "other";
    specs[0].definition_key = "other";
    connections->apply(specs);
    ASSERT_TRUE(call("mcp__git__log")) << "it has listed the same tool";
    agent.approvals[0].second(Approval::Given);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_THAT(outcome->error().message, HasSubstr("server \"git\" is another one than when "));
    EXPECT_EQ(sent(), 1u) << "of the other caller";
    specs[0].config.request_timeout = 7s;
    begin();
    ASSERT_TRUE(until([&] { return agent.approvals.size() == 2; }));
    connections->apply(specs);
    outcome.reset();
    agent.approvals[1].second(Approval::Given);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome) << "run in another way it is the same server";
}

TEST_F(Approvals, OfWhatItsServerHasNotListedSinceTakeNoConnection) {
    begin_and_be_asked();
    const auto all = specs;
    connections->apply({});
    connections->apply(all);
    agent.approvals[0].second(Approval::Given);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_FALSE(*outcome);
    EXPECT_FALSE(connections->held("git", agent.number()));
}

TEST_F(Approvals, AreNotWaitedForLongerThanTheCall) {
    const auto kept = std::make_shared<int>();
    agent.approval_kept = kept;
    begin(50ms);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::Timeout);
    ASSERT_EQ(agent.approvals.size(), 1u);
    agent.approval_kept.reset();
    EXPECT_EQ(kept.use_count(), 1) << "the question is withdrawn";
    agent.approvals[0].second(Approval::Given);
    EXPECT_EQ(sent(), 0u);
}

// As everybody is told; whether the call would wait longer or has no limit of its own.
TEST_F(Approvals, AreNotWaitedForLongerThanTenMinutes) {
    for (const std::chrono::milliseconds timeout : {0ms, std::chrono::milliseconds(2h)}) {
        outcome.reset();
        begin(timeout);
        ASSERT_TRUE(until([&] { return !agent.approvals.empty(); }));
        loop.pass(core::kApprovalWait - 1s);
        ASSERT_FALSE(outcome);
        ASSERT_TRUE(until([&] { return outcome.has_value(); }));
        EXPECT_THAT(outcome->error().message, HasSubstr("nobody answered the question in time"));
        agent.approvals.clear();
    }
    EXPECT_EQ(sent(), 0u);
}

TEST_F(Approvals, OfACallerThatGoesAreOfNoUse) {
    auto gone = std::make_unique<test::FakeCaller>(callers, core::Trust::NeedsApproval);
    gone->approves = true;
    bool told = false;
    Call request;
    request.name = "mcp__git__log";
    router().call(*gone, std::move(request), [&](const Result<Reply>&) { told = true; });
    ASSERT_TRUE(until([&] { return gone->approvals.size() == 1; }));
    const auto decide = gone->approvals[0].second;
    gone.reset();
    decide(Approval::Given);
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(sent(), 1u) << "of the other caller";
    EXPECT_FALSE(told);
}

TEST_F(Approvals, AreAskedForAServersResourcesToo) {
    offer_resources();
    begin_to_read(agent);
    ASSERT_TRUE(until([&] { return agent.approvals.size() == 1; }));
    EXPECT_EQ(agent.approvals[0].first.tool, "");
    EXPECT_EQ(servers.at("git").opened, 0) << "nothing is started for what nobody approved of";
    agent.approvals[0].second(Approval::Given);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome) << outcome->error().message;
}

TEST_F(Approvals, OfAServersResourcesAreNotOfTheOneThatComesInItsPlaceWhileItStarts) {
    say_nothing();
    begin_to_read(agent);
    ASSERT_TRUE(until([&] { return agent.approvals.size() == 1; }));
    agent.approvals[0].second(Approval::Given);
    replace_git_while_it_starts();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(outcome->error().message,
              "server \"git\" is another one than when mcp__git__ was to be approved; ask again");
    EXPECT_TRUE(servers.at("git").requests("resources/read").empty());
}

TEST_F(Approvals, AreNotNeededForWhatTheRulesAllowOfTheServerThatComesInItsPlace) {
    say_nothing();
    begin_to_read(caller);
    replace_git_while_it_starts();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome) << outcome->error().message;
}

TEST_F(Approvals, AReadOfAServerThatIsReplacedWhileItStartsSaysHowItIs) {
    say_nothing();
    begin_to_read(caller);
    ASSERT_TRUE(until([&] { return servers.at("git").opened == 1; }));
    redefine_git();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome) << **outcome;
    EXPECT_EQ(outcome->error().code, ErrorCode::Unavailable);
    EXPECT_EQ(outcome->error().message, "server \"git\" is connecting");
}

TEST_F(RouterTest, ACallerThatGoesWhileTheServerStartsHasNothingSent) {
    auto gone = std::make_unique<test::FakeCaller>(callers);
    bool told = false;
    Call request;
    request.name = "mcp__git__log";
    router().call(*gone, std::move(request), [&](const Result<Reply>&) { told = true; });
    gone.reset();
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), 1u);
    EXPECT_FALSE(told);
}

TEST_F(Approvals, WhatIsNoRequestIsPermittedAsOneAndStartsNothing) {
    const auto permit = [&] {
        ServerRequest wanted;
        wanted.server = "git";
        wanted.method = "server/restart";
        outcome.reset();
        router().permit(agent, std::move(wanted), [this](const Result<Reply>& reply) {
            outcome.emplace(reply ? Result<std::string>(std::string(reply->result))
                                  : Result<std::string>(reply.error()));
        });
        EXPECT_FALSE(outcome) << "told from inside the call";
    };
    permit();
    ASSERT_TRUE(until([&] { return outcome || agent.approvals.size() == 1; }));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(agent.approvals[0].first.method, "server/restart");
    agent.approvals[0].second(Approval::Given);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome);
    permit();
    ASSERT_TRUE(until([&] { return agent.approvals.size() == 2; }));
    agent.approvals[1].second(Approval::Refused);
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("was not approved"));
    permissions.deny.push_back("mcp__git__*");
    set_rules();
    permit();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("are denied by [permissions] deny"));
    EXPECT_THAT(servers.at("git").bodies, IsEmpty());
}

}  // namespace
}  // namespace patchbay::router
