#include "app/batch_in_flight.hpp"

#include "app/batch_waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class InFlight : public ::testing::Test {
protected:
    InFlight() { testing::internal::CaptureStdout(); }
    ~InFlight() override {
        if (!told_) static_cast<void>(answers());
    }
    std::string answers() {
        output.flush();
        told_ = true;
        return testing::internal::GetCapturedStdout();
    }
    void turn() {
        bool turned = false;
        loop.defer([&] { turned = true; });
        loop.run_until([&] { return turned; });
    }

    core::Loop loop;
    BatchOutput output{loop};
    int finished = 0;
    BatchInFlight in_flight{loop, output, [this] { ++finished; }};
    BatchWaits waits{loop, in_flight};

private:
    bool told_ = false;
};

TEST_F(InFlight, IsAnsweredOnceWhateverComesLater) {
    in_flight.add("1");
    in_flight.fail("1", {ErrorCode::Cancelled, "interrupted"});
    in_flight.succeed("1", "{}", BatchInFlight::Outcome::Lacking);
    connection::Reply late;
    late.error = R"({"code":1,"message":"late"})";
    in_flight.relay("1")(std::move(late));
    EXPECT_EQ(finished, 0) << "in a turn of its own";
    turn();
    EXPECT_EQ(finished, 1);
    EXPECT_FALSE(in_flight.any_lacking());
    EXPECT_EQ(answers(),
              "{\"id\":1,\"ok\":false,\"error\":{\"kind\":\"cancelled\",\"message\":"
              "\"interrupted\"}}\n");
}

TEST_F(InFlight, OfAServersAnswerTellsItsKind) {
    for (const char* id : {"1", "2", "3"}) in_flight.add(id);
    connection::Reply fine, error, tool_error;
    fine.result = "{\"a\":1}";
    error.error = R"({"code":1,"message":"no"})";
    tool_error.result = "{}";
    in_flight.relay("1")(std::move(fine));
    EXPECT_FALSE(in_flight.any_lacking());
    in_flight.relay("2")(std::move(error));
    EXPECT_FALSE(in_flight.any_lacking()) << "the output knows of errors";
    tool_error.is_error = true;
    in_flight.relay("3")(std::move(tool_error));
    EXPECT_TRUE(in_flight.any_lacking());
    EXPECT_EQ(in_flight.size(), 0u);
    EXPECT_EQ(answers(),
              "{\"id\":1,\"ok\":true,\"result\":{\"a\":1}}\n"
              "{\"id\":2,\"ok\":false,\"error\":{\"kind\":\"server\",\"message\":\"no\",\"rpc\":"
              "{\"code\":1,\"message\":\"no\"}}}\n"
              "{\"id\":3,\"ok\":true,\"result\":{}}\n");
}

TEST_F(InFlight, AStreamThatWeEndedHasEndedWell) {
    in_flight.add("1").endless = true;
    EXPECT_TRUE(in_flight.only_endless());
    in_flight.add("2");
    EXPECT_FALSE(in_flight.only_endless());
    in_flight.find("1")->over = true;
    in_flight.fail("1", {ErrorCode::Cancelled, "the batch is over"});
    EXPECT_THAT(in_flight.ids(), ElementsAre("2"));
    EXPECT_EQ(answers(), "{\"id\":1,\"ok\":true,\"result\":{}}\n");
}

TEST_F(InFlight, AListIsDroppedWithItsRequest) {
    const auto list = std::make_shared<int>(1);
    in_flight.add("1").list = list;
    in_flight.fail("1", {ErrorCode::Cancelled, "the list was cancelled"});
    EXPECT_EQ(list.use_count(), 1);
}

TEST_F(InFlight, AWaitTakesTheFirstNotificationThatNoOtherTook) {
    for (const char* id : {"1", "2", "3"}) in_flight.add(id);
    waits.on_notification("a", "n");
    waits.begin("1", "", "n", 0ms);
    EXPECT_FALSE(in_flight.find("1")) << "it came before";
    waits.begin("2", "b", "n", 1h);
    waits.begin("3", "", "n", 0ms);
    waits.on_notification("a", "n");
    EXPECT_THAT(in_flight.ids(), ElementsAre("2")) << "the other one is of b alone";
    EXPECT_TRUE(waits.give_up("2"));
    EXPECT_FALSE(waits.give_up("2"));
    waits.on_notification("b", "n");
    EXPECT_TRUE(in_flight.find("2")) << "nobody waits for it any more";
}

TEST_F(InFlight, AWaitEndsWithItsTime) {
    in_flight.add("1");
    waits.begin("1", "", "n", 1ms);
    ASSERT_TRUE(loop.run_until([&] { return in_flight.size() == 0; }, core::Clock::now() + 20s));
    EXPECT_FALSE(waits.give_up("1"));
    EXPECT_THAT(answers(), ::testing::HasSubstr("\"kind\":\"timeout\",\"message\":\"no n within"));
}

}  // namespace
}  // namespace patchbay::app
