#include "catalogue/catalogue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::catalogue {
namespace {

const Time kYesterday = std::chrono::system_clock::from_time_t(1'790'000'000);

std::shared_ptr<const Listing> listing(const std::string& definition, const std::string& tool) {
    return std::make_shared<const Listing>(Listing{definition, {{tool, {}, {}}}});
}

TEST(Catalogue, KeepsWhatAServerListedLast) {
    Catalogue catalogue;
    EXPECT_TRUE(catalogue.listings().empty());
    catalogue.publish("a", listing("1", "old"));
    catalogue.publish("b", listing("1", "other"));
    catalogue.publish("a", listing("1", "new"));
    ASSERT_EQ(catalogue.listings().size(), 2u) << "one definition, and yet two servers";
    EXPECT_EQ(catalogue.listings().at("a")->tools.at(0).name, "new");
    EXPECT_EQ(catalogue.listings().at("b")->tools.at(0).name, "other");
}

TEST(Catalogue, AListThatBrokeOffReplacesNoneThatSaysMore) {
    const auto broken_off = [](const std::string& definition, std::vector<const char*> tools) {
        Listing listing{definition, {}, false};
        for (const auto* tool : tools) listing.tools.push_back({tool, {}, {}});
        return std::make_shared<const Listing>(std::move(listing));
    };
    Catalogue catalogue;
    const auto shown = [&] {
        std::string names;
        for (const auto& tool : catalogue.listings().at("a")->tools) names += tool.name;
        return names;
    };
    catalogue.publish("a", broken_off("1", {"b", "c"}));
    EXPECT_EQ(shown(), "bc") << "some are better than none";
    catalogue.publish("a", broken_off("1", {}));
    EXPECT_EQ(shown(), "bc");
    catalogue.publish("a", broken_off("1", {"d", "e"}));
    EXPECT_EQ(shown(), "de") << "the newer one of two that say as much";
    catalogue.publish("a", listing("1", "w"));
    EXPECT_EQ(shown(), "w");
    const auto version = catalogue.version();
    catalogue.publish("a", broken_off("1", {"f", "g"}));
    EXPECT_EQ(shown(), "w");
    EXPECT_EQ(catalogue.version(), version) << "nothing has changed";
    catalogue.publish("a", listing("1", "v"));
    EXPECT_EQ(shown(), "v");
    catalogue.publish("a", broken_off("2", {}));
    EXPECT_EQ(shown(), "") << "of another definition it says nothing";
}

TEST(Catalogue, AListingThatSomebodyKeepsOutlivesItsPlace) {
    Catalogue catalogue;
    catalogue.publish("a", listing("1", "old"));
    const auto kept = catalogue.listings().at("a");
    catalogue.publish("a", listing("1", "new"));
    EXPECT_EQ(kept->tools.at(0).name, "old");
}

TEST(Catalogue, ForgetsWhatAServerListedAsSomethingElse) {
    Catalogue catalogue;
    catalogue.publish("a", listing("1", "tool"));
    catalogue.publish("b", listing("1", "tool"));
    catalogue.redefine("a", "1");
    EXPECT_TRUE(catalogue.listings().contains("a")) << "it is what it was";
    catalogue.redefine("a", "2");
    EXPECT_FALSE(catalogue.listings().contains("a"));
    catalogue.forget("b");
    EXPECT_TRUE(catalogue.listings().empty());
}

TEST(Catalogue, HasAnotherVersionWheneverItHasOtherListings) {
    Catalogue catalogue;
    std::uint64_t last = catalogue.version();
    const auto changed = [&] { return std::exchange(last, catalogue.version()) != last; };
    catalogue.publish("a", listing("1", "tool"));
    EXPECT_TRUE(changed());
    catalogue.redefine("a", "1");
    catalogue.redefine("nobody", "2");
    catalogue.forget("nobody");
    EXPECT_FALSE(changed());
    catalogue.redefine("a", "2");
    EXPECT_TRUE(changed());
    catalogue.publish("a", listing("2", "tool"));
    EXPECT_TRUE(changed());
    catalogue.forget("a");
    EXPECT_TRUE(changed());
}

TEST(Catalogue, WhatIsListedAgainAsItWasChangesNothing) {
    Catalogue catalogue;
    catalogue.publish("a", listing("1", "tool"));
    const auto version = catalogue.version();
    catalogue.publish("a", listing("1", "tool"));
    EXPECT_EQ(catalogue.version(), version);
    Listing says_more = *listing("1", "tool");
    says_more.instructions = "Use it.";
    catalogue.publish("a", std::make_shared<const Listing>(std::move(says_more)));
    EXPECT_NE(catalogue.version(), version);
}

TEST(Catalogue, WhatAnEarlierHostWasToldTakesThePlaceOfNothing) {
    Catalogue catalogue;
    catalogue.recall("a", listing("1", "old"), kYesterday);
    EXPECT_EQ(catalogue.listings().at("a")->tools.at(0).name, "old");
    catalogue.publish("a", listing("1", "new"));
    catalogue.recall("a", listing("1", "old"), kYesterday);
    EXPECT_EQ(catalogue.listings().at("a")->tools.at(0).name, "new");
}

TEST(Catalogue, KnowsSinceWhenAndFromWhomItHasWhatItHas) {
    Catalogue catalogue;
    EXPECT_EQ(catalogue.standing("a"), nullptr);
    catalogue.recall("a", listing("1", "tool"), kYesterday);
    ASSERT_NE(catalogue.standing("a"), nullptr);
    EXPECT_EQ(catalogue.standing("a")->listed, kYesterday);
    EXPECT_TRUE(catalogue.standing("a")->recalled);
    const auto version = catalogue.version();
    const auto now = kYesterday + std::chrono::hours(24);
    catalogue.publish("a", listing("1", "tool"), now);
    EXPECT_EQ(catalogue.standing("a")->listed, now);
    EXPECT_FALSE(catalogue.standing("a")->recalled) << "it was heard in this host";
    EXPECT_EQ(catalogue.version(), version);
    catalogue.forget("a");
    EXPECT_EQ(catalogue.standing("a"), nullptr);
}

struct Heard final : DriftWatcher {
    void on_drift(const Drift& drift) override { drifts.push_back(drift); }
    std::vector<Drift> drifts;
};

TEST(Catalogue, TellsOnceWhatAServerListsOtherwise) {
    Catalogue catalogue;
    Heard heard;
    catalogue.watch(heard);
    catalogue.publish("new", listing("1", "x"));
    EXPECT_TRUE(heard.drifts.empty()) << "nothing was known of it";
    catalogue.recall("a", listing("1", "x"), kYesterday);
    catalogue.publish("a", listing("1", "x"));
    EXPECT_TRUE(heard.drifts.empty()) << "it is as it was";
    catalogue.publish("a", listing("1", "y"));
    catalogue.publish("a", listing("1", "y"));
    ASSERT_EQ(heard.drifts.size(), 1u);
    EXPECT_EQ(heard.drifts[0].server, "a");
    EXPECT_EQ(summary(heard.drifts[0]), "1 added (y), 1 removed (x)");
    EXPECT_FALSE(heard.drifts[0].of_earlier_host) << "this one was told of x as well";
    EXPECT_EQ(catalogue.drifts("a").size(), 1u);
    catalogue.publish("a", listing("2", "z"));
    EXPECT_EQ(heard.drifts.size(), 1u) << "another definition is another server";
    catalogue.forget("a");
    EXPECT_TRUE(catalogue.drifts("a").empty());
    catalogue.unwatch(heard);
}

TEST(Catalogue, TellsThatAnEarlierHostWasToldSomethingElse) {
    Catalogue catalogue;
    Heard heard;
    catalogue.watch(heard);
    catalogue.recall("a", listing("1", "x"), kYesterday);
    auto half = *listing("1", "y");
    half.whole = false;
    catalogue.publish("a", std::make_shared<const Listing>(half));
    EXPECT_TRUE(heard.drifts.empty()) << "what a list that broke off lacks may be there";
    catalogue.publish("a", listing("1", "y"));
    ASSERT_EQ(heard.drifts.size(), 1u);
    EXPECT_TRUE(heard.drifts[0].of_earlier_host);
    EXPECT_EQ(heard.drifts[0].before, kYesterday);
    catalogue.unwatch(heard);
}

TEST(Catalogue, TellsWhoWatchesOfEachChangeAndOfNoOther) {
    struct Count final : Watcher {
        void on_published() override { ++times; }
        int times = 0;
    } count;
    Catalogue catalogue;
    catalogue.watch(count);
    catalogue.publish("a", listing("1", "x"));
    EXPECT_EQ(count.times, 1);
    catalogue.forget("b");
    EXPECT_EQ(count.times, 1) << "nobody had it";
    catalogue.redefine("a", "2");
    EXPECT_EQ(count.times, 2);
    catalogue.recall("c", listing("1", "x"), kYesterday);
    catalogue.publish("c", listing("1", "x"));
    EXPECT_EQ(count.times, 4) << "that it is still so is worth knowing for who keeps it";
    catalogue.publish("c", listing("1", "x"));
    EXPECT_EQ(count.times, 4);
    catalogue.unwatch(count);
    catalogue.publish("a", listing("2", "x"));
    EXPECT_EQ(count.times, 4);
}

std::shared_ptr<const Items> items(const std::string& definition, std::vector<std::string> texts) {
    return std::make_shared<const Items>(Items{{definition, ""}, std::move(texts)});
}

TEST(Catalogue, WhatIsListedBesideToolsIsOfItsDefinitionAndTellsDrift) {
    Catalogue catalogue;
    struct Told final : DriftWatcher {
        void on_drift(const Drift& drift) override { all.push_back(drift); }
        std::vector<Drift> all;
    } heard;
    catalogue.watch(heard);
    EXPECT_EQ(catalogue.items("a", {"1", ""}, List::Prompts), nullptr);
    catalogue.publish("a", List::Prompts, items("1", {R"({"name":"p"})", R"({"name":"q"})"}));
    catalogue.publish("a", List::Prompts, items("1", {R"({ "name":"q"})", R"({"name":"p"})"}));
    EXPECT_TRUE(heard.all.empty()) << "in another order it is the same";
    catalogue.publish("a", List::Prompts, items("1", {R"({"name":"p","title":"P"})"}));
    ASSERT_EQ(heard.all.size(), 1u);
    EXPECT_EQ(heard.all[0].list, List::Prompts);
    EXPECT_EQ(summary(heard.all[0]), "1 removed (q), 1 changed (p: title)");
    EXPECT_EQ(catalogue.drifts("a").size(), 1u);
    EXPECT_EQ(catalogue.items("a", {"1", ""}, List::Resources), nullptr);
    EXPECT_EQ(catalogue.items("a", {"1", "/elsewhere"}, List::Prompts), nullptr);
    EXPECT_EQ(catalogue.items("a", {"2", ""}, List::Prompts), nullptr);
    ASSERT_NE(catalogue.items("a", {"1", ""}, List::Prompts), nullptr);
    EXPECT_FALSE(catalogue.items("a", {"1", ""}, List::Prompts)->outdated);
    catalogue.outdate("a", List::Prompts);
    EXPECT_TRUE(catalogue.items("a", {"1", ""}, List::Prompts)->outdated);
    catalogue.redefine("a", "2");
    EXPECT_EQ(catalogue.items("a", {"1", ""}, List::Prompts), nullptr);
    catalogue.publish("b", List::Prompts, items("1", {}));
    catalogue.forget("b");
    EXPECT_TRUE(catalogue.all_items().empty());
}

TEST(Catalogue, WhatAServerListsForWhoeverDeclaresSomethingElseIsNoDrift) {
    Catalogue catalogue;
    const auto as = [](const std::string& declared, const std::string& tool) {
        auto said = *listing("1", tool);
        said.declared = declared;
        return std::make_shared<const Listing>(std::move(said));
    };
    const auto of = [](const std::string& declared, const std::string& text) {
        auto said = *items("1", {text});
        said.declared = declared;
        return std::make_shared<const Items>(std::move(said));
    };
    catalogue.recall("a", as("sampling", "x"), kYesterday);
    catalogue.publish("a", as("", "y"));
    EXPECT_EQ(catalogue.listings().at("a")->tools.at(0).name, "y") << "the last one counts";
    catalogue.publish("b", List::Prompts, of("sampling", R"({"name":"p"})"));
    catalogue.publish("b", List::Prompts, of("", R"({"name":"q"})"));
    EXPECT_EQ(catalogue.items("b", {"1", ""}, List::Prompts)->items->texts.at(0),
              R"({"name":"q"})");
    EXPECT_TRUE(catalogue.drifts("a").empty());
    EXPECT_TRUE(catalogue.drifts("b").empty());
    catalogue.publish("a", as("", "z"));
    catalogue.publish("b", List::Prompts, of("", R"({"name":"r"})"));
    EXPECT_EQ(catalogue.drifts("a").size(), 1u);
    EXPECT_EQ(catalogue.drifts("b").size(), 1u);
}

TEST(Catalogue, OneThatDeclaresNoPromptsHasNone) {
    Catalogue catalogue;
    catalogue.publish("a", listing("1", "tool"));
    EXPECT_FALSE(catalogue.has_none("a", "1", List::Prompts)) << "nobody has said so";
    auto said = Listing{"1", {}};
    said.others = {"resources"};
    catalogue.publish("a", std::make_shared<const Listing>(std::move(said)));
    EXPECT_TRUE(catalogue.has_none("a", "1", List::Prompts));
    EXPECT_FALSE(catalogue.has_none("a", "1", List::Templates));
    EXPECT_FALSE(catalogue.has_none("a", "2", List::Prompts));
    EXPECT_FALSE(catalogue.has_none("b", "1", List::Prompts));
}

}  // namespace
}  // namespace patchbay::catalogue
