#include "service/session_answers.hpp"

#include "support/fake_caller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::service {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

connection::Approvable wanting(const std::string& tool, const std::string& method = "tools/call") {
    connection::Approvable wanted;
    wanted.server = "git";
    wanted.tool = tool;
    wanted.method = method;
    wanted.definition = "d 1";
    return wanted;
}

TEST(SessionAnswers, AreThoseOfAllWhoAskWithWhoGaveThem) {
    connection::Callers callers;
    test::FakeCaller one{callers}, other{callers};
    EXPECT_THAT(session_answers(callers), IsEmpty());
    one.session_approvals().add(wanting("push"));
    one.session_approvals().add(wanting("push"));
    other.session_approvals().add(wanting("", "resources/read"));
    const auto all = session_answers(callers);
    ASSERT_THAT(all, SizeIs(2)) << "the same twice is one";
    EXPECT_EQ(all[0].tool, "push");
    EXPECT_EQ(all[0].level, config::Level::AllowSession);
    EXPECT_EQ(all[0].definition, "d 1");
    EXPECT_EQ(all[0].by, core::to_string(one.principal()));
    EXPECT_EQ(all[1].request, "resources/read");
    const auto again = parse_decision(decision_text(all[0]));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->level, config::Level::AllowSession);
    EXPECT_EQ(again->when, all[0].when);
}

TEST(SessionAnswers, ThatAreForgottenCountNoMore) {
    connection::Callers callers;
    test::FakeCaller one{callers}, other{callers};
    for (auto* each : {&one, &other})
        for (const auto* tool : {"push", "log"}) each->session_approvals().add(wanting(tool));
    EXPECT_EQ(
        forget_session_answers(callers, [](const auto& answer) { return answer.tool == "push"; }),
        2u);
    EXPECT_FALSE(one.session_approvals().hold(wanting("push")));
    EXPECT_TRUE(other.session_approvals().hold(wanting("log")));
    EXPECT_THAT(session_answers(callers),
                ElementsAre(Field(&Decision::tool, "log"), Field(&Decision::tool, "log")));
}

TEST(SessionAnswers, AreGoneWithWhoGaveThemAndAnotherDefinitionIsAskedAnew) {
    connection::Callers callers;
    {
        test::FakeCaller one{callers};
        one.session_approvals().add(wanting("push"));
        auto changed = wanting("push");
        changed.definition = "d 2";
        EXPECT_FALSE(one.session_approvals().hold(changed));
        EXPECT_THAT(session_answers(callers), SizeIs(1));
    }
    EXPECT_THAT(session_answers(callers), IsEmpty());
}

TEST(SessionAnswers, ToReadAResourceAreToSubscribeToItTooAndNotTheOtherWayRound) {
    connection::SessionApprovals given;
    given.add(wanting("", "resources/read"));
    EXPECT_TRUE(given.hold(wanting("", "resources/subscribe")));
    EXPECT_FALSE(given.hold(wanting("", "prompts/get")));
    connection::SessionApprovals other;
    other.add(wanting("", "resources/subscribe"));
    EXPECT_FALSE(other.hold(wanting("", "resources/read")));
    EXPECT_FALSE(other.hold(wanting("resources/subscribe"))) << "a tool of that name is another";
}

}  // namespace
}  // namespace patchbay::service
