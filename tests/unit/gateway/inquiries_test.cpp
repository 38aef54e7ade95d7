// Whose client is asked what a server asks without saying for which request; no session is needed.
#include "gateway/inquiries.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace patchbay::gateway {
namespace {

const std::vector<std::string> kServers{"git", "github"};

ClientRequest modern(const std::string& id, const std::string& server, Route route = 7) {
    ClientRequest made{id, "tools/call", {}, route};
    made.meta.era = protocol::Era::Modern;
    made.meta.capabilities = R"({"elicitation":{}})";
    made.tool = "mcp__" + server + "__log";
    return made;
}

RequestNumber asked_by(const std::string& server, const ClientRequests& requests) {
    return request_to_ask_by(requests, server, kServers, "elicitation/create", {});
}

TEST(RequestToAsk, IsTheOldestOfThatServerWhoseClientWaits) {
    ClientRequests requests;
    requests.add(modern("1", "github"));
    const auto told_to_ask_again = requests.add(modern("", "git"));
    EXPECT_EQ(asked_by("git", requests), told_to_ask_again) << "better than none";
    const auto waiting = requests.add(modern("2", "git"));
    requests.add(modern("3", "git"));
    EXPECT_EQ(asked_by("git", requests), waiting);
}

TEST(RequestToAsk, IsNoneWhereSeveralClientsMayBeMeant) {
    ClientRequests requests;
    requests.add(modern("1", "git", 7));
    requests.add(modern("2", "git", 8));
    EXPECT_EQ(asked_by("git", requests), 0u);
    const auto of_the_other = requests.add(modern("3", "github", 8));
    EXPECT_EQ(asked_by("github", requests), of_the_other);
}

TEST(RequestToAsk, IsNoneThatCannotCarryTheQuestion) {
    ClientRequests requests;
    auto unable = modern("1", "git");
    unable.meta.capabilities = "{}";
    requests.add(unable);
    auto unreadable = modern("2", "git");
    unreadable.meta.capabilities = "[]";
    requests.add(unreadable);
    auto listing = modern("3", "git");
    listing.method = "tools/list";
    requests.add(listing);
    auto legacy = modern("4", "git");
    legacy.meta.era = protocol::Era::Legacy;
    requests.add(legacy);
    EXPECT_EQ(asked_by("git", requests), 0u);
}

}  // namespace
}  // namespace patchbay::gateway
