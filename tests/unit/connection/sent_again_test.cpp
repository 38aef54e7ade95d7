// What was sent, what was heard, what broke: how often the call is sent, how often it may have been
// carried out, and what is told. The whole product, by the rule of decision 6, which is written here
// once more in a few lines: a call that may have been carried out is never sent again, unless its
// tool says that this does no harm, and never called "not sent".
#include "unit/connection/fixture.hpp"
#include "unit/connection/granting_method.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace patchbay::connection {
namespace {

enum class Tool { Plain, Idempotent, ReadOnly };
constexpr Tool kTools[] = {Tool::Plain, Tool::Idempotent, Tool::ReadOnly};

std::string name_of(Tool tool) {
    const char* const names[] = {"Plain", "Idempotent", "ReadOnly"};
    return names[static_cast<int>(tool)];
}

// How one sending ends.
enum class Break {
    NotSent,        // says the transport
    Reset,          // the connection broke
    Gone,           // the peer is not there any more
    Ended,          // the stream ended, and well, without the answer
    SessionLost,    // 404
    Granted,        // 401, and a sign-in that helps
    Wanted,         // 401, and nobody to sign in
    Forbidden,      // 403, and nobody to sign in
    Refused,        // 429
    Malformed,      // 400 by a code of ours that says Io
    Failed,         // 500
    TooLarge,       // the answer
    Unreadable,     // the answer
    HeaderMismatch  // the server's own word
};
constexpr Break kBreaks[] = {
    Break::NotSent, Break::Reset,    Break::Gone,       Break::Ended,         Break::SessionLost,
    Break::Granted, Break::Wanted,   Break::Forbidden,  Break::Refused,       Break::Malformed,
    Break::Failed,  Break::TooLarge, Break::Unreadable, Break::HeaderMismatch};
constexpr const char* kNames[] = {
    "not sent", "reset", "gone", "ended", "session lost", "401, granted", "401",
    "403",      "429",   "400",  "500",   "too large",    "unreadable",   "header mismatch"};

std::string name_of(Break each) {
    return kNames[static_cast<int>(each)];
}

struct End {
    std::size_t sendings = 0;
    int executions = 0;  // at most: where nobody can tell, the server has carried it out
    enum class Told { Answer, NotSent, MayHaveRun, Refused } told = Told::Answer;
};

// Decision 6.
End by_the_rule(Tool tool, bool heard, const std::vector<Break>& breaks) {
    const bool repeatable = tool != Tool::Plain;
    End out;
    bool broken_before = false, lost_before = false, mismatched_before = false;
    bool may_have_run = false;
    for (const auto each : breaks) {
        ++out.sendings;
        bool again = false, ran = heard;
        switch (each) {
            case Break::NotSent:
                again = (!heard || repeatable) && !std::exchange(broken_before, true);
                break;
            case Break::Reset:
            case Break::Gone:
            case Break::Ended:
                ran = true;
                again = repeatable && !std::exchange(broken_before, true);
                break;
            case Break::SessionLost:
                again = !heard && !std::exchange(lost_before, true);
                break;
            case Break::Granted:
                again = !heard || repeatable;
                break;
            case Break::HeaderMismatch:
                ran = false;  // the answer itself
                if (std::exchange(mismatched_before, true)) {
                    out.told = End::Told::Answer;
                    return out;
                }
                again = true;
                break;
            case Break::Wanted:
            case Break::Forbidden:
            case Break::Refused:
            case Break::Malformed:
                break;
            case Break::Failed:
            case Break::TooLarge:
            case Break::Unreadable:
                ran = true;
        }
        out.executions += ran;
        may_have_run = may_have_run || ran;
        if (again) continue;
        out.told = may_have_run             ? End::Told::MayHaveRun
                   : each == Break::NotSent ? End::Told::NotSent
                                            : End::Told::Refused;
        return out;
    }
    ++out.sendings;
    ++out.executions;
    return out;
}

bool any(const std::vector<Break>& breaks, Break wanted) {
    return std::find(breaks.begin(), breaks.end(), wanted) != breaks.end();
}

// One call of one server that counts what it carries out.
class OneCall : public HttpConnectionTest {
public:
    OneCall(Tool tool, bool heard, std::vector<Break> breaks)
        : heard_(heard), breaks_(std::move(breaks)) {
        auto described = tool_named("a");
        if (tool == Tool::Idempotent) described["annotations"] = {{"idempotentHint", true}};
        if (tool == Tool::ReadOnly) described["annotations"] = {{"readOnlyHint", true}};
        // Only the modern era knows a HeaderMismatch, only the legacy one has sessions to renew.
        if (any(breaks_, Break::HeaderMismatch))
            server.be_modern({described});
        else
            server.be_legacy({described});
        server.results["tools/call"] = [](const auto&) -> json::value {
            return {{"resultType", "complete"}, {"content", json::array()}};
        };
        if (any(breaks_, Break::Granted)) {
            auth_of = [](const config::Server&) { return AuthChoice{"auth \"main\"", false}; };
            authenticate = [this](const config::Server&, const AuthMethod&,
                                  std::shared_ptr<plugin::Signer>, plugin::AuthenticatorEvents& on)
                -> Result<std::unique_ptr<plugin::Authenticator>> {
                return std::unique_ptr<plugin::Authenticator>(
                    std::make_unique<GrantingMethod>(loop, on, "Bearer granted", 0ms));
            };
        }
        server.on_request = [this](const std::string& method) {
            if (method == "tools/call") plan();
        };
    }
    ~OneCall() override { close(); }

    void run() {
        ASSERT_EQ(connect(), State::Ready);
        const auto reply = ask(call("a"));
        pass(1ms);  // whatever else would be sent
        seen.sendings = server.requests("tools/call").size();
        using Told = End::Told;
        if (reply) return;
        text = reply.error().message;
        const auto says = [&](const char* words) { return text.find(words) != text.npos; };
        EXPECT_FALSE(says("not sent") && says("may have been carried out")) << text;
        // A server that cannot be reached is lost, with what it never got.
        const bool not_sent =
            says("; the request was not sent") || says("connection lost: connection reset");
        seen.told = says("may have been carried out") ? Told::MayHaveRun
                    : not_sent                        ? Told::NotSent
                                                      : Told::Refused;
    }

    void be_untrusted() { spec.config.trust = "untrusted"; }

    End seen;
    std::string text;

private:
    void TestBody() override {}

    // What becomes of the request that has just come.
    void plan() {
        server.errors.erase("tools/call");
        if (next_ == breaks_.size()) {
            ++seen.executions;
            return;
        }
        const auto each = breaks_[next_++];
        if (heard_)
            server.say_for(server.arrivals.back().exchange,
                           R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
        if (each == Break::HeaderMismatch) {
            server.errors["tools/call"] = {-32020, "Mcp-Param-Zone is missing"};
            return;
        }
        const bool unknown = each == Break::Reset || each == Break::Gone || each == Break::Ended ||
                             each == Break::Failed || each == Break::TooLarge ||
                             each == Break::Unreadable;
        seen.executions += heard_ || unknown;
        server.endings["tools/call"].push_back(ending(each));
    }

    static FakeServer::Ending ending(Break each) {
        const auto http = [](ErrorCode code, unsigned status) {
            return FakeServer::problem(code, "HTTP " + std::to_string(status), status);
        };
        switch (each) {
            case Break::NotSent: {
                auto problem = FakeServer::problem(ErrorCode::Io, "connection reset");
                problem.not_sent = true;
                return problem;
            }
            case Break::Reset:
                return FakeServer::problem(ErrorCode::Io, "connection reset");
            case Break::Gone:
                return FakeServer::problem(ErrorCode::Unavailable, "gone");
            case Break::Ended:
                return std::nullopt;
            case Break::SessionLost:
                return http(ErrorCode::SessionLost, 404);
            case Break::Granted:
            case Break::Wanted:
                return http(ErrorCode::AuthRequired, 401);
            case Break::Forbidden:
                return http(ErrorCode::AuthRequired, 403);
            case Break::Refused:
                return http(ErrorCode::Protocol, 429);
            case Break::Malformed:
                return http(ErrorCode::Io, 400);
            case Break::Failed:
                return http(ErrorCode::Io, 500);
            case Break::TooLarge:
                return FakeServer::problem(ErrorCode::Limit, "limit message_bytes");
            case Break::Unreadable:
            case Break::HeaderMismatch:
                break;
        }
        return FakeServer::problem(ErrorCode::Protocol, "no event stream");
    }

    const bool heard_;
    const std::vector<Break> breaks_;
    std::size_t next_ = 0;
};

struct Sent {
    Tool tool;
    bool heard;  // a message came for the call before each of its ends
};

std::string name_of(const Sent& sent) {
    return name_of(sent.tool) + (sent.heard ? "Heard" : "");
}

void PrintTo(const Sent& sent, std::ostream* out) {
    *out << name_of(sent);
}

class SentAgain : public ::testing::TestWithParam<Sent> {
protected:
    void judge(const std::vector<Break>& breaks) {
        // Nobody signs in and somebody does: no server is both.
        if (any(breaks, Break::Granted) &&
            (any(breaks, Break::Wanted) || any(breaks, Break::Forbidden)))
            return;
        std::string trace;
        for (const auto each : breaks) trace += name_of(each) + "; ";
        SCOPED_TRACE(trace);
        const auto [tool, heard] = GetParam();
        const auto wanted = by_the_rule(tool, heard, breaks);
        OneCall one(tool, heard, breaks);
        one.run();
        EXPECT_EQ(one.seen.sendings, wanted.sendings) << one.text;
        EXPECT_EQ(one.seen.told, wanted.told) << one.text;
        EXPECT_LE(one.seen.executions, wanted.executions);
        if (tool == Tool::Plain) {
            EXPECT_LE(one.seen.executions, 1) << "it ran twice";
        }
        ++looked_at;
    }
    int looked_at = 0;
};

TEST_P(SentAgain, OnlyWhatCannotHaveRunTwice) {
    judge({});
    for (const auto first : kBreaks) {
        judge({first});
        for (const auto second : kBreaks) judge({first, second});
    }
    EXPECT_EQ(looked_at, 1 + 14 + 14 * 14 - 4);
}

// What may be sent again, and then again for another reason.
TEST_P(SentAgain, OnceForEachReasonAtMost) {
    const Break again[] = {Break::NotSent, Break::Reset, Break::SessionLost, Break::HeaderMismatch};
    for (const auto first : again)
        for (const auto second : again)
            for (const auto third : again)
                for (const auto fourth : {Break::Refused, Break::Failed, Break::SessionLost})
                    judge({first, second, third, fourth});
    EXPECT_EQ(looked_at, 4 * 4 * 4 * 3);
}

TEST(SentAgainToAnUntrustedServer, IsNothingThatItsAnnotationsPromise) {
    for (const auto tool : {Tool::Idempotent, Tool::ReadOnly})
        for (const bool untrusted : {false, true}) {
            SCOPED_TRACE(name_of(tool));
            OneCall one(tool, false, {Break::Reset});
            if (untrusted) one.be_untrusted();
            one.run();
            EXPECT_EQ(one.seen.sendings, untrusted ? 1u : 2u);
        }
}

INSTANTIATE_TEST_SUITE_P(Table, SentAgain,
                         ::testing::Values(Sent{Tool::Plain, false}, Sent{Tool::Plain, true},
                                           Sent{Tool::Idempotent, false},
                                           Sent{Tool::Idempotent, true},
                                           Sent{Tool::ReadOnly, false}, Sent{Tool::ReadOnly, true}),
                         [](const auto& each) { return name_of(each.param); });

// ---- over a pipe or a socket, where a message has no exchange of its own

enum class Moment {
    BeforeWrite,  // the transport does not take it
    InTheOutbox,  // a full transport has not been given it
    AfterWrite,
    MidAnswer  // a part of the answer was there
};

struct Duplex {
    Tool tool;
    Moment moment;
};

class SentAgainOnADuplex : public ConnectionTest, public ::testing::WithParamInterface<Duplex> {};

// The hints are no matter here: the whole session has ended, and what it was given stays with it.
TEST_P(SentAgainOnADuplex, OnlyWhatTheTransportWasNotGiven) {
    const auto [tool, moment] = GetParam();
    long_lived = true;
    auto described = tool_named("a");
    if (tool == Tool::Idempotent) described["annotations"] = {{"idempotentHint", true}};
    if (tool == Tool::ReadOnly) described["annotations"] = {{"readOnlyHint", true}};
    server.be_legacy({described});
    int executions = 0;
    server.on_request = [&](const std::string& method) { executions += method == "tools/call"; };
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    if (moment == Moment::BeforeWrite) server.refusals["tools/call"] = {ErrorCode::Unavailable};
    if (moment == Moment::InTheOutbox) {
        server.full = true;
        connection().notify("notifications/roots/list_changed", "");  // full with it
    }
    begin(call("a"), outcome);
    if (moment == Moment::MidAnswer)
        server.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
    server.crash("exited");
    const bool given = moment == Moment::AfterWrite || moment == Moment::MidAnswer;
    if (given) {
        ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    }
    server.full = false;
    server.results["tools/call"] = [](const auto&) -> json::value { return {{"done", true}}; };
    ASSERT_TRUE(wait([&] {
        return connection().status().restarts == 1 && connection().state() == State::Ready;
    }));
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    pass(1ms);
    EXPECT_EQ(executions, 1) << "once, in whichever session";
    ASSERT_EQ(static_cast<bool>(*outcome), !given);
    if (given) {
        EXPECT_THAT(outcome->error().message,
                    ::testing::HasSubstr("exited; the request may have been carried out"));
    }
}

std::vector<Duplex> duplexes() {
    std::vector<Duplex> all;
    for (const auto tool : kTools)
        for (const auto moment :
             {Moment::BeforeWrite, Moment::InTheOutbox, Moment::AfterWrite, Moment::MidAnswer})
            all.push_back({tool, moment});
    return all;
}

std::string name_of(const Duplex& duplex) {
    const char* const moments[] = {"BeforeWrite", "InTheOutbox", "AfterWrite", "MidAnswer"};
    return name_of(duplex.tool) + moments[static_cast<int>(duplex.moment)];
}

void PrintTo(const Duplex& duplex, std::ostream* out) {
    *out << name_of(duplex);
}

INSTANTIATE_TEST_SUITE_P(Table, SentAgainOnADuplex, ::testing::ValuesIn(duplexes()),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace patchbay::connection
