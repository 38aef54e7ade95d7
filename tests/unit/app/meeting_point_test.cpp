// Where commands find the host of their configuration, and what says that it is another one.
#include "app/meeting_point.hpp"

#include "app/configuration_digest.hpp"
#include "app/hello.hpp"
#include "core/descriptor.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;

config::Environment environment(std::map<std::string, std::string> variables = {}) {
    config::Environment made;
    made.working_directory = "/srv/app";
    made.home = "/home/me";
    made.config_home = "/home/me/.config";
    made.variable = [variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return {};
        return found->second;
    };
    return made;
}

TEST(MeetingPoint, IsAnotherOneWhereOtherFilesAreRead) {
    const auto key = meeting_key(environment(), {});
    EXPECT_EQ(key, meeting_key(environment({{"TERM", "dumb"}}), {}));
    auto elsewhere = environment(), more = environment(), set = environment();
    elsewhere.working_directory = "/srv/other";
    more.config_files = {"a.toml"};
    set.sets = {"host.stdio_sharing=true"};
    for (const auto& other : {elsewhere, more, set, environment({{"PATCHBAY_CONFIG", "/x.toml"}})})
        EXPECT_NE(key, meeting_key(other, {}));
    EXPECT_NE(key, meeting_key(environment(), {"/plugins"}));
    auto absolute = environment();
    absolute.config_files = {"/srv/app/a.toml"};
    EXPECT_EQ(meeting_key(more, {}), meeting_key(absolute, {}));
}

TEST(MeetingPoint, IsOneProcesssAtATime) {
    const test::ScratchFolder folder;
    const MeetingPoint point(folder / "run", "key");
    EXPECT_EQ(point.connect().value().get(), -1) << "nobody is there";
    {
        auto seat = point.take("/srv/app");
        ASSERT_TRUE(seat) << seat.error().message;
        const auto second = point.take("/srv/app");
        ASSERT_FALSE(second);
        EXPECT_THAT(second.error().message, HasSubstr("in /srv/app; `kill "));
        EXPECT_GE(point.connect().value().get(), 0);
        seat->give_up();
        EXPECT_EQ(point.connect().value().get(), -1);
        EXPECT_FALSE(point.take("/srv/app")) << "until it is gone";
    }
    EXPECT_TRUE(point.take("/srv/app"));
}

TEST(MeetingPoint, BelievesNoSocketThatOthersMayHaveMade) {
    const test::ScratchFolder folder;
    const MeetingPoint point(folder / "run", "key");
    auto seat = point.take("/srv/app");
    ASSERT_TRUE(seat);
    ASSERT_EQ(::chmod((folder / "run").c_str(), 0777), 0);
    const auto connected = point.connect();
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code, ErrorCode::Denied);
}

TEST(MeetingPoint, ReplacesNothingThatIsNoFileOfIts) {
    const test::ScratchFolder folder;
    const MeetingPoint point(folder / "run", "key");
    ASSERT_TRUE(point.take("/srv/app"));
    std::filesystem::create_directories(folder / "run/key.sock");
    const auto seat = point.take("/srv/app");
    ASSERT_FALSE(seat);
    EXPECT_THAT(seat.error().message, HasSubstr("key.sock"));
}

// As systemd does: at the same path, without the lock.
core::Descriptor listening_at(const std::string& path) {
    core::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket.get(), 0), 0);
    return socket;
}

TEST(MeetingPoint, TakesNoSocketFromSystemd) {
    const test::ScratchFolder folder;
    const MeetingPoint point(folder / "run", "0f3a91c2ffff");
    ASSERT_TRUE(point.take("/srv/app"));
    auto systemd = listening_at(point.path());
    for (int asked = 0; asked < 3; ++asked) {  // the last ones wait behind the first
        const auto seat = point.take("/srv/app");
        ASSERT_FALSE(seat);
        EXPECT_EQ(seat.error().code, ErrorCode::Invalid);
        EXPECT_THAT(seat.error().message,
                    HasSubstr("`systemctl --user start patchbay-app-0f3a91c2.service`"));
    }
    EXPECT_GE(core::Descriptor(::accept(systemd.get(), nullptr, nullptr)).get(), 0)
        << "it listens on";
    systemd.close();
    EXPECT_TRUE(point.take("/srv/app")) << "what a killed one left may go";
}

TEST(MeetingPoint, LeavesWhatSystemdHasPutInThePlaceOfItsSocket) {
    const test::ScratchFolder folder;
    const MeetingPoint point(folder / "run", "key");
    auto seat = point.take("/srv/app");
    ASSERT_TRUE(seat);
    std::filesystem::rename(point.path(), folder / "old");  // its number is not given anew
    const auto systemd = listening_at(point.path());
    seat->give_up();
    EXPECT_GE(point.connect().value().get(), 0);
}

registry::Snapshot snapshot(const boost::json::object& settings) {
    config::Config config;
    config::Server server;
    server.id = "git";
    server.transport = "stdio";
    server.settings = settings;
    config.servers.push_back(server);
    return *registry::snapshot_of(std::move(config));
}

TEST(ConfigurationDigest, IsAnotherOneWhereAServerWouldBe) {
    const auto plain = snapshot({{"command", "git-mcp"}});
    const auto digest = configuration_digest(plain, environment());
    EXPECT_EQ(digest, configuration_digest(plain, environment({{"TERM", "dumb"}})));
    EXPECT_NE(digest, configuration_digest(plain, environment({{"LANG", "C"}})));
    const auto shell = snapshot({{"command", "sh"}});
    EXPECT_EQ(configuration_digest(shell, environment({{"PATH", "/nowhere:/bin"}})),
              configuration_digest(shell, environment({{"PATH", "/bin"}})));
    EXPECT_NE(configuration_digest(shell, environment({{"PATH", "/nowhere"}})),
              configuration_digest(shell, environment({{"PATH", "/bin"}})));
    EXPECT_NE(digest, configuration_digest(snapshot({{"command", "git"}}), environment()));
    EXPECT_EQ(digest, configuration_digest(plain, environment({{"TOKEN", "a"}})));
    for (const auto& naming : {snapshot({{"command", "git"}, {"env", {{"T", "x${TOKEN:-none}"}}}}),
                               snapshot({{"command", "git"}, {"pass_env", {"TOKEN"}}})})
        EXPECT_NE(configuration_digest(naming, environment({{"TOKEN", "a"}})),
                  configuration_digest(naming, environment({{"TOKEN", "b"}})));
}

TEST(ConfigurationDigest, IsNoMatterOfWhereACommandLeadsThatNobodyApproved) {
    auto looked = snapshot({{"command", "git"}});
    config::Proposal proposal;
    proposal.id = "p";
    proposal.digest = "1";
    proposal.definition = {{"server", {{"command", "a"}}}, {"program", "/bin/a"}};
    looked.config.untrusted.push_back(proposal);
    auto not_looked = looked, other = looked, approved = looked;
    not_looked.config.untrusted[0].digest = "2";
    not_looked.config.untrusted[0].definition.erase("program");
    EXPECT_EQ(configuration_digest(looked, environment()),
              configuration_digest(not_looked, environment()));
    other.config.untrusted[0].definition["server"] = "b";
    EXPECT_NE(configuration_digest(looked, environment()),
              configuration_digest(other, environment()));
    approved.config.untrusted[0].approved = true;
    EXPECT_NE(configuration_digest(looked, environment()),
              configuration_digest(approved, environment()));
}

TEST(ConfigurationDigest, IsNoMatterOfHowMuchIsLogged) {
    auto loud = snapshot({{"command", "git"}});
    const auto quiet = loud;
    loud.config.log.level = "debug";
    loud.config.origins.push_back({"log.level", {config::Scope::Session, "--log-level"}});
    EXPECT_EQ(configuration_digest(loud, environment()),
              configuration_digest(quiet, environment()));
    loud.config.diagnostics.push_back(
        {config::RuleId::SyntaxError, config::Severity::Error, {}, "broken", {}});
    EXPECT_NE(configuration_digest(loud, environment()),
              configuration_digest(quiet, environment()));
}

TEST(Greeting, IsRefusedByAnotherProtocolWithBothVersions) {
    const auto hello = parse_hello(R"({"patchbay":{"protocol":7,"version":"9.9\u001b"}})");
    ASSERT_FALSE(hello);
    EXPECT_EQ(hello.error().code, ErrorCode::Unsupported);
    EXPECT_THAT(hello.error().message, HasSubstr("patchbay 9.9"));
    EXPECT_THAT(hello.error().message, Not(HasSubstr("\x1b")));
    EXPECT_FALSE(parse_hello(R"({"patchbay":{"protocol":"1"}})"));
    EXPECT_FALSE(parse_hello(R"({"patchbay":{"protocol":1,"as":"root"}})"));
    EXPECT_FALSE(parse_welcome("[1]"));
}

TEST(Greeting, TellsOfARefusalWithItsKind) {
    const auto refused = parse_welcome(refusal_line({ErrorCode::Limit, "too many"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Limit);
    EXPECT_EQ(refused.error().message, "too many");
}

}  // namespace
}  // namespace patchbay::app
