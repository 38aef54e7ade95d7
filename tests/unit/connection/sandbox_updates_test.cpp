// What a server is told of the sandbox that its clients run programs under, and when.
#include "connection/sandbox_updates.hpp"

#include "unit/connection/pool_fixture.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::connection {
namespace {

constexpr const char* kUpdate = "codex/sandbox-state/update";
constexpr const char* kReadOnly = R"({"sandboxPolicy":{"type":"read-only"},"sandboxCwd":"/work"})";
constexpr const char* kWrites = R"({"sandboxPolicy":{"type":"workspace-write"}})";

class SandboxOfAPool : public Pool {
protected:
    SandboxOfAPool() {
        long_lived = true;
        make = [this](FakeServer& server) {
            server.results["initialize"] = [this](const auto&) -> json::value {
                json::object capabilities{{"tools", json::object()}};
                if (declared) capabilities["experimental"] = *declared;
                return {{"protocolVersion", "2025-11-25"},
                        {"capabilities", std::move(capabilities)}};
            };
            if (answers)
                server.results[kUpdate] = [](const auto&) -> json::value { return json::object(); };
        };
    }
    void set(const std::string& state) {
        const auto told = pool().set_sandbox_state(state);
        ASSERT_TRUE(told) << told.error().message;
        pass(1ms);
    }
    std::vector<std::string> methods(std::size_t process = 0) const {
        std::vector<std::string> found;
        for (const auto& message : processes.at(process).received)
            if (const auto* method = message.if_contains("method"))
                found.emplace_back(method->as_string());
        return found;
    }
    // The params of each update, and whether it was a request.
    std::vector<std::string> updates(std::size_t process = 0) const {
        std::vector<std::string> found;
        for (const auto& message : processes.at(process).requests(kUpdate))
            found.push_back(json::serialize(message.at("params")) +
                            (message.contains("id") ? "" : " notified"));
        return found;
    }

    std::optional<json::object> declared = json::object{{"codex/sandbox-state", {{"version", 1}}}};
    bool answers = true;
};

TEST_F(SandboxOfAPool, AServerThatDeclaresItIsToldAfterInitialized) {
    set(kReadOnly);
    connect(first);
    EXPECT_THAT(updates(), ElementsAre(kReadOnly));
    EXPECT_THAT(methods(), ::testing::IsSupersetOf({"notifications/initialized", kUpdate}));
    const auto all = methods();
    EXPECT_LT(std::find(all.begin(), all.end(), "notifications/initialized"),
              std::find(all.begin(), all.end(), kUpdate));
    EXPECT_EQ(pool().sandbox_state(), kReadOnly);
}

TEST_F(SandboxOfAPool, AServerThatDoesNotDeclareItIsToldNothing) {
    for (const auto& each : std::vector<std::optional<json::object>>{
             std::nullopt, json::object(), json::object{{"codex/sandbox-state", nullptr}},
             json::object{{"codex/sandbox-state", false}},
             json::object{{"codex/sandbox-state-meta", json::object()}}}) {
        declared = each;
        pool_.reset();
        const auto process = opened;
        set(kReadOnly);
        connect(first);
        set(kWrites);
        EXPECT_THAT(updates(process), IsEmpty());
        EXPECT_EQ(call(first), std::to_string(opened));
    }
}

TEST_F(SandboxOfAPool, AServerIsToldWhenTheStateIsSetAndWhenItChanges) {
    connect(first);
    EXPECT_THAT(updates(), IsEmpty()) << "nobody has set one";
    const auto told = pool().set_sandbox_state(kReadOnly);
    ASSERT_TRUE(told);
    EXPECT_THAT(*told, ElementsAre("s"));
    pass(1ms);
    set(kWrites);
    EXPECT_THAT(updates(), ElementsAre(kReadOnly, kWrites));
    EXPECT_EQ(call(first), "1");
}

TEST_F(SandboxOfAPool, AServerThatComesBackIsToldAgain) {
    set(kReadOnly);
    connect(first);
    set(kWrites);
    processes[0].crash("killed");
    ASSERT_TRUE(wait([&] { return opened == 2 && status().state == State::Ready; }));
    EXPECT_THAT(updates(1), ElementsAre(kWrites));
}

TEST_F(SandboxOfAPool, WhenItIsClearedServersThatConnectAreToldNothing) {
    set(kReadOnly);
    connect(first);
    set("null");
    EXPECT_EQ(pool().sandbox_state(), "null");
    processes[0].crash("killed");
    ASSERT_TRUE(wait([&] { return opened == 2 && status().state == State::Ready; }));
    EXPECT_THAT(updates(0), ElementsAre(kReadOnly));
    EXPECT_THAT(updates(1), IsEmpty());
}

TEST_F(SandboxOfAPool, ACallWaitsUntilItsServerHasTakenUpTheState) {
    answers = false;
    set(kReadOnly);
    bool settled = false;
    pool().connect(first, {"s"}, [&] { settled = true; });
    ASSERT_TRUE(wait([&] { return opened == 1 && !updates().empty(); }));
    pass(SandboxUpdates::kAnswer - 100ms);
    EXPECT_FALSE(settled);
    processes[0].answer(processes[0].requests(kUpdate)[0].at("id").as_int64(), "{}");
    EXPECT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(call(first), "1");
}

TEST_F(SandboxOfAPool, AServerThatDoesNotAnswerIsReadyWhenItHasHadItsTime) {
    answers = false;
    set(kReadOnly);
    ::testing::internal::CaptureStderr();
    bool settled = false;
    pool().connect(first, {"s"}, [&] { settled = true; });
    ASSERT_TRUE(wait([&] { return opened == 1 && !updates().empty(); }));
    pass(SandboxUpdates::kAnswer + 100ms);
    EXPECT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(status().state, State::Ready);
    const auto said = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("server \"s\""));
    EXPECT_THAT(said, HasSubstr(kUpdate));
}

TEST_F(SandboxOfAPool, OfSeveralStatesWhileOneIsOnItsWayTheLastFollows) {
    answers = false;
    set(kReadOnly);
    pool().connect(first, {"s"}, [] {});
    ASSERT_TRUE(wait([&] { return opened == 1 && !updates().empty(); }));
    for (int i = 0; i < 1'000; ++i) set(R"({"n":)" + std::to_string(i) + "}");
    EXPECT_EQ(updates().size(), 1u);
    processes[0].answer(processes[0].requests(kUpdate)[0].at("id").as_int64(), "{}");
    ASSERT_TRUE(wait([&] { return updates().size() > 1; }));
    EXPECT_THAT(updates(), ElementsAre(kReadOnly, R"({"n":999})"));
}

TEST_F(SandboxOfAPool, AServerThatKnowsNoSuchRequestIsNotifiedInThatSession) {
    const auto usual = make;
    make = [usual](FakeServer& server) {
        usual(server);
        server.results.erase(kUpdate);
        server.errors[kUpdate] = {-32601, "Method not found"};
    };
    set(kReadOnly);
    ::testing::internal::CaptureStderr();
    connect(first);
    set(kWrites);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("Method not found (-32601)"));
    EXPECT_THAT(updates(), ElementsAre(kReadOnly, std::string(kReadOnly) + " notified",
                                       std::string(kWrites) + " notified"));
    EXPECT_EQ(call(first), "1");
}

TEST_F(SandboxOfAPool, AServerThatRefusesIsToldOfInTheLogAndGoesOn) {
    const auto usual = make;
    make = [usual](FakeServer& server) {
        usual(server);
        server.results.erase(kUpdate);
        server.errors[kUpdate] = {-32603, "no such policy"};
    };
    set(kReadOnly);
    ::testing::internal::CaptureStderr();
    connect(first);
    const auto said = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("server \"s\": it refuses codex/sandbox-state/update"));
    EXPECT_THAT(said, HasSubstr("no such policy (-32603)"));
    EXPECT_THAT(updates(), ElementsAre(kReadOnly));
    EXPECT_EQ(call(first), "1");
}

TEST_F(SandboxOfAPool, WhatIsClearedWhileItIsRefusedIsNotSaidAnyMore) {
    answers = false;
    set(kReadOnly);
    pool().connect(first, {"s"}, [] {});
    ASSERT_TRUE(wait([&] { return opened == 1 && !updates().empty(); }));
    set("null");
    processes[0].say(R"({"jsonrpc":"2.0","id":)" +
                     json::serialize(processes[0].requests(kUpdate)[0].at("id")) +
                     R"(,"error":{"code":-32601,"message":"no"}})");
    ASSERT_TRUE(wait([&] { return status().state == State::Ready; }));
    EXPECT_THAT(updates(), ElementsAre(kReadOnly));
}

TEST_F(SandboxOfAPool, WhatIsNoStateIsRefusedAndTheOneBeforeStays) {
    set(kReadOnly);
    for (const char* text :
         {"", "{", "[]", "1", "\"x\"", "{}{}", R"({"a":1,"a":2})", "{\"a\":nul}"}) {
        const auto refused = pool().set_sandbox_state(text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code, ErrorCode::Invalid) << text;
        EXPECT_THAT(refused.error().message, HasSubstr("sandbox state")) << text;
    }
    const auto state_of = [](std::size_t bytes) {
        return "{\"a\":\"" + std::string(bytes - 8, 'x') + "\"}";
    };
    EXPECT_TRUE(sandbox_state_in(state_of(kMostSandboxStateBytes)));
    const auto refused = pool().set_sandbox_state(state_of(kMostSandboxStateBytes + 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Limit);
    EXPECT_THAT(refused.error().message, HasSubstr("at most 65536 bytes"));
    EXPECT_EQ(pool().sandbox_state(), kReadOnly);
}

TEST_F(SandboxOfAPool, TheStateKeepsItsNumbersAndItsMeta) {
    const std::string state = R"({"n":9007199254740993.50,"_meta":{"a":1},"s":" x "})";
    set("{\n \"n\" : 9007199254740993.50,\n \"_meta\": {\"a\": 1}, \"s\":\" x \"}");
    EXPECT_EQ(pool().sandbox_state(), state);
    connect(first);
    EXPECT_THAT(processes[0].bodies, ::testing::Contains(HasSubstr("9007199254740993.50")));
    const auto params = processes[0].requests(kUpdate)[0].at("params").as_object();
    EXPECT_EQ(json::serialize(params.at("_meta")), R"({"a":1})");
}

TEST_F(SandboxOfAPool, AModernServerThatDeclaresItIsToldToo) {
    make = [](FakeServer& server) {
        server.be_modern({tool_named("a")});
        server.errors.erase("server/discover");
        server.results.erase("initialize");
        server.errors["initialize"] = {-32601, "Method not found"};
        server.results["server/discover"] = [](const auto&) -> json::value {
            return {{"resultType", "complete"},
                    {"supportedVersions", {"2026-07-28"}},
                    {"capabilities",
                     {{"tools", json::object()},
                      {"experimental", {{"codex/sandbox-state", json::object()}}}}},
                    {"ttlMs", 0},
                    {"cacheScope", "public"}};
        };
        server.results[kUpdate] = [](const auto&) -> json::value {
            return {{"resultType", "complete"}};
        };
    };
    set(kReadOnly);
    connect(first);
    ASSERT_EQ(processes[0].requests(kUpdate).size(), 1u);
    const auto params = processes[0].requests(kUpdate)[0].at("params").as_object();
    EXPECT_EQ(json::serialize(params.at("sandboxCwd")), "\"/work\"");
    EXPECT_TRUE(params.contains("_meta")) << "as every modern request has it";
}

}  // namespace
}  // namespace patchbay::connection
