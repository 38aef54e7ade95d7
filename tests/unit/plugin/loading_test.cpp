// Plugins that are slow to be read, hashed and mapped: whoever needs them waits, nobody else.
#include "plugin/loading/catalogue.hpp"
#include "plugin/loading/resident.hpp"
#include "support/gate.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Messages final : ChannelEvents {
    std::vector<std::string> bodies;
    bool closed = false;
    void on_opened() override {}
    void on_message(ExchangeId, core::Buffer body) override { bodies.emplace_back(body.view()); }
    void on_done(ExchangeId, const Problem*) override {}
    void on_writable() override {}
    void on_challenge(const Problem&) override {}
    void on_output(unsigned, std::string_view) override {}
    void on_fact(std::string_view, std::string_view) override {}
    void on_closed(const Problem*) override { closed = true; }
};

class LoadingTest : public testing::Test {
protected:
    static constexpr const char* kSlow = "patchbay.test.fake_http";

    LoadingTest() {
        install_fixture(folder_, "fake");
        install_built(folder_, "fake_http");
        options_.config_directories = {folder_.path()};
        options_.built_in = false;
        catalogue_.emplace(loop_, options_, SignIn{}, [this](const PluginInfo& info) {
            ++mapped_;
            if (std::this_thread::get_id() == loops_) ++mapped_on_loop_;
            if (info.id == kSlow) gate_.pass();
            return claim_resident(info);
        });
    }
    ~LoadingTest() override { gate_.open(); }

    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + std::chrono::seconds(20));
    }
    // What is told by prepare_transport() is kept under `name`.
    void prepare(const std::string& transport, const std::string& name) {
        catalogue_->prepare_transport(transport, [this, name](Result<void> outcome) {
            EXPECT_EQ(std::this_thread::get_id(), loops_);
            told_.push_back(name + (outcome ? ": loaded" : ": " + outcome.error().message));
            if (!outcome) code_ = outcome.error().code;
        });
    }
    std::unique_ptr<Channel> open_fake(const char* behave = "well") {
        ChannelOptions options;
        options.server = "demo";
        options.settings["behave"] = behave;
        auto opened = catalogue_->open("fake", std::move(options), events_);
        EXPECT_TRUE(opened) << opened.error().message;
        return opened ? std::move(*opened) : nullptr;
    }
    PluginState state_of(std::string_view id) { return catalogue_->info(id)->state; }

    const std::thread::id loops_ = std::this_thread::get_id();
    core::Loop loop_;
    Gate gate_{loop_};
    std::atomic<int> mapped_{0}, mapped_on_loop_{0};
    PluginFolder folder_;
    SearchOptions options_;
    std::vector<std::string> told_;
    ErrorCode code_ = ErrorCode::Internal;
    Messages events_;
    std::optional<Catalogue> catalogue_;
};

TEST_F(LoadingTest, OfASlowPluginDelaysNoMessageOfAnother) {
    prepare("fake", "fake");
    ASSERT_TRUE(until([&] { return !told_.empty(); }));
    const auto channel = open_fake();
    ASSERT_TRUE(channel);
    prepare("http", "http");
    ASSERT_TRUE(until([&] { return gate_.reached(); }));

    OutgoingMessage message;
    message.exchange = 1;
    message.body = core::Buffer::from(std::string("{\"id\":1}"));
    ASSERT_TRUE(channel->send(std::move(message)));
    ASSERT_TRUE(until([&] { return !events_.bodies.empty(); }));
    EXPECT_THAT(events_.bodies, ElementsAre("{\"id\":1}"));
    EXPECT_THAT(told_, ElementsAre("fake: loaded"));
    EXPECT_EQ(state_of(kSlow), PluginState::Available);

    gate_.open();
    ASSERT_TRUE(until([&] { return told_.size() == 2; }));
    EXPECT_THAT(told_, ElementsAre("fake: loaded", "http: loaded"));
    EXPECT_EQ(state_of(kSlow), PluginState::Loaded);
    EXPECT_EQ(mapped_on_loop_, 0);
    channel->close();
    EXPECT_TRUE(until([&] { return events_.closed; }));
}

TEST_F(LoadingTest, OfASlowPluginDelaysTheLoadingOfNoOther) {
    prepare("http", "http");
    ASSERT_TRUE(until([&] { return gate_.reached(); }));
    prepare("fake", "fake");
    ASSERT_TRUE(until([&] { return !told_.empty(); }));
    EXPECT_THAT(told_, ElementsAre("fake: loaded"));
}

TEST_F(LoadingTest, IsDoneOnceForAllWhoWaitAndNeverAgain) {
    prepare("http", "first");
    ASSERT_TRUE(until([&] { return gate_.reached(); }));
    prepare("http", "second");
    EXPECT_TRUE(told_.empty());
    gate_.open();
    ASSERT_TRUE(until([&] { return told_.size() == 2; }));
    prepare("http", "third");
    EXPECT_THAT(told_, ElementsAre("first: loaded", "second: loaded", "third: loaded"))
        << "the third has nothing to wait for";
    EXPECT_EQ(mapped_, 1);
}

TEST_F(LoadingTest, ThatIsRefusedIsToldWithItsReason) {
    folder_.write("fake/lib.so", "not what the manifest says");
    prepare("fake", "fake");
    prepare("nosuch", "nosuch");
    EXPECT_THAT(told_, ElementsAre(HasSubstr("nosuch: unknown transport")));
    ASSERT_TRUE(until([&] { return told_.size() == 2; }));
    EXPECT_THAT(told_.at(1), HasSubstr("not an ELF shared library"));
    EXPECT_EQ(code_, ErrorCode::Invalid);
    EXPECT_EQ(state_of("patchbay.test.fake"), PluginState::Refused);
}

// As `plugin doctor --load` does it, while a server waits for the same plugin.
TEST_F(LoadingTest, ByOneWhoDoesNotWaitIsNotUndoneByWhatComesLater) {
    prepare("fake", "fake");
    ASSERT_TRUE(catalogue_->load("patchbay.test.fake"));
    ASSERT_TRUE(until([&] { return !told_.empty(); }));
    EXPECT_THAT(told_, ElementsAre("fake: loaded"));
    const auto channel = open_fake();
    ASSERT_TRUE(channel);
    channel->close();
    EXPECT_TRUE(until([&] { return events_.closed; }));
}

TEST_F(LoadingTest, ThatNobodyWaitsForAnyMoreLeavesTheLibraryToTheNext) {
    const Resident* first = nullptr;
    catalogue_.emplace(loop_, options_, SignIn{}, [&](const PluginInfo& info) {
        auto claim = claim_resident(info);
        if (claim) first = claim->get();
        return claim;
    });
    prepare("fake", "fake");
    const auto info = *catalogue_->info("patchbay.test.fake");
    catalogue_.reset();  // finishes what is queued
    ASSERT_TRUE(first);
    bool turned = false;
    loop_.post([&] { turned = true; });
    ASSERT_TRUE(until([&] { return turned; }));
    EXPECT_TRUE(told_.empty()) << "told after its end";
    const auto again = claim_resident(info);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->get(), first) << "it was mapped a second time";
    const auto beside = claim_resident(info);
    ASSERT_TRUE(beside) << beside.error().message;
    EXPECT_NE(beside->get(), first) << "two have the same services";
    EXPECT_EQ((*beside)->entry, first->entry) << "it was mapped a second time";
}

TEST_F(LoadingTest, ALibraryServesTheNextUnlessItMisbehavedOrSomethingIsLeftOfIt) {
    for (const auto& [behave, serves] :
         {std::pair{"well", true}, {"closed_twice", false}, {"never_close", false}}) {
        SCOPED_TRACE(behave);
        const Resident* used = nullptr;
        catalogue_.emplace(loop_, options_, SignIn{}, [&used](const PluginInfo& info) {
            auto claim = claim_resident(info);
            if (claim) used = claim->get();
            return claim;
        });
        ASSERT_TRUE(catalogue_->load("patchbay.test.fake"));
        events_.closed = false;
        auto channel = open_fake(behave);
        ASSERT_TRUE(channel);
        channel->close();
        const bool closes = std::string_view(behave) != "never_close";
        ASSERT_TRUE(until([&] { return events_.closed || !closes; }));
        channel.reset();
        const auto info = *catalogue_->info("patchbay.test.fake");
        catalogue_.reset();
        const auto next = claim_resident(info);
        ASSERT_TRUE(next) << next.error().message;
        EXPECT_EQ(next->get() == used, serves);
        EXPECT_EQ((*next)->entry == used->entry, serves) << "spoilt statics";
    }
}

}  // namespace
