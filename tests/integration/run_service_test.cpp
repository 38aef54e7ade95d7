// `patchbay service`, and a host whose socket systemd has opened.
#include "integration/host_guest.hpp"
#include "support/result_schema.hpp"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

class Service : public ::testing::Test {
protected:
    Service() { home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000"; }
    ~Service() override { EXPECT_EQ(nothing_left(), ""); }

    json::object status() const {
        const auto done = home.run({"service", "status", "--json"});
        EXPECT_EQ(done.exit_code, 0) << done.err;
        const auto told = json::parse(done.out);
        EXPECT_TRUE(is_a("service", told));
        return told.as_object();
    }
    static std::string state(const json::object& told, const char* unit) {
        return std::string(told.at(unit).at("state").as_string());
    }
    static std::string file(const json::object& told, const char* unit) {
        return std::string(told.at(unit).at("file").as_string());
    }
    Home home;
};

TEST_F(Service, IsInstalledAndTakenAwayWithoutTouchingWhatIsNotItsOwn) {
    home.add_example("x");
    const auto before = status();
    EXPECT_EQ(state(before, "service"), "absent");
    EXPECT_FALSE(before.contains("host"));
    EXPECT_EQ(home.run({"service", "remove"}).exit_code, 6);
    const auto installed = home.run({"service", "install", "--json"});
    EXPECT_EQ(installed.exit_code, 0) << installed.err;
    EXPECT_TRUE(is_a("service", json::parse(installed.out)));
    const auto service = file(before, "service"), socket = file(before, "socket");
    EXPECT_EQ(fs::path(service).parent_path(), home.user_config().parent_path() / "systemd/user");
    const auto text = read_file(service);
    EXPECT_THAT(text, HasSubstr("\nType=notify\n"));
    EXPECT_THAT(text, HasSubstr("\nWorkingDirectory=" + home.work().string() + "\n"));
    EXPECT_THAT(
        read_file(socket),
        HasSubstr("\nListenStream=" + std::string(before.at("listens_at").as_string()) + "\n"));
    EXPECT_EQ(state(status(), "socket"), "installed");
    EXPECT_EQ(home.run({"service", "install"}).exit_code, 0) << "twice is once";
    std::ofstream(service, std::ios::app) << "Nice=5\n";
    EXPECT_EQ(state(status(), "service"), "changed");
    for (const char* verb : {"install", "remove"}) {
        const auto done = home.run({"service", verb});
        EXPECT_EQ(done.exit_code, 7) << verb;
        EXPECT_THAT(done.err, HasSubstr("was changed by somebody"));
    }
    EXPECT_TRUE(fs::exists(socket));
    home.write(service, text);
    home.write(fs::path(service).parent_path() / "other.service", "[Service]\n");
    const auto removed = home.run({"service", "remove", "--json"});
    EXPECT_EQ(removed.exit_code, 0) << removed.err;
    EXPECT_TRUE(is_a("service_removed", json::parse(removed.out)));
    EXPECT_FALSE(fs::exists(service));
    EXPECT_FALSE(fs::exists(socket));
    EXPECT_TRUE(fs::exists(fs::path(service).parent_path() / "other.service"));
}

TEST_F(Service, StatusSaysWhoRunsWithoutSystemdToo) {
    home.add_example("x");
    RunningHost host(home);
    EXPECT_EQ(status().at("host").at("pid"), host.program().pid());
    EXPECT_EQ(host.end().exit_code, 0);
    EXPECT_FALSE(status().contains("host"));
}

TEST_F(Service, SecretsAreNotWrittenIntoAUnit) {
    home.add_example("x");
    home.environment["PATCHBAY_CONFIG_JSON"] = "{\"mcpServers\":{}}";
    EXPECT_EQ(home.run({"service", "install"}).exit_code, 3);
    home.environment.erase("PATCHBAY_CONFIG_JSON");
    home.environment["TOKEN_OF_X"] = "hunter2-token";
    home.add_example("x", {}, {{"env", {{"TOKEN", "${TOKEN_OF_X}"}}}});
    const auto done = home.run({"--log-level", "debug", "service", "install"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("import-environment TOKEN_OF_X"));
    EXPECT_THAT(done.err, HasSubstr("--log-level is in no unit"));
    EXPECT_THAT(done.err, HasSubstr("systemctl --user")) << "what is next, wherever it is";
    EXPECT_THAT(read_file(file(status(), "service")), Not(HasSubstr("hunter2")));
    EXPECT_EQ(home.run({"service", "remove"}).exit_code, 0);
}

TEST_F(Service, NeitherIsAWordOfTheCommandLineThatMayBeOne) {
    home.add_example("x");
    for (const char* set : {"servers.new.env.TOKEN=hunter2", "servers.new.args=[\"hunter2\"]",
                            "servers={new={command=\"a\",headers={A=\"hunter2\"}}}",
                            "servers.new.url=https://a/hunter2", "auth.a.client_secret=hunter2",
                            "servers.new.command=a --password=hunter2"}) {
        const auto done = home.run({"--set", set, "service", "install"});
        EXPECT_EQ(done.exit_code, 3) << set;
        EXPECT_THAT(done.err, AllOf(HasSubstr("may hold a secret"), Not(HasSubstr("hunter2"))));
    }
    EXPECT_FALSE(fs::exists(home.user_config().parent_path() / "systemd"));
    const std::vector<std::string> set{"--set", "health.misses=5"};
    EXPECT_EQ(home.run({set[0], set[1], "service", "install"}).exit_code, 0);
    EXPECT_EQ(home.run({set[0], set[1], "service", "remove"}).exit_code, 0);
}

TEST_F(Service, TheUnitHasThePlaceWhereCommandsLook) {
    home.add_example("x");
    home.environment["XDG_RUNTIME_DIR"] = (home.root() / "run").string();
    fs::create_directories(home.root() / "run");
    fs::permissions(home.root() / "run", fs::perms(0700));
    EXPECT_EQ(home.run({"service", "install"}).exit_code, 0);
    const auto told = status();
    EXPECT_EQ(std::string(told.at("listens_at").as_string()).find(home.root() / "run/patchbay"),
              0u);
    const auto unit = read_file(file(told, "service"));
    EXPECT_THAT(
        unit,
        HasSubstr("\nEnvironment=\"XDG_RUNTIME_DIR=" + (home.root() / "run").string() + "\"\n"));
    EXPECT_THAT(unit, HasSubstr("\nUnsetEnvironment="));
    EXPECT_EQ(home.run({"service", "remove"}).exit_code, 0);
}

// A socket that listens at `path`, and that children inherit.
int listening_at(const std::string& path) {
    fs::create_directories(fs::path(path).parent_path());
    fs::permissions(fs::path(path).parent_path(), fs::perms(0700));
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
    EXPECT_EQ(::listen(fd, 64), 0);
    return fd;
}

// `patchbay run` as systemd starts it, with that socket as descriptor 3.
Command activated(const Home& home, int fd) {
    auto command = home.patchbay({"run"});
    std::string line = "exec 3<&" + std::to_string(fd) + "; LISTEN_PID=$$ LISTEN_FDS=1 exec";
    for (const auto& word : command.argv) line += " '" + word + "'";
    command.argv = {"/bin/bash", "-c", line};
    return command;
}

TEST_F(Service, TheFirstCommandComesAtASocketThatWasThereBefore) {
    home.add_example("x");
    const std::string path(status().at("listens_at").as_string());
    const int fd = listening_at(path);
    Program call(home.patchbay({"-v", "call", "mcp__x__echo", "message=hi"}));
    Program host(activated(home, fd));
    const auto done = call.finish();
    EXPECT_EQ(done.out, "hi\n");
    EXPECT_THAT(done.err, HasSubstr(" is asked")) << host.err();
    EXPECT_EQ(status().at("host").at("pid"), host.pid());
    host.signal(SIGTERM);
    EXPECT_EQ(host.finish().exit_code, 0);
    EXPECT_TRUE(fs::exists(path)) << "it is systemd's, who waits there for the next command";
    Program again(activated(home, fd));
    EXPECT_THAT(home.run({"-v", "call", "mcp__x__echo", "message=hi"}).err, HasSubstr(" is asked"));
    again.signal(SIGTERM);
    EXPECT_EQ(again.finish().exit_code, 0);
    ::close(fd);
}

TEST_F(Service, AHostByHandLeavesSystemdItsSocket) {
    home.add_example("x");
    const std::string path(status().at("listens_at").as_string());
    const int fd = listening_at(path);
    const auto done = home.run({"run"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err, HasSubstr("`systemctl --user start patchbay-"));
    Program call(home.patchbay({"-v", "call", "mcp__x__echo", "message=hi"}));
    Program host(activated(home, fd));
    EXPECT_EQ(call.finish().out, "hi\n") << host.err();
    host.signal(SIGTERM);
    EXPECT_EQ(host.finish().exit_code, 0);
    ::close(fd);
}

TEST_F(Service, ASocketOfSomethingElseIsRefused) {
    home.add_example("x");
    const auto other = (home.root() / "run/other.sock").string();
    const int fd = listening_at(other);
    const auto done = run(activated(home, fd));
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err, AllOf(HasSubstr(other), HasSubstr("patchbay service install")));
    ::close(fd);
}

}  // namespace
}  // namespace patchbay::test
