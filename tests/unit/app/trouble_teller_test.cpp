// Which diagnostics a verb has to do with that names servers.
#include "app/trouble_teller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace patchbay::app {
namespace {

using config::Diagnostic;
using config::Scope;
using config::Severity;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Entries = TroubleTeller::Entries;

Diagnostic trouble(const std::string& text, const std::string& server,
                   Severity severity = Severity::Error, Scope scope = Scope::User) {
    Diagnostic made{};
    made.message = text;
    made.server = server;
    made.severity = severity;
    made.place.scope = scope;
    return made;
}

// "git" is in force, nothing else is.
std::vector<std::string> told(const std::vector<Diagnostic>& all,
                              const std::vector<std::string>& servers,
                              Entries entries = Entries::InForce) {
    std::vector<std::string> texts;
    for (const auto& each :
         troubles_of(all, servers, entries, [](const std::string& id) { return id == "git"; }))
        texts.push_back(each.message);
    return texts;
}

TEST(TroublesOf, AWholeFileAreToldWhateverIsAskedFor) {
    EXPECT_THAT(told({trouble("broken", ""), trouble("odd", "", Severity::Warning),
                      trouble("in vain", "", Severity::Warning, Scope::Session)},
                     {"git"}),
                ElementsAre("broken", "in vain"));
}

TEST(TroublesOf, OtherServersAreNobodysBusiness) {
    EXPECT_THAT(told({trouble("of git", "git"), trouble("of github", "github")}, {"git"}),
                ElementsAre("of git"));
}

TEST(TroublesOf, OneThatIsNotInForceAreToldByTheErrorThatTheVerbEndsWith) {
    const std::vector<Diagnostic> all{
        trouble("of github", "github"),
        trouble("in vain", "github", Severity::Warning, Scope::Session)};
    EXPECT_THAT(told(all, {"github"}), ElementsAre("in vain"));
    EXPECT_THAT(told(all, {"github"}, Entries::All), ElementsAre("of github", "in vain"));
}

TEST(TroublesOf, AServerThatIsNotThereAreToldToWhoAsksForNearlyThatName) {
    auto near = trouble("no server gti", "gti");
    near.near = {"git"};
    EXPECT_THAT(told({near}, {"git"}), ElementsAre("no server gti"));
    EXPECT_THAT(told({near}, {"github"}), IsEmpty());
}

}  // namespace
}  // namespace patchbay::app
