// What was sent, what was heard, what broke: and whether the call is sent again, and what is told.
// A call that may have been carried out is never sent again, unless its tool says that this does no
// harm, and never called "not sent" (decision 6).
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

enum class Tool { Plain, Idempotent, ReadOnly };
enum class Told { Answer, NotSent, MayHaveRun, Refused };

struct Row {
    const char* what;
    Tool tool;
    bool heard;                               // a message came for the call before its end
    std::vector<FakeServer::Ending> endings;  // of its sendings, one after the other
    std::size_t sendings;
    Told told;
};

FakeServer::Ending broken(bool not_sent = false) {
    auto problem = FakeServer::problem(ErrorCode::Io, "connection reset");
    problem.not_sent = not_sent;
    return problem;
}
FakeServer::Ending http(ErrorCode code, unsigned status) {
    return FakeServer::problem(code, "HTTP " + std::to_string(status), status);
}
const FakeServer::Ending kEnd = std::nullopt;  // the stream ends, and well

// In a row so that a failure names the case.
void PrintTo(const Row& row, std::ostream* out) {
    *out << row.what;
}

class SentAgain : public HttpConnectionTest, public ::testing::WithParamInterface<Row> {};

TEST_P(SentAgain, OnlyWhatCannotHaveRunTwice) {
    const auto& row = GetParam();
    auto tool = tool_named("a");
    if (row.tool == Tool::Idempotent) tool["annotations"] = {{"idempotentHint", true}};
    if (row.tool == Tool::ReadOnly) tool["annotations"] = {{"readOnlyHint", true}};
    server.be_legacy({tool});
    ASSERT_EQ(connect(), State::Ready);
    for (const auto& ending : row.endings) server.endings["tools/call"].push_back(ending);
    if (row.heard)
        server.before_ending = R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})";
    const auto reply = ask(call("a"));
    pass(1ms);
    EXPECT_EQ(server.requests("tools/call").size(), row.sendings);
    if (row.told == Told::Answer) {
        EXPECT_TRUE(reply) << reply.error().message;
        return;
    }
    ASSERT_FALSE(reply) << *reply;
    const auto& text = reply.error().message;
    if (row.told == Told::NotSent)
        EXPECT_THAT(text, HasSubstr("; the request was not sent"));
    else
        EXPECT_THAT(text, Not(HasSubstr("not sent")));
    if (row.told == Told::MayHaveRun)
        EXPECT_THAT(text, HasSubstr("may have been carried out"));
    else
        EXPECT_THAT(text, Not(HasSubstr("may have been carried out")));
}

INSTANTIATE_TEST_SUITE_P(
    Table, SentAgain,
    ::testing::Values(
        Row{"nothing was sent", Tool::Plain, false, {broken(true)}, 2, Told::Answer},
        Row{"nothing was sent, twice",
            Tool::Plain,
            false,
            {broken(true), broken(true)},
            2,
            Told::NotSent},
        Row{"an answer had begun, whatever the transport believes",
            Tool::Plain,
            true,
            {broken(true)},
            1,
            Told::MayHaveRun},
        Row{"the stream broke", Tool::Plain, false, {broken()}, 1, Told::MayHaveRun},
        Row{"the stream broke after a message", Tool::Plain, true, {broken()}, 1, Told::MayHaveRun},
        Row{"the stream ended", Tool::Plain, false, {kEnd}, 1, Told::MayHaveRun},
        Row{"sent, after it was not",
            Tool::Plain,
            false,
            {broken(true), broken()},
            2,
            Told::MayHaveRun},
        Row{"the stream broke", Tool::Idempotent, false, {broken()}, 2, Told::Answer},
        Row{"the stream broke after a message", Tool::ReadOnly, true, {broken()}, 2, Told::Answer},
        Row{"the stream ended", Tool::ReadOnly, false, {kEnd}, 2, Told::Answer},
        Row{"the stream broke twice",
            Tool::Idempotent,
            false,
            {broken(), broken()},
            2,
            Told::MayHaveRun},
        Row{"not sent, after it broke once",
            Tool::Idempotent,
            false,
            {broken(), broken(true)},
            2,
            Told::MayHaveRun},
        Row{"an error, after it broke once",
            Tool::Idempotent,
            false,
            {broken(), http(ErrorCode::Io, 429)},
            2,
            Told::MayHaveRun},
        Row{"the session is lost",
            Tool::Plain,
            false,
            {http(ErrorCode::SessionLost, 404)},
            2,
            Told::Answer},
        Row{"the session is lost after a message",
            Tool::Plain,
            true,
            {http(ErrorCode::SessionLost, 404)},
            1,
            Told::MayHaveRun},
        Row{"a new session is lost as well",
            Tool::Plain,
            false,
            {http(ErrorCode::SessionLost, 404), http(ErrorCode::SessionLost, 404)},
            2,
            Told::Refused},
        Row{"credentials are wanted after a message",
            Tool::Plain,
            true,
            {http(ErrorCode::AuthRequired, 401)},
            1,
            Told::MayHaveRun},
        Row{"credentials are wanted",
            Tool::Plain,
            false,
            {http(ErrorCode::AuthRequired, 401)},
            1,
            Told::Refused},
        Row{"the server fails",
            Tool::Plain,
            false,
            {http(ErrorCode::Io, 500)},
            1,
            Told::MayHaveRun},
        Row{"the server fails",
            Tool::Idempotent,
            false,
            {http(ErrorCode::Io, 500)},
            1,
            Told::MayHaveRun},
        Row{"the request is refused",
            Tool::Plain,
            false,
            {http(ErrorCode::Io, 429)},
            1,
            Told::Refused},
        Row{"the request is refused by the first code that does",
            Tool::Idempotent,
            false,
            {http(ErrorCode::Io, 400)},
            1,
            Told::Refused},
        Row{"the answer is too large",
            Tool::Plain,
            false,
            {FakeServer::problem(ErrorCode::Limit, "limit message_bytes")},
            1,
            Told::MayHaveRun},
        Row{"the answer cannot be read",
            Tool::Idempotent,
            false,
            {FakeServer::problem(ErrorCode::Protocol, "no event stream")},
            1,
            Told::MayHaveRun}));

}  // namespace
}  // namespace patchbay::connection
