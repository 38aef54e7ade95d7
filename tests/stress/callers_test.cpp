// 64 callers on one connection, to a server that mixes everything: answers out of order, progress,
// log messages, subscriptions, questions in the middle of calls. What a message says tells whose it
// is. Callers come and go meanwhile, with their calls in flight.
//   PATCHBAY_CALLS=1000000 build/release/bin/stress_callers_test
#include "app/host.hpp"
#include "connection/caller.hpp"
#include "core/json.hpp"
#include "protocol/log_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

using namespace patchbay;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kClients = 64;
constexpr std::size_t kFlight = 4;  // calls of each at once

std::size_t calls_wanted() {
    const char* given = std::getenv("PATCHBAY_CALLS");
    return given ? static_cast<std::size_t>(std::atoll(given)) : 10'000;
}

struct Score {
    std::size_t calls = 0, dropped = 0, crossed = 0, missing = 0, refused = 0;
    std::size_t progress = 0, logs = 0, updates = 0, questions = 0, left = 0;
    std::string first;  // that went wrong

    void wrong(std::size_t& count, const std::string& what) {
        if (++count == 1 && first.empty()) first = what;
    }
};

class Rush;

// One caller. Everything that it asks carries its mark, and everything that reaches it must.
class Client final : public connection::Caller {
public:
    Client(Rush& rush, std::size_t index);
    ~Client() override;
    void begin();

    void notify(const std::string&, const std::string& method, std::string_view params,
                connection::Reference) override;
    connection::Question answer(const std::string&, const std::string&,
                                const boost::json::object& params, Answer answer,
                                const connection::About&) override;

private:
    using Check = std::function<void(const std::string& reply)>;
    void ready();
    void call_next();
    void call(const std::string& tool, const std::string& arguments, Check check,
              connection::ProgressHandler progress = {});
    void echo(const std::string& tag);
    void work(const std::string& tag);
    void sleep();
    void log(const std::string& tag);
    void touch();
    void ask(const std::string& tag);
    void request(const std::string& method, const std::string& params);
    bool is_mine(std::string_view text) const { return text.find(mark_) != text.npos; }

    Rush& rush_;
    const std::size_t level_;
    const std::string mark_;  // ends in what no other mark goes on with
    const std::string uri_;
    std::size_t serial_ = 0, in_flight_ = 0, touched_ = 0, updated_ = 0;
    int missing_ = 2;  // answers before it begins
    std::set<std::string> logged_;
    const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

class Rush {
public:
    explicit Rush(const std::string& protocol) : modern(protocol == "2026-07-28") {
        app::HostOptions options;
        auto& environment = options.environment;
        environment.working_directory = environment.home = "/";
        environment.config_home = environment.enterprise_directory = "/nonexistent";
        environment.variable = [](const std::string& name) -> std::optional<std::string> {
            if (name == "PATH") return "/usr/bin:/bin";
            return std::nullopt;
        };
        environment.sets = {"servers.one.mode=shared", "host.stdio_sharing=true",
                            "servers.one.command=" PATCHBAY_BUILD_DIR
                            "/bin/patchbay-example-server",
                            "servers.one.protocol=" + protocol, "client.elicitation=ask"};
        options.quiet = true;
        host.emplace(std::move(options));
    }
    ~Rush() { clients.clear(); }

    void run() {
        for (std::size_t i = 0; i < kClients; ++i) add();
        const auto limit = core::Clock::now() + std::chrono::minutes(30);
        // One of them goes every now and then, and a stranger takes its place.
        const std::size_t every = std::max<std::size_t>(wanted / 200, 1);
        std::size_t next = every;
        const auto idle = [&] {
            if (score.calls >= next && !over()) {
                next += every;
                const auto gone = clients.begin();
                clients.erase(gone);
                ++score.left;
                add();
            }
            return over() && in_flight == 0;
        };
        EXPECT_TRUE(host->run_until(idle, limit)) << "in flight: " << in_flight;
        clients.clear();
    }
    void add() {
        const auto index = ++last;
        clients[index] = std::make_unique<Client>(*this, index);
        clients[index]->begin();
    }
    bool over() const { return score.calls >= wanted; }

    const bool modern;
    const std::size_t wanted = calls_wanted();
    std::size_t in_flight = 0, last = 0;
    Score score;
    std::optional<app::Host> host;
    std::map<std::size_t, std::unique_ptr<Client>> clients;
};

Client::Client(Rush& rush, std::size_t index)
    : Caller(rush.host->callers(),
             {core::Principal::Kind::Embedder, std::to_string(index), {}, core::Trust::Approves}),
      rush_(rush),
      level_(index % protocol::kLogLevels.size()),
      mark_("<" + std::to_string(index) + ">"),
      uri_("mark:" + mark_) {}

Client::~Client() {
    *here_ = false;
    rush_.in_flight -= in_flight_;
    rush_.score.dropped += in_flight_;
}

void Client::begin() {
    request("logging/setLevel", R"("level":")" + std::string(protocol::kLogLevels[level_]) + "\"");
    request("resources/subscribe", "\"uri\":\"" + uri_ + "\"");
}

void Client::request(const std::string& method, const std::string& params) {
    router::ServerRequest request;
    request.server = "one";
    request.method = method;
    request.params.members = params;
    rush_.host->router().request(
        *this, std::move(request), [this, here = here_, method](const auto& reply) {
            if (!*here) return rush_.score.wrong(rush_.score.crossed, "told after it went");
            if (!reply || !reply->error.empty())
                rush_.score.wrong(rush_.score.missing, method + ": " + reply.error().message);
            if (--missing_ == 0) ready();
        });
}

void Client::ready() {
    for (std::size_t i = 0; i < kFlight; ++i) call_next();
}

void Client::call_next() {
    if (rush_.over()) return;
    const auto tag = mark_ + std::to_string(++serial_);
    switch ((serial_ + level_) % 8) {
        case 0:
            return work(tag);
        case 1:
            return log(tag);
        case 2:
            return ask(tag);
        case 3:
            return touch();
        case 4:
            return sleep();
        default:
            return echo(tag);
    }
}

void Client::call(const std::string& tool, const std::string& arguments, Check check,
                  connection::ProgressHandler progress) {
    router::Call call;
    call.name = "mcp__one__" + tool;
    call.arguments = "{" + arguments + "}";
    call.on_progress = std::move(progress);
    ++in_flight_;
    ++rush_.in_flight;
    rush_.host->router().call(
        *this, std::move(call),
        [this, here = here_, tool,
         check = std::move(check)](const Result<connection::Reply>& reply) {
            auto& score = rush_.score;
            if (!*here) return score.wrong(score.crossed, "told after it went");
            --in_flight_;
            --rush_.in_flight;
            ++score.calls;
            if (!reply || !reply->error.empty())
                score.wrong(
                    score.missing,
                    tool + ": " + (reply ? std::string(reply->error) : reply.error().message));
            else
                check(std::string(reply->result));
            call_next();
        });
}

void Client::echo(const std::string& tag) {
    call("echo", R"("message":")" + tag + "\"", [this, tag](const std::string& reply) {
        if (reply.find(tag) == reply.npos) rush_.score.wrong(rush_.score.crossed, reply);
    });
}

void Client::sleep() {
    const auto time = std::to_string(serial_ % 3);
    call("sleep", "\"ms\":" + time, [this, time](const std::string& reply) {
        if (reply.find("slept " + time) == reply.npos)
            rush_.score.wrong(rush_.score.crossed, reply);
    });
}

void Client::work(const std::string& tag) {
    const auto steps = 1 + serial_ % 4;
    const auto seen = std::make_shared<std::size_t>(0);
    call(
        "progress", R"("steps":)" + std::to_string(steps) + R"(,"message":")" + tag + "\"",
        [this, seen, steps, tag](const std::string&) {
            if (*seen != steps) rush_.score.wrong(rush_.score.missing, "progress of " + tag);
        },
        [this, seen, tag](const connection::Progress& told) {
            ++*seen;
            ++rush_.score.progress;
            if (told.message.find(tag + " ") != 0 || told.progress != static_cast<double>(*seen))
                rush_.score.wrong(rush_.score.crossed, tag + " heard of " + told.message);
        });
}

// The server says it before it answers.
void Client::log(const std::string& tag) {
    const auto level = serial_ % protocol::kLogLevels.size();
    call(
        "log",
        R"("level":")" + std::string(protocol::kLogLevels[level]) + R"(","message":")" + tag + "\"",
        [this, tag, level](const std::string&) {
            if ((logged_.erase(tag) > 0) != (level >= level_))
                rush_.score.wrong(rush_.score.missing, "log of " + tag);
        });
}

void Client::touch() {
    call("touch", "\"uri\":\"" + uri_ + "\"", [this](const std::string&) {
        if (updated_ < ++touched_) rush_.score.wrong(rush_.score.missing, "update of " + uri_);
    });
}

// Over one stream a legacy server cannot say whose question it is, and others have calls in flight.
void Client::ask(const std::string& tag) {
    call("ask", R"("question":")" + tag + "\"", [this, tag](const std::string& reply) {
        if (reply.find("it cannot be told which of the clients") != reply.npos)
            ++rush_.score.refused;
        else if (reply.find(tag) == reply.npos)
            rush_.score.wrong(rush_.score.crossed, reply);
    });
}

void Client::notify(const std::string&, const std::string& method, std::string_view params,
                    connection::Reference) {
    auto& score = rush_.score;
    const auto object = core::parse_json_object(params);
    const auto* members = object ? &*object : nullptr;
    if (method == "notifications/message") {
        ++score.logs;
        const auto level = protocol::log_severity(core::text_in(members, "level").value_or(""));
        if (!level || *level < level_)
            score.wrong(score.crossed, mark_ + " heard " + std::string(params));
        const auto text = core::text_in(members, "data").value_or("");
        if (is_mine(text)) logged_.emplace(text);
    } else if (method == "notifications/resources/updated") {
        ++score.updates;
        ++updated_;
        if (core::text_in(members, "uri") != uri_)
            score.wrong(score.crossed, mark_ + " heard " + std::string(params));
    } else {
        score.wrong(score.crossed, mark_ + " heard " + method);
    }
}

connection::Question Client::answer(const std::string&, const std::string&,
                                    const boost::json::object& params, Answer answer,
                                    const connection::About&) {
    auto& score = rush_.score;
    ++score.questions;
    const std::string question(core::text_in(&params, "message").value_or(""));
    if (!is_mine(question)) score.wrong(score.crossed, mark_ + " was asked " + question);
    // Some think about it, so that answers overtake each other.
    boost::json::object given{{"action", "accept"}, {"content", {{"name", question}, {"age", 1}}}};
    if (score.questions % 2 == 0) {
        answer(std::move(given));
    } else {
        rush_.host->loop().defer(
            [given = std::move(given), answer = std::move(answer)] { answer(given); });
    }
    return {};
}

class CallersOnOneConnection : public testing::TestWithParam<const char*> {};

TEST_P(CallersOnOneConnection, HearWhatIsTheirsAndNothingElse) {
    Rush rush(GetParam());
    rush.run();
    const auto& score = rush.score;
    EXPECT_EQ(score.crossed, 0u) << score.first;
    EXPECT_EQ(score.missing, 0u) << score.first;
    EXPECT_GE(score.calls, rush.wanted);
    EXPECT_GT(score.dropped, 0u) << "nobody left in the middle of a call";
    EXPECT_GT(score.progress, 0u);
    EXPECT_GT(score.logs, 0u);
    EXPECT_GT(score.updates, 0u);
    if (rush.modern) {
        EXPECT_GT(score.questions, 0u);
        EXPECT_EQ(score.refused, 0u);
    } else {
        EXPECT_GT(score.refused, 0u);
    }
    std::printf(
        "%zu calls, %zu dropped, %zu crossed, %zu missing; progress %zu, logs %zu, "
        "updates %zu, questions %zu, refused %zu, left %zu\n",
        score.calls, score.dropped, score.crossed, score.missing, score.progress, score.logs,
        score.updates, score.questions, score.refused, score.left);
}

INSTANTIATE_TEST_SUITE_P(Legacy, CallersOnOneConnection, testing::Values("2025-11-25"));
INSTANTIATE_TEST_SUITE_P(Modern, CallersOnOneConnection, testing::Values("2026-07-28"));

}  // namespace
