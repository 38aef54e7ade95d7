#include "service/things.hpp"

#include "support/result_schema.hpp"
#include "unit/service/fixture.hpp"

namespace patchbay::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Things : public ServiceTest {
protected:
    void offer(const std::string& id, const json::array& uris) {
        auto& server = servers.at(id);
        server.results["server/discover"] = [](const auto&) -> json::value {
            return {{"supportedVersions", {"2026-07-28"}},
                    {"capabilities", {{"resources", json::object()}}}};
        };
        server.results["resources/list"] = [uris](const auto&) -> json::value {
            json::array all;
            for (const auto& uri : uris) all.push_back({{"uri", uri}, {"name", "n"}});
            return {{"resources", all}};
        };
    }
    using Which = ThingListing::Servers;
    ThingList list(const std::string& server = {}, Which which = Which::Connect) {
        std::optional<ThingList> listed;
        const auto listing = list_things(known(), caller, Kind::Resources, server, which,
                                         [&](ThingList told) { listed = std::move(told); });
        EXPECT_FALSE(listed) << "told from inside the call";
        EXPECT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
        return listed.value_or(ThingList());
    }
    static std::vector<std::string> uris(const ThingList& list) {
        std::vector<std::string> found;
        for (const auto& thing : list.things)
            found.push_back(thing.server + " " +
                            std::string(thing.definition.at("uri").as_string()));
        return found;
    }
};

ThingList listed(const std::vector<std::pair<const char*, json::object>>& things) {
    ThingList list;
    for (const auto& [server, definition] : things) list.things.push_back({server, definition, {}});
    return list;
}

TEST_F(Things, ComeInTheOrderOfTheirServersWhoeverAnswersFirst) {
    offer("git", {"b:2", "a:1"});
    offer("github", {"a:0"});
    const auto all = list();
    EXPECT_THAT(uris(all), ElementsAre("git b:2", "git a:1", "github a:0"));
    EXPECT_THAT(all.errors, IsEmpty());
    EXPECT_EQ(all.answered, 2u);
    const auto told = json::parse(to_json(all, Kind::Resources));
    EXPECT_TRUE(test::is_a("resources", told)) << told;
    EXPECT_EQ(told.at_pointer("/resources/2/server"), "github");
}

TEST_F(Things, ThatAreNoObjectsAreLeftOutAndTold) {
    offer("git", {});
    servers.at("git").results["resources/list"] = [](const auto&) -> json::value {
        return {{"resources", {5, {{"uri", "a:1"}}, "x"}}};
    };
    testing::internal::CaptureStderr();
    const auto all = list();
    const auto told = testing::internal::GetCapturedStderr();
    EXPECT_THAT(uris(all), ElementsAre("git a:1"));
    EXPECT_THAT(told,
                HasSubstr("server \"git\": resources/list: left out 2 items that are no object"));
}

// Some announce resources and know nothing of templates.
TEST_F(Things, OfAServerThatDoesNotKnowTheListAreNone) {
    offer("git", {"a:1"});
    offer("github", {});
    servers.at("github").results.erase("resources/list");
    servers.at("github").errors["resources/list"] = {-32601, "Method not found"};
    const auto all = list();
    EXPECT_THAT(uris(all), ElementsAre("git a:1"));
    EXPECT_THAT(all.errors, IsEmpty());
    EXPECT_EQ(all.answered, 2u);
    servers.at("github").errors["resources/list"] = {-32000, "busy"};
    EXPECT_EQ(list().errors.size(), 1u);
}

TEST_F(Things, OfAServerThatOffersNoneAreNoError) {
    offer("git", {"a:1"});
    const auto all = list();
    EXPECT_THAT(uris(all), ElementsAre("git a:1"));
    EXPECT_THAT(all.errors, IsEmpty());
    EXPECT_EQ(all.answered, 2u);
    EXPECT_TRUE(servers.at("github").requests("resources/list").empty());
}

TEST_F(Things, OfAServerThatIsNotThereAreNamedBesideTheOthers) {
    offer("git", {"a:1"});
    servers.at("github").refuse_open = true;
    const auto all = list();
    EXPECT_THAT(uris(all), ElementsAre("git a:1"));
    ASSERT_EQ(all.errors.size(), 1u);
    EXPECT_EQ(all.errors[0].server, "github");
    EXPECT_TRUE(test::is_a("resources", json::parse(to_json(all, Kind::Resources))));
    const auto one = list("github");
    ASSERT_EQ(one.errors.size(), 1u);
    EXPECT_THAT(one.errors[0].error.message, HasSubstr("no such program"));
}

TEST_F(Things, ThatRulesForbidAreNoErrorBesideOthersAndOneAlone) {
    permissions.deny = {"mcp__github__*"};
    offer("git", {"a:1"});
    offer("github", {"a:2"});
    const auto all = list();
    EXPECT_THAT(uris(all), ElementsAre("git a:1"));
    EXPECT_THAT(all.errors, IsEmpty());
    EXPECT_EQ(all.denied.size(), 1u);
    EXPECT_EQ(servers.at("github").opened, 0) << "it is not even started";
    const auto one = list("github");
    ASSERT_EQ(one.errors.size(), 1u);
    EXPECT_EQ(one.errors[0].error.code, ErrorCode::Denied);
    EXPECT_EQ(nobody_answered(one.errors).code, ErrorCode::Denied);
}

TEST_F(Things, OfServersThatDidNotAnswerInTimeAreCutShort) {
    offer("git", {"a:1"});
    offer("github", {"a:2"});
    servers.at("github").results.erase("resources/list");
    std::optional<ThingList> told;
    const auto listing = list_things(known(), caller, Kind::Resources, "", Which::Connect,
                                     [&](ThingList all) { told = std::move(all); });
    EXPECT_THAT(listing->silent(), ElementsAre("git", "github"));
    ASSERT_TRUE(
        loop.run_until([&] { return listing->silent().size() == 1; }, core::Clock::now() + 20s));
    EXPECT_FALSE(told);
    EXPECT_THAT(uris(listing->so_far()), ElementsAre("git a:1"));
    EXPECT_THAT(listing->silent(), ElementsAre("github"));
    listing->cut_short();
    ASSERT_TRUE(told);
    EXPECT_THAT(uris(*told), ElementsAre("git a:1"));
    ASSERT_EQ(told->errors.size(), 1u) << "who had answered was not interrupted";
    EXPECT_EQ(told->errors[0].server, "github");
    EXPECT_EQ(told->errors[0].error.code, ErrorCode::Cancelled);
    listing->cut_short();
    EXPECT_EQ(told->errors.size(), 1u) << "told once";
}

TEST_F(Things, ThatWereListedBeforeAreShownAndStartNobody) {
    offer("git", {"b:2", "a:1"});
    const auto keep = [&](const std::string& id, const std::string& text, bool outdated = false) {
        const auto& spec = known().connections().find(id)->get().spec();
        catalogue->publish(id, catalogue::List::Resources,
                           std::make_shared<const catalogue::Items>(
                               catalogue::Items{known().origin_of(spec), {text}}));
        if (outdated) catalogue->outdate(id, catalogue::List::Resources);
    };
    keep("git", R"({"uri":"old:1"})");
    keep("github", R"({"uri":"old:2"})");
    auto shown = list({}, Which::Known);
    EXPECT_THAT(uris(shown), ElementsAre("git old:1", "github old:2"));
    EXPECT_EQ(shown.answered, 2u);
    ASSERT_EQ(shown.heard.size(), 2u);
    EXPECT_TRUE(shown.heard[0].standing.recalled);
    EXPECT_EQ(servers.at("git").opened + servers.at("github").opened, 0);
    EXPECT_THAT(uris(list("github", Which::Known)), ElementsAre("github old:2"));
    EXPECT_THAT(uris(list({}, Which::AsTheyAre)), ElementsAre("git old:1", "github old:2"));
    keep("git", R"({"uri":"old:1"})", true);
    shown = list({}, Which::Known);
    EXPECT_THAT(uris(shown), ElementsAre("git b:2", "git a:1", "github old:2"))
        << "the server has said that it has others";
    EXPECT_FALSE(shown.heard[0].standing.recalled);
    EXPECT_EQ(servers.at("github").opened, 0);
    const auto& spec = known().connections().find("git")->get().spec();
    const auto* kept = catalogue->items("git", known().origin_of(spec), catalogue::List::Resources);
    ASSERT_TRUE(kept);
    EXPECT_THAT(kept->items->texts, ElementsAre(HasSubstr("b:2"), HasSubstr("a:1")));
    offer("git", {"c:3"});
    EXPECT_THAT(uris(list({}, Which::Known)), ElementsAre("git c:3", "github old:2"))
        << "who is ready is asked";
    permissions.deny = {"mcp__github__*"};
    set_rules();
    shown = list({}, Which::Known);
    EXPECT_THAT(uris(shown), ElementsAre("git c:3")) << "the rules of now hold";
    EXPECT_EQ(shown.denied.size(), 1u);
}

TEST_F(Things, OfOneThatDoesNotComeWhatItListedLastStandsBesideTheError) {
    offer("git", {"a:1"});
    const auto& spec = known().connections().find("github")->get().spec();
    catalogue->publish("github", catalogue::List::Resources,
                       std::make_shared<const catalogue::Items>(
                           catalogue::Items{known().origin_of(spec), {R"({"uri":"old:2"})"}}));
    servers.at("github").refuse_open = true;
    const auto shown = list({}, Which::Refreshed);
    EXPECT_THAT(uris(shown), ElementsAre("git a:1", "github old:2"));
    ASSERT_EQ(shown.errors.size(), 1u);
    EXPECT_EQ(shown.errors[0].server, "github");
    EXPECT_THAT(uris(list()), ElementsAre("git a:1"))
        << "who looks for one wants those that are there";
}

TEST_F(Things, OfAClientWithATokenAreKeptForNobody) {
    offer("git", {"a:1"});
    known();
    test::FakeCaller client{callers, core::Trust::Approves, "token 1"};
    std::optional<ThingList> listed;
    const auto listing = list_things(known(), client, Kind::Resources, "git", Which::Connect,
                                     [&](ThingList told) { listed = std::move(told); });
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
    EXPECT_THAT(uris(*listed), ElementsAre("git a:1"));
    EXPECT_TRUE(catalogue->all_items().empty());
    list("git");
    EXPECT_EQ(catalogue->all_items().size(), 1u);
    EXPECT_FALSE(things_known(known(), client, Kind::Resources, {"github"}));
}

TEST_F(Things, OfAServerAreThereWhileAnotherHasNotEvenStarted) {
    offer("git", {"a:1"});
    offer("github", {"a:2"});
    servers.at("github").results.erase("server/discover");
    servers.at("github").results.erase("initialize");
    const auto listing =
        list_things(known(), caller, Kind::Resources, "", Which::Connect, [](ThingList) {});
    ASSERT_TRUE(loop.run_until([&] { return !listing->so_far().things.empty(); },
                               core::Clock::now() + 20s));
    EXPECT_THAT(listing->silent(), ElementsAre("github"));
}

TEST_F(Things, AsTheyAreNobodyIsConnectedFor) {
    offer("git", {"a:1"});
    std::optional<ThingList> told;
    const auto listing = list_things(known(), caller, Kind::Resources, {}, Which::AsTheyAre,
                                     [&](ThingList all) { told = std::move(all); });
    ASSERT_TRUE(loop.run_until([&] { return told.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(told->errors.size(), 2u);
    EXPECT_EQ(told->answered, 0u);
    EXPECT_EQ(servers.at("git").opened, 0);
    EXPECT_FALSE(connections->held("git", caller.number()));
}

TEST_F(Things, ThatNobodyTellsAreOfOneKindOfErrorWhereAllAgree) {
    const auto of = [](ErrorCode first, ErrorCode second) {
        return nobody_answered({{"a", {first, "x"}}, {"b", {second, "y"}}}).code;
    };
    EXPECT_EQ(of(ErrorCode::Timeout, ErrorCode::Timeout), ErrorCode::Timeout);
    EXPECT_EQ(of(ErrorCode::Timeout, ErrorCode::Denied), ErrorCode::Unavailable);
    EXPECT_EQ(of(ErrorCode::Timeout, ErrorCode::Cancelled), ErrorCode::Cancelled);
    connection::Status status;
    status.state = connection::State::AuthRequired;
    EXPECT_EQ(why_not_ready(status).code, ErrorCode::AuthRequired);
    status.state = connection::State::Failed;
    EXPECT_EQ(why_not_ready(status).code, ErrorCode::Unavailable);
}

TEST(NamedThings, AreTheOneThatOneServerLists) {
    const auto list = listed({{"a", {{"uri", "x:1"}, {"size", 1}}},
                              {"a", {{"uri", 7}}},
                              {"a", {{"uri", "x:2"}}},
                              {"b", {{"uri", "x:2"}}}});
    const auto only = find_thing(list, Kind::Resources, "x:1");
    ASSERT_TRUE(only && *only);
    EXPECT_EQ((*only)->server, "a");
    EXPECT_EQ((*only)->definition->at("size"), 1);
    const auto both = find_thing(list, Kind::Resources, "x:2");
    ASSERT_TRUE(both && !*both);
    EXPECT_EQ(both->error().message,
              R"(resource "x:2" is offered by "a" and "b"; say which with --server)");
    EXPECT_FALSE(find_thing(list, Kind::Resources, "x:3"));
    EXPECT_THAT(not_listed(list, Kind::Resources, "x:33").message,
                HasSubstr(R"(no server lists the resource "x:33")"));
}

// Otherwise its arguments would go to whoever lists the same name while its server is down.
TEST(NamedThings, AreNobodysWhileAnotherThatMayHaveThemCouldNotBeAsked) {
    auto list = listed({{"b", {{"name", "deploy"}}}, {"b", {{"name", "review"}}}});
    list.answered = 1;
    list.errors = {{"a", {ErrorCode::Timeout, "no answer"}}};
    const auto one = find_thing(list, Kind::Prompts, "deploy");
    ASSERT_TRUE(one && !*one);
    EXPECT_EQ(one->error().code, ErrorCode::Unavailable);
    EXPECT_EQ(one->error().message,
              R"(prompt "deploy" is offered by "b", and "a" could not be asked for it; )"
              "if that one is meant, add --server b");
    list.errors.push_back({"c", {ErrorCode::Unavailable, "gone"}});
    EXPECT_THAT(find_thing(list, Kind::Prompts, "deploy")->error().message,
                HasSubstr(R"(and "a" and "c" could not be asked)"));
    EXPECT_FALSE(find_thing(list, Kind::Prompts, "other")) << "nobody lists it";
    list.things.push_back({"d", {{"name", "deploy"}}, {}});
    EXPECT_EQ(find_thing(list, Kind::Prompts, "deploy")->error().code, ErrorCode::Invalid);
    list.things.pop_back();
    list.errors.clear();
    list.denied = {{"a", {ErrorCode::Denied, "denied"}}};
    const auto beside = find_thing(list, Kind::Prompts, "deploy");
    ASSERT_TRUE(beside && *beside) << "what is denied has nothing for this caller";
    EXPECT_EQ((*beside)->server, "b");
}

TEST(NamedThings, OfANamedServerNeedNotBeListed) {
    auto list = listed({{"a", {{"name", "p"}}}});
    EXPECT_TRUE(find_thing_of(list, Kind::Prompts, "p", "a")->definition);
    EXPECT_FALSE(find_thing_of(list, Kind::Prompts, "q", "a")->definition);
    list.errors = {{"a", {ErrorCode::Unsupported, "no prompts"}}};
    EXPECT_FALSE(find_thing_of(list, Kind::Prompts, "q", "a")->definition) << "it may be there";
    list.errors = {{"a", {ErrorCode::Unavailable, "gone"}}};
    EXPECT_EQ(find_thing_of(list, Kind::Prompts, "q", "a").error().message, "gone");
}

TEST(NamedThings, ThatNobodyListsMayComeOfATemplate) {
    const auto list = listed({{"a", {{"uriTemplate", "repo://{owner}/{name}"}}}});
    const auto filled = explained_by_template(list, "repo://me/this");
    ASSERT_TRUE(filled);
    EXPECT_THAT(filled->message, HasSubstr("to read it, add --server a"));
    const auto itself = explained_by_template(list, "repo://{owner}/{name}");
    ASSERT_TRUE(itself);
    EXPECT_EQ(itself->code, ErrorCode::Invalid);
    EXPECT_THAT(itself->message, HasSubstr("write a value in place of owner, name"));
    EXPECT_FALSE(explained_by_template(list, "file:///x"));
}

}  // namespace
}  // namespace patchbay::service
