#include "plugin/services/host_services.hpp"

#include "core/escapes.hpp"
#include "core/log.hpp"
#include "plugin/loading/catalogue.hpp"
#include "support/turned_loop.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using testing::HasSubstr;
using testing::Not;

namespace {

const void* ask(const HostServices& services, const char* id) {
    return services.host()->get_extension(services.host(), id);
}

TEST(HostServices, AnswerOnlyWhatWasAskedForAndGranted) {
    core::Loop loop;
    HostServices services("test", {PATCHBAY_HOST_CLOCK, PATCHBAY_HOST_REACTOR});
    services.attach(loop);
    EXPECT_NE(ask(services, PATCHBAY_HOST_CLOCK), nullptr);
    EXPECT_NE(ask(services, PATCHBAY_HOST_REACTOR), nullptr);
    EXPECT_EQ(ask(services, PATCHBAY_HOST_BUFFERS), nullptr);
    EXPECT_EQ(ask(services, PATCHBAY_HOST_PROCESS), nullptr);
    EXPECT_EQ(ask(services, "patchbay.host.clock/1x"), nullptr);
    EXPECT_EQ(ask(services, nullptr), nullptr);
    services.detach();
}

TEST(HostServices, LendTheReactorWhileTheyAreAttached) {
    core::Loop loop;
    HostServices services("test", {PATCHBAY_HOST_REACTOR});
    const auto* reactor =
        static_cast<const patchbay_host_reactor*>(ask(services, PATCHBAY_HOST_REACTOR));
    int ran = 0;
    const auto post = [&] {
        return reactor->post(services.host(), &ran, [](void* ctx) { ++*static_cast<int*>(ctx); });
    };
    EXPECT_EQ(post(), PATCHBAY_E_CLOSED);
    services.attach(loop);
    EXPECT_EQ(post(), PATCHBAY_OK);
    EXPECT_TRUE(
        loop.run_until([&] { return ran == 1; }, core::Clock::now() + std::chrono::seconds(20)));
    services.detach();
    EXPECT_EQ(post(), PATCHBAY_E_CLOSED);
}

TEST(HostServices, OfferTheClockThatDeadlinesUse) {
    test::TurnedLoop loop;
    HostServices services("test", {PATCHBAY_HOST_CLOCK});
    services.attach(loop);
    const auto* clock = static_cast<const patchbay_host_clock*>(ask(services, PATCHBAY_HOST_CLOCK));
    const auto told = [&] {
        return std::chrono::nanoseconds(clock->monotonic_ns(services.host()));
    };
    EXPECT_EQ(told(), loop.now().time_since_epoch());
    const auto date = clock->unix_ms(services.host());
    EXPECT_GT(date, 1'600'000'000'000u);
    loop.turn(std::chrono::hours(1));
    EXPECT_EQ(told(), loop.now().time_since_epoch());
    EXPECT_EQ(clock->unix_ms(services.host()), date + 3'600'000u);
    services.detach();
    EXPECT_LT(told(), loop.now().time_since_epoch()) << "no loop any more, so the machine's";
}

// The fixture refuses to be entered when it gets the process service.
TEST(HostServices, GiveChildrenOnlyToPluginsThatAreGrantedThem) {
    const auto load = [](const std::string& tail) {
        const PluginFolder folder;
        FakeManifest manifest;
        manifest.abi = "generation = 0\nwants = [\"patchbay.host.process/1\"]\n";
        manifest.tail = tail;
        install_fixture(folder, "fake", manifest);
        core::Loop loop;
        SearchOptions options;
        options.config_directories = {folder.path()};
        options.built_in = false;
        const auto loaded = Catalogue(loop, options).load("fake");
        return loaded ? "" : loaded.error().message;
    };
    EXPECT_EQ(load(""), "");
    EXPECT_EQ(load("[grants]\nspawn = false\n"), "");
    EXPECT_THAT(load("[grants]\nspawn = true\n"), HasSubstr("given too much"));
}

TEST(HostServices, LogWithoutSecrets) {
    HostServices services("test", {});
    const auto text = [](std::string_view words) { return str(words); };
    const patchbay_kv fields[] = {{text("user"), text("ann"), 0, 0},
                                  {text("token"), text("hunter22"), PATCHBAY_KV_SECRET, 0}};
    testing::internal::CaptureStderr();
    services.host()->log(services.host(), 4, text("signed\nin"), fields, 2);
    services.host()->log(services.host(), 99, text("out of range"), nullptr, 7);
    const auto log = testing::internal::GetCapturedStderr();
    EXPECT_THAT(log, HasSubstr("plugin \"test\": signed in user=ann token=***"));
    EXPECT_THAT(log, HasSubstr("out of range"));
    EXPECT_THAT(log, Not(HasSubstr("hunter22")));
    EXPECT_EQ(core::take_escapes(), 1u) << "what is beyond is fatal";
}

TEST(HostServices, CountABugThatAPluginTellsOfItself) {
    const HostServices services("test", {});
    const auto log = [&](std::int32_t level) {
        services.host()->log(services.host(), level, str("oh"), nullptr, 0);
        return core::take_escapes();
    };
    EXPECT_EQ(log(4), 0u);
    EXPECT_EQ(log(5), 1u);
}

TEST(HostServices, KeepTheFirstMisbehaviour) {
    HostServices services("test", {});
    EXPECT_EQ(services.misbehaviour(), "");
    services.misbehaved("first");
    services.misbehaved("second");
    EXPECT_EQ(services.misbehaviour(), "first");
}

}  // namespace
