#include "service/trust.hpp"

#include "support/result_schema.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::service {
namespace {

using ::testing::HasSubstr;

config::Proposal proposal(const std::string& id, const std::string& digest = "d") {
    config::Proposal made{};
    made.id = id;
    made.directory = "/work";
    made.digest = digest;
    made.definition = {{"server", {{"command", "/bin/true"}}}};
    return made;
}

class Trust : public ::testing::Test {
protected:
    const test::ScratchFolder folder;
    TrustFile trust{folder.path() + "/state"};
    config::Config config;
};

TEST_F(Trust, AProposalIsNewUntilItWasApprovedAndChangedAfterwards) {
    auto files = proposal("files");
    config.untrusted = {files};
    EXPECT_EQ(stage_of(files, trust), Stage::New);
    ASSERT_TRUE(trust.approve({files}));
    TrustFile later(folder.path() + "/state");
    EXPECT_EQ(stage_of(files, later), Stage::Changed) << "it waits though its id was approved";
    files.approved = true;
    EXPECT_EQ(stage_of(files, later), Stage::Approved);
    for (const auto& each : {files, config.untrusted[0]})
        EXPECT_TRUE(test::is_a("proposal", to_json(each, later, config)));
}

TEST_F(Trust, IsShownWithTheWordForHowFarItIs) {
    auto files = proposal("files");
    EXPECT_EQ(to_json(files, trust, config).at("state"), "new");
    ASSERT_TRUE(trust.approve({files}));
    EXPECT_EQ(to_json(files, trust, config).at("state"), "changed");
    files.approved = true;
    EXPECT_EQ(to_json(files, trust, config).at("state"), "approved");
}

TEST_F(Trust, IsShownWithTheTableThatTheServerWouldUse) {
    auto server = proposal("files"), table = proposal("auth.corp");
    server.definition = {{"server", {{"auth", "corp"}}}, {"auth_table", "digest"}};
    table.definition = {{"auth", {{"method", "bearer"}}}};
    config.auth["corp"] = {{"method", "oauth"}};
    config.untrusted = {server};
    EXPECT_EQ(definition_of(server, {server}, config).at("auth_table"),
              boost::json::value({{"method", "oauth"}}))
        << "the user's";
    config.untrusted = {server, table};
    EXPECT_EQ(definition_of(server, {server}, config).at("auth_table"),
              boost::json::value({{"method", "bearer"}}))
        << "the one that waits";
    EXPECT_EQ(definition_of(server, {server, table}, config).at("auth_table"), "digest")
        << "it is shown itself";
}

TEST_F(Trust, ChoosesByIdsAndNamesNoOtherOne) {
    config.untrusted = {proposal("files"), proposal("web")};
    config::Server mine;
    mine.id = "mine";
    config.servers = {mine};
    ASSERT_EQ(chosen({"web", "files"}, config).value().size(), 2u);
    EXPECT_EQ(chosen({"file"}, config).error().message,
              "\"file\" does not wait for an approval; waiting: files, web");
    EXPECT_THAT(chosen({"mine"}, config).error().message, HasSubstr("\"mine\" needs no approval"));
}

TEST_F(Trust, IsThereForWhatIsApprovedAndWaitsForNothing) {
    EXPECT_FALSE(is_approved("files", config));
    config.approved = {"files", "auth.corp"};
    EXPECT_TRUE(is_approved("files", config))
        << "though it may be in no server of the configuration";
    EXPECT_TRUE(is_approved("auth.corp", config));
    config.untrusted = {proposal("files")};
    EXPECT_FALSE(is_approved("files", config)) << "a stronger file has another definition";
}

}  // namespace
}  // namespace patchbay::service
