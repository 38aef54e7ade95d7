// What a line of a batch starts, before two servers that only exist.
#include "app/batch_operations.hpp"

#include "unit/service/fixture.hpp"

#include <deque>

namespace patchbay::app {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BatchOperationsTest : public service::ServiceTest {
protected:
    BatchOperationsTest() { testing::internal::CaptureStdout(); }
    ~BatchOperationsTest() override {
        router_.reset();  // what is in flight still ends while there is somebody to hear of it
        if (!told_) static_cast<void>(answers());
    }
    std::string answers() {
        output.flush();
        told_ = true;
        return testing::internal::GetCapturedStdout();
    }
    void start(const std::string& id, const std::string& members) {
        const auto& text = texts.emplace_back("{\"id\":" + id + "," + members + "}");
        const auto& value = values.emplace_back(json::parse(text));
        if (!operations) operations.emplace(known(), caller, in_flight, waits, nullptr);
        const BatchLine line{id, value.as_object(), text, texts.size()};
        in_flight.add(id);
        if (operations->accepts(line)) operations->start(line);
    }
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    std::size_t calls() { return servers.at("git").requests("tools/call").size(); }

    std::deque<std::string> texts;
    std::deque<json::value> values;
    BatchOutput output{loop};
    BatchInFlight in_flight{loop, output, [] {}};
    BatchWaits waits{loop, in_flight};
    std::optional<BatchOperations> operations;

private:
    bool told_ = false;
};

TEST_F(BatchOperationsTest, ProgressIsAskedForByWhoWantsIt) {
    for (const std::string op :
         {R"("op":"tools/call","name":"mcp__git__log")", R"("op":"ping","server":"git")"}) {
        const auto token_with = [&](const std::string& progress) {
            servers.at("git").received.clear();
            start("1", op + progress);
            EXPECT_TRUE(wait([&] { return in_flight.size() == 0; }));
            const auto& sent = servers.at("git").received.back();
            return sent.at("params").at("_meta").as_object().contains("progressToken");
        };
        EXPECT_TRUE(token_with(R"(,"progress":true)")) << op;
        EXPECT_FALSE(token_with(R"(,"progress":false)")) << op;
        EXPECT_FALSE(token_with("")) << op;
    }
}

TEST_F(BatchOperationsTest, ACallThatIsCancelledEndsAtItsServerToo) {
    servers.at("git").results.erase("tools/call");
    start("1", R"("op":"tools/call","name":"mcp__git__log")");
    ASSERT_TRUE(wait([&] { return calls() == 1; }));
    start("2", R"("op":"cancel","target":1,"reason":"enough")");
    EXPECT_EQ(in_flight.size(), 0u);
    EXPECT_EQ(servers.at("git").requests("notifications/cancelled").size(), 1u);
    EXPECT_THAT(answers(), HasSubstr("{\"id\":2,\"ok\":true,\"result\":{}}\n{\"id\":1,\"ok\":false,"
                                     "\"error\":{\"kind\":\"cancelled\""));
}

TEST_F(BatchOperationsTest, WhatIsNotInFlightCannotBeCancelled) {
    start("1", R"("op":"cancel","target":7)");
    start("2", R"("op":"cancel","target":2)");
    const auto told = answers();
    EXPECT_THAT(told, HasSubstr("no request or wait with the id 7 is in flight"));
    EXPECT_THAT(told, HasSubstr("no request or wait with the id 2 is in flight"))
        << "itself is neither a call nor a wait";
    EXPECT_EQ(in_flight.size(), 0u);
}

TEST_F(BatchOperationsTest, AWaitEndsWithItsNotificationOrWhenItIsCancelled) {
    start("1", R"("op":"wait","method":"n","server":"git")");
    start("2", R"("op":"wait","method":"n","server":"git")");
    waits.on_notification("github", "n");
    EXPECT_EQ(in_flight.size(), 2u);
    waits.on_notification("git", "n");
    EXPECT_THAT(in_flight.ids(), ::testing::ElementsAre("2"));
    start("3", R"("op":"cancel","target":2)");
    EXPECT_THAT(in_flight.ids(), IsEmpty());
    EXPECT_THAT(answers(), HasSubstr("the wait was cancelled"));
}

TEST_F(BatchOperationsTest, EachListIsThatOfItsKind) {
    be_endless("git");
    servers.at("git").results["resources/list"] = [](const auto&) -> json::value {
        return {{"resources", {{{"uri", "a:1"}, {"name", "n"}}}}};
    };
    start("1", R"("op":"resources/list","server":"git")");
    ASSERT_TRUE(wait([&] { return in_flight.size() == 0; }));
    start("2", R"("op":"tools/list","server":"github")");
    ASSERT_TRUE(wait([&] { return in_flight.size() == 0; }));
    const auto told = answers();
    EXPECT_THAT(told, HasSubstr("\"uri\":\"a:1\""));
    EXPECT_THAT(told, HasSubstr("\"mcp__github__log\""));
    EXPECT_FALSE(in_flight.any_lacking());
}

}  // namespace
}  // namespace patchbay::app
