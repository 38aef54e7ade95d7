#include "app/batch_output.hpp"

#include "app/output.hpp"
#include "core/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

TEST(BatchOutput, WhatAServerSaysIsNeverALineOfItsOwn) {
    const std::string forged = "{\"a\":1,\r\n{\"id\":2,\"ok\":true}\n}";
    const std::string flat = "{\"a\":1,  {\"id\":2,\"ok\":true} }";
    core::Loop loop;
    BatchOutput output(loop);
    testing::internal::CaptureStdout();
    output.notification("s", "notifications/message", forged);
    output.result("1", forged);
    output.rpc_error("3", "{\"code\":1,\n\"message\":\"no\"}");
    output.flush();
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "{\"event\":\"notification\",\"server\":\"s\",\"method\":\"notifications/message\","
              "\"params\":" +
                  flat + "}\n{\"id\":1,\"ok\":true,\"result\":" + flat +
                  "}\n{\"id\":3,\"ok\":false,\"error\":{\"kind\":\"server\",\"message\":\"no\","
                  "\"rpc\":{\"code\":1, \"message\":\"no\"}}}\n");
    EXPECT_FALSE(output.lost());
}

TEST(BatchOutput, WritesProgressAsAPersonWould) {
    core::Loop loop;
    BatchOutput output(loop);
    testing::internal::CaptureStdout();
    output.progress("1", {3, {}, ""});
    output.progress("1", {0.5, 2, "half"});
    output.progress("1", {-9007199254740992.0, 9007199254740994.0, ""});
    output.flush();
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "{\"event\":\"progress\",\"id\":1,\"progress\":3}\n"
              "{\"event\":\"progress\",\"id\":1,\"progress\":5E-1,\"total\":2,"
              "\"message\":\"half\"}\n"
              "{\"event\":\"progress\",\"id\":1,\"progress\":-9007199254740992,"
              "\"total\":9.007199254740994E15}\n");
    EXPECT_FALSE(output.told_errors());
}

TEST(BatchOutput, RemembersThatItToldAnError) {
    core::Loop loop;
    const Error error{ErrorCode::NotFound, "no \"x\""};
    testing::internal::CaptureStdout();
    BatchOutput one(loop), two(loop), three(loop);
    one.error("1", error);
    two.line_error("2", error, 7);
    three.rpc_error("3", R"({"code":1,"message":"m"})");
    for (auto* output : {&one, &two, &three}) {
        EXPECT_TRUE(output->told_errors());
        output->flush();
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "{\"id\":1,\"ok\":false,\"error\":{\"kind\":\"not_found\",\"message\":\"no "
              "\\\"x\\\"\"}}\n"
              "{\"id\":2,\"ok\":false,\"error\":{\"kind\":\"not_found\",\"line\":7,"
              "\"message\":\"no \\\"x\\\"\"}}\n"
              "{\"id\":3,\"ok\":false,\"error\":{\"kind\":\"server\",\"message\":\"m\","
              "\"rpc\":{\"code\":1,\"message\":\"m\"}}}\n");
}

TEST(BatchOutput, WaitsForTheEndOfTheTurnUnlessItIsMuch) {
    core::Loop loop;
    BatchOutput output(loop);
    testing::internal::CaptureStdout();
    output.notification("s", "n", "");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    testing::internal::CaptureStdout();
    bool turned = false;
    loop.defer([&] { turned = true; });
    loop.run_until([&] { return turned; });
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "{\"event\":\"notification\",\"server\":\"s\",\"method\":\"n\"}\n");
    testing::internal::CaptureStdout();
    output.result("1", "\"" + std::string(1u << 20, 'x') + "\"");
    EXPECT_GT(testing::internal::GetCapturedStdout().size(), 1u << 20);
}

// Stdout is a pipe that is read when the test says so.
class StdoutInAPipe {
public:
    StdoutInAPipe() : saved_(::dup(1)) {
        EXPECT_EQ(::pipe2(ends_, O_NONBLOCK | O_CLOEXEC), 0);
        EXPECT_EQ(::dup2(ends_[1], 1), 1);
    }
    StdoutInAPipe(const StdoutInAPipe&) = delete;
    ~StdoutInAPipe() {
        ::dup2(saved_, 1);
        for (const int fd : {saved_, ends_[0], ends_[1]}) ::close(fd);
    }
    void read() {
        char bytes[64u << 10];
        for (ssize_t got = 0; (got = ::read(ends_[0], bytes, sizeof bytes)) > 0;)
            text.append(bytes, static_cast<std::size_t>(got));
    }
    std::string text;

private:
    const int saved_;
    int ends_[2];
};

TEST(BatchOutput, WhoTalksOnUnreadHoldsUpNobodysAnswersAndIsToldOf) {
    core::Loop loop;
    StdoutInAPipe pipe;
    BatchOutput output(loop);
    const auto much = "\"" + std::string(100'000, 'x') + "\"";
    for (int i = 0; i < 100; ++i) output.notification("loud", "n", much);
    for (int i = 0; i < 100; ++i) output.progress("7", {1, {}, std::string(100'000, 'y')});
    EXPECT_FALSE(output.crowded()) << "more may be asked: it is not answers that are unread";
    output.notification("quiet", "n", "");
    output.result("7", "{}");
    output.result("8", "{}");
    for (int i = 0; i < 20; ++i) output.result("9", much);
    EXPECT_TRUE(output.crowded());
    EXPECT_TRUE(loop.run_until([&] { return pipe.read(), output.written(); },
                               core::Clock::now() + std::chrono::seconds(20)));
    pipe.read();
    EXPECT_LT(pipe.text.size(), 2 * BatchOutput::kEventBytes + (3u << 20));
    EXPECT_THAT(pipe.text,
                testing::HasSubstr("\n{\"event\":\"notification\",\"server\":\"quiet\""));
    EXPECT_THAT(pipe.text, testing::HasSubstr("\n{\"event\":\"dropped\",\"id\":7,\"count\":80}\n"
                                              "{\"id\":7,\"ok\":true"));
    EXPECT_THAT(pipe.text, testing::HasSubstr("\n{\"id\":8,\"ok\":true"));
    EXPECT_THAT(pipe.text,
                testing::EndsWith("\n{\"event\":\"dropped\",\"server\":\"loud\",\"count\":80}\n"));
    output.notification("loud", "again", "");
    output.flush();
    pipe.read();
    EXPECT_THAT(pipe.text, testing::EndsWith("\"method\":\"again\"}\n"));
}

TEST(BatchOutput, ManyWhoTalkOnUnreadStandStillNobodyEither) {
    core::Loop loop;
    StdoutInAPipe pipe;
    BatchOutput output(loop);
    const auto much = "\"" + std::string(1u << 20, 'x') + "\"";
    for (int i = 0; i < 100; ++i) {
        output.progress(std::to_string(i), {1, {}, much});
        output.notification("s" + std::to_string(i), "n", much);
    }
    EXPECT_FALSE(output.crowded());
    output.result("1", "{}");  // it would wait for the reader beyond 64 MiB
    EXPECT_TRUE(loop.run_until([&] { return pipe.read(), output.written(); },
                               core::Clock::now() + std::chrono::seconds(20)));
    EXPECT_LT(pipe.text.size(), BatchOutput::kAllEventBytes + (1u << 20));
    EXPECT_THAT(pipe.text, testing::HasSubstr("{\"id\":1,\"ok\":true"));
}

TEST(BatchOutput, TellsOnceThatAReaderHasMadeRoom) {
    core::Loop loop;
    StdoutInAPipe pipe;
    int relieved = 0;
    BatchOutput output(loop, {}, [&] { ++relieved; });
    output.result("1", "\"" + std::string(2u << 20, 'x') + "\"");
    ASSERT_TRUE(output.crowded());
    ASSERT_TRUE(loop.run_until([&] { return pipe.read(), output.written(); },
                               core::Clock::now() + std::chrono::seconds(20)));
    EXPECT_EQ(relieved, 1);
    EXPECT_FALSE(output.lost());
}

TEST(BatchOutput, WhatNobodyReadsInTimeIsLost) {
    core::Loop loop;
    StdoutInAPipe pipe;
    BatchOutput output(loop);
    output.result("1", "\"" + std::string(2u << 20, 'x') + "\"");
    EXPECT_FALSE(output.lost());
    output.finish(std::chrono::milliseconds(1));
    EXPECT_TRUE(output.lost());
}

TEST(RpcErrorJson, HidesSecretsHoweverTheyAreEscapedAndStaysJson) {
    core::Secrets secrets;
    secrets.add("k9/Zq\"A7");
    secrets.add("8675309");
    EXPECT_EQ(rpc_error_json(R"({"code":1,"message":"with k9\/Zq\u0022A7","data":"k9/Zq\"A7"})"),
              R"({"kind":"server","message":"with ***",)"
              R"("rpc":{"code":1,"message":"with ***","data":"***"}})");
    EXPECT_EQ(rpc_error_json(R"({"code":1,"message":"no","data":8675309})"),
              R"({"kind":"server","message":"no",)"
              R"("rpc":"{\"code\":1,\"message\":\"no\",\"data\":***}"})");
}

}  // namespace
}  // namespace patchbay::app
