#include "service/trust_file.hpp"

#include "support/scratch_folder.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace patchbay::service {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

config::Proposal proposal(const std::string& id, const std::string& digest,
                          const std::string& directory = "/work") {
    config::Proposal made{};
    made.id = id;
    made.directory = directory;
    made.digest = digest;
    return made;
}

class TrustFileTest : public ::testing::Test {
protected:
    void write(const std::string& text) const {
        std::filesystem::create_directory(state);
        ASSERT_EQ(::chmod(state.c_str(), 0700), 0);
        std::ofstream(state + "/trust.json") << text;
        ASSERT_EQ(::chmod((state + "/trust.json").c_str(), 0600), 0);
    }
    std::string record() const { return test::read_file(state + "/trust.json"); }

    const test::ScratchFolder folder;
    const std::string state = folder / "state";
};

TEST_F(TrustFileTest, BelievesOnlyTheDigestThatWasApprovedInThatProject) {
    TrustFile trust(state);
    EXPECT_FALSE(trust.approved(proposal("a", "1")));
    ASSERT_TRUE(trust.approve({proposal("a", "1"), proposal("b", "2"), proposal("a", "3", "/o")}));
    const TrustFile next(state);
    for (const auto* each : {&std::as_const(trust), &next}) {
        EXPECT_TRUE(each->approved(proposal("a", "1")));
        EXPECT_TRUE(each->approved(proposal("b", "2")));
        EXPECT_TRUE(each->approved(proposal("a", "3", "/o")));
        EXPECT_FALSE(each->approved(proposal("a", "2")));
        EXPECT_FALSE(each->approved(proposal("c", "1")));
        EXPECT_FALSE(each->approved(proposal("a", "1", "/o")));
        EXPECT_FALSE(each->approved(proposal("a", "1", "/elsewhere")));
        EXPECT_TRUE(each->trouble());
    }
}

TEST_F(TrustFileTest, AnApprovalReplacesTheOneBefore) {
    TrustFile trust(state);
    ASSERT_TRUE(trust.approve({proposal("a", "1"), proposal("b", "2")}));
    ASSERT_TRUE(trust.approve({proposal("a", "9")}));
    EXPECT_FALSE(trust.approved(proposal("a", "1")));
    EXPECT_TRUE(trust.approved(proposal("a", "9")));
    EXPECT_TRUE(trust.approved(proposal("b", "2"))) << "what is not named stays";
}

TEST_F(TrustFileTest, NamesTheKeysThatHaveChangedSinceAndKeepsNoValue) {
    TrustFile trust(state);
    auto made = proposal("a", "1");
    made.definition = {
        {"server",
         {{"command", "run"}, {"args", {"-v"}}, {"env", {{"KEY", "s3cr3t"}, {"SAME", "x"}}}}},
        {"program", "/bin/run"},
        {"folder", "/work"}};
    ASSERT_TRUE(trust.approve({made}));
    EXPECT_THAT(record(), Not(HasSubstr("s3cr3t")));
    EXPECT_THAT(trust.changed(made), IsEmpty());
    made.digest = "2";
    made.definition["server"] = {{"command", "run"},
                                 {"args", {"-w"}},
                                 {"cwd", "/"},
                                 {"env", {{"KEY", "other"}, {"SAME", "x"}}}};
    made.definition["program"] = nullptr;
    EXPECT_THAT(TrustFile(state).changed(made), ElementsAre("args", "cwd", "env.KEY", "program"));
    EXPECT_THAT(trust.changed(proposal("b", "1")), IsEmpty()) << "never approved";
}

TEST_F(TrustFileTest, ARecordOfADigestAloneIsAnApproval) {
    write(R"({"version":1,"projects":{"/work":{"a":"1"}}})");
    EXPECT_TRUE(TrustFile(state).approved(proposal("a", "1")));
    EXPECT_FALSE(TrustFile(state).approved(proposal("a", "2")));
    EXPECT_THAT(TrustFile(state).changed(proposal("a", "2")), IsEmpty());
}

TEST_F(TrustFileTest, WritesNothingThatItCouldNotReadAgain) {
    TrustFile trust(state);
    ASSERT_TRUE(trust.approve({proposal("a", "1")}));
    const auto before = record();
    const auto odd = trust.approve({proposal("a", "1", "/repo\xff")});
    ASSERT_FALSE(odd);
    EXPECT_THAT(odd.error().message, HasSubstr("is not UTF-8"));
    const auto long_path = "/" + std::string(TrustFile::kFileBytes, 'p');
    const auto large = trust.approve({proposal("a", "1", long_path)});
    ASSERT_FALSE(large);
    EXPECT_THAT(large.error().message, HasSubstr("would be over 4 MiB: revoke"));
    EXPECT_EQ(record(), before);
    EXPECT_TRUE(trust.approved(proposal("a", "1")));
    EXPECT_TRUE(trust.approve({proposal("b", "2")}));
}

TEST_F(TrustFileTest, AddsToWhatAnotherProcessHasWritten) {
    TrustFile ours(state), theirs(state);
    EXPECT_FALSE(ours.approved(proposal("b", "2"))) << "read before theirs was written";
    ASSERT_TRUE(theirs.approve({proposal("b", "2")}));
    ASSERT_TRUE(ours.approve({proposal("a", "1")}));
    EXPECT_TRUE(ours.approved(proposal("b", "2")));
    EXPECT_TRUE(TrustFile(state).approved(proposal("b", "2")));
}

TEST_F(TrustFileTest, NamesWhatIsApprovedInAProjectInOrder) {
    TrustFile trust(state);
    EXPECT_THAT(trust.ids("/work"), IsEmpty());
    ASSERT_TRUE(trust.approve({proposal("b", "1"), proposal("a", "1"), proposal("c", "1", "/o")}));
    EXPECT_THAT(trust.ids("/work"), ElementsAre("a", "b"));
    EXPECT_THAT(trust.ids("/o"), ElementsAre("c"));
}

TEST_F(TrustFileTest, RevokesWhatIsNamedAndForgetsAProjectWithoutAny) {
    TrustFile trust(state);
    ASSERT_TRUE(trust.approve({proposal("a", "1"), proposal("b", "1"), proposal("a", "1", "/o")}));
    ASSERT_TRUE(trust.revoke("/work", {"a"}));
    EXPECT_FALSE(trust.approved(proposal("a", "1")));
    EXPECT_TRUE(trust.approved(proposal("b", "1")));
    EXPECT_TRUE(trust.approved(proposal("a", "1", "/o")));
    ASSERT_TRUE(trust.revoke("/work", {"b"}));
    EXPECT_EQ(record(), R"({"version":1,"projects":{"/o":{"a":{"digest":"1","parts":{}}}}})"
                        "\n");
}

TEST_F(TrustFileTest, RevokesNothingWhenOneOfTheIdsIsNotApproved) {
    TrustFile trust(state);
    ASSERT_TRUE(trust.approve({proposal("a", "1"), proposal("b", "1")}));
    const auto refused = trust.revoke("/work", {"a", "x\x1b"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::NotFound);
    EXPECT_EQ(refused.error().message, "\"x\xef\xbf\xbd\" is not approved in /work; approved: b");
    EXPECT_TRUE(trust.approved(proposal("a", "1")));
    EXPECT_TRUE(TrustFile(state).approved(proposal("a", "1")));
    const auto elsewhere = trust.revoke("/o", {"a"});
    ASSERT_FALSE(elsewhere);
    EXPECT_THAT(elsewhere.error().message, HasSubstr("approved: nothing"));
    EXPECT_THAT(trust.revoke("/o", {std::string(81, 'x')}).error().message,
                HasSubstr('"' + std::string(80, 'x') + "\" is not approved"));
}

TEST_F(TrustFileTest, WithoutAStateDirectoryItApprovesNothing) {
    TrustFile trust("");
    EXPECT_FALSE(trust.approved(proposal("a", "1")));
    EXPECT_TRUE(trust.trouble());
    const auto refused = trust.approve({proposal("a", "1")});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
    EXPECT_FALSE(trust.approved(proposal("a", "1")));
}

TEST_F(TrustFileTest, ADamagedRecordApprovesNothingAndIsNotWrittenOver) {
    for (const std::string text :
         {"", "{", "[]", "{}", R"({"version":1})", R"({"version":1,"projects":[]})",
          R"({"projects":{"/work":{"a":"1"}}})",
          R"({"version":2,"projects":{"/work":{"a":"1"}}})"}) {
        SCOPED_TRACE(text);
        write(text);
        TrustFile trust(state);
        EXPECT_FALSE(trust.approved(proposal("a", "1")));
        const auto why = trust.trouble();
        ASSERT_FALSE(why);
        EXPECT_THAT(why.error().message, AllOf(HasSubstr(trust.path()), HasSubstr("is damaged")));
        EXPECT_FALSE(trust.approve({proposal("a", "1")}));
        EXPECT_FALSE(trust.revoke("/work", {"a"}));
        EXPECT_FALSE(trust.approved(proposal("a", "1")));
        EXPECT_EQ(record(), text);
    }
}

TEST_F(TrustFileTest, WhatIsNoDigestInAGoodRecordApprovesNothing) {
    write(R"({"version":1,"projects":{"/work":{"a":1,"b":"2"},"/o":"a"}})");
    TrustFile trust(state);
    EXPECT_FALSE(trust.approved(proposal("a", "1")));
    EXPECT_TRUE(trust.approved(proposal("b", "2")));
    EXPECT_FALSE(trust.approved(proposal("a", "1", "/o")));
    EXPECT_THAT(trust.ids("/o"), IsEmpty());
    ASSERT_TRUE(trust.approve({proposal("a", "1", "/o")}));
    EXPECT_TRUE(TrustFile(state).approved(proposal("a", "1", "/o")));
}

TEST_F(TrustFileTest, ReadsARecordToItsLimitAndNoneBeyond) {
    const std::string head = R"({"version":1,"projects":{"/work":{"a":"1"}}})";
    write(head + std::string(TrustFile::kFileBytes - head.size(), ' '));
    EXPECT_TRUE(TrustFile(state).approved(proposal("a", "1")));
    write(head + std::string(TrustFile::kFileBytes + 1 - head.size(), ' '));
    const TrustFile larger(state);
    EXPECT_FALSE(larger.approved(proposal("a", "1")));
    const auto why = larger.trouble();
    ASSERT_FALSE(why);
    EXPECT_EQ(why.error().code, ErrorCode::Limit);
}

}  // namespace
}  // namespace patchbay::service
