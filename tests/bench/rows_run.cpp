#include "measure.hpp"
#include "rig.hpp"

#include <boost/json.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// A host that stays: what it saves a command, how soon it is back after a server has died, what a
// changed file takes, and what it costs while nothing happens.
namespace bench {

namespace {

namespace json = boost::json;

constexpr int kConfigured = 100;
constexpr double kIdleSeconds = 60;
constexpr int kBetweenChangesMs = 200;
constexpr int kReadAgain = 10'000;  // turns until what must come has not

// `patchbay run` with a program's place at its socket.
class StayingHost {
public:
    explicit StayingHost(const Home& home) : child_(home.command({"run", "--json"})) {
        const std::string line(child_.read_line());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        json::value_to<std::string>(json::parse(line).at("socket"))
            .copy(address.sun_path, sizeof address.sun_path - 1);
        fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            give_up("cannot connect to the host that runs");
        send(R"({"patchbay":{"protocol":1,"as":"person"}})");
        read_line();
    }
    ~StayingHost() {
        ::close(fd_);
        ::kill(child_.pid(), SIGTERM);
    }
    StayingHost(const StayingHost&) = delete;

    pid_t pid() const { return child_.pid(); }
    json::object ask(const std::string& members) {
        send("{\"id\":1," + members + "}");
        for (;;) {
            const auto line = read_line();
            if (line.starts_with("{\"id\":1,")) return json::parse(line).as_object();
        }
    }
    json::object call(const std::string& server) {
        return ask(R"("op":"tools/call","name":"mcp__)" + server +
                   R"(__echo","arguments":{"message":"hello"})");
    }
    json::object status(const std::string& server) {
        const auto answer = ask("\"op\":\"status\"");
        for (const auto& each : answer.at("result").at("servers").as_array())
            if (each.at("id").as_string() == server) return each.as_object();
        give_up("no server " + server);
    }

private:
    void send(std::string line) {
        line += '\n';
        if (::send(fd_, line.data(), line.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(line.size()))
            give_up("the host that runs takes nothing");
    }
    std::string read_line() {
        for (std::size_t end; (end = text_.find('\n')) == text_.npos;) {
            char bytes[64u << 10];
            const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
            if (got <= 0) give_up("the host that runs has gone");
            text_.append(bytes, static_cast<std::size_t>(got));
        }
        auto line = text_.substr(0, text_.find('\n'));
        text_.erase(0, line.size() + 1);
        return line;
    }

    Child child_;
    int fd_ = -1;
    std::string text_;
};

double once_ms(const Programs& programs) {
    const auto start = Clock::now();
    Child child({programs.limit(), programs.server(), "once"});
    errno = 0;
    if (child.wait() != 0) give_up("the limit of one call failed");
    return milliseconds_since(start);
}

void measure_command(const Programs& programs, double effort, std::vector<Row>& rows) {
    const Home home(programs, 1, "command = \"" + programs.server() + "\"\n");
    StayingHost host(home);
    host.call("s1");
    Pair once;
    alternate(
        repeat(51, effort), [&] { once.limit.push_back(once_ms(programs)); },
        [&] {
            const auto start = Clock::now();
            Child child(home.command({"call", "mcp__s1__echo", "message=hello"}));
            errno = 0;
            if (child.wait() != 0) give_up("patchbay call failed");
            once.ours.push_back(milliseconds_since(start));
        });
    rows.push_back({"20", "one-shot call through patchbay run (limit: 14's)", "ms",
                    median(once.limit), median(once.ours), 1.3, kNone});
}

// From the kill of a server until its status has changed, and until its next one has answered.
void measure_return(const Programs& programs, double effort, std::vector<Row>& rows) {
    const Home home(programs, 1, "command = \"" + programs.server() + "\"\n");
    StayingHost host(home);
    host.call("s1");
    Pair noticed, again;
    for (int round = 0; round < repeat(21, effort); ++round) {
        const auto before = host.status("s1");
        again.limit.push_back(once_ms(programs));
        noticed.limit.push_back(again.limit.back());
        const auto start = Clock::now();
        ::kill(before.at("pid").to_number<pid_t>(), SIGKILL);
        int tries = 0;
        const auto same = [&before](const json::object& status) {
            const auto* pid = status.if_contains("pid");
            return pid && *pid == before.at("pid") && status.at("state") == before.at("state");
        };
        while (same(host.status("s1")))
            if (++tries > kReadAgain) give_up("a killed server is not noticed");
        noticed.ours.push_back(milliseconds_since(start));
        for (tries = 0; host.call("s1").at("ok") != true;)
            if (++tries > kReadAgain) give_up("a killed server does not come back");
        again.ours.push_back(milliseconds_since(start));
    }
    rows.push_back({"21", "a killed server is noticed (limit: row 14's)", "ms",
                    median(noticed.limit), median(noticed.ours), kNone, 250});
    rows.push_back({"21", "and the next one answers (100 ms and its start)", "ms",
                    median(again.limit), median(again.ours), kNone, 100 + median(again.limit)});
}

// One of many servers is turned off and on in the file: from when it is written until that is so. With a pause between them:
// changes on end wait for each other, as of ten parts of the host's time two are spent reading at most.
void measure_change(const Programs& programs, double effort, std::vector<Row>& rows) {
    const std::string settings = "command = \"" + programs.server() + "\"\nlazy = true\n";
    const Home home(programs, kConfigured, settings);
    StayingHost host(home);
    std::vector<double> taken;
    for (int round = 0; round < repeat(21, effort); ++round) {
        const bool on = round % 2 == 1;
        ::poll(nullptr, 0, kBetweenChangesMs);
        std::ofstream file(home.config());
        for (int i = 1; i <= kConfigured; ++i)
            file << "[servers.s" << i << "]\n"
                 << settings << (i == 7 && !on ? "enabled = false\n" : "");
        file.close();
        const auto start = Clock::now();
        for (int tries = 0; host.status("s7").at("enabled") != on;)
            if (++tries > kReadAgain) give_up("a changed file is not applied");
        taken.push_back(milliseconds_since(start));
    }
    rows.push_back(
        {"22", "a change of one of 100 servers is applied", "ms", kNone, median(taken), kNone, 20});
}

long switches(pid_t pid) {
    long all = 0;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream status(task.path() / "status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("voluntary_ctxt_switches:")) all += std::stol(line.substr(24));
    }
    return all;
}

void measure_rest(const Programs& programs, double effort, std::vector<Row>& rows) {
    const Home home(programs, kConfigured,
                    "command = \"" + programs.server() + "\"\nlazy = true\n");
    StayingHost host(home);
    host.status("s1");
    const auto before = switches(host.pid());
    const auto seconds = kIdleSeconds * effort;
    ::poll(nullptr, 0, static_cast<int>(seconds * 1000));
    const auto woken = static_cast<double>(switches(host.pid()) - before) / seconds;
    rows.push_back({"23", "an idle host's memory, 100 servers not started", "MB", kNone,
                    resident_mb(host.pid()), kNone, 12});
    rows.push_back({"23", "how often it wakes", "/s", kNone, woken, kNone, 1});
}

// Every server has listed its tools before, and none is started.
void measure_kept_tools(const Programs& programs, double effort, std::vector<Row>& rows) {
    const Home home(programs, kConfigured, "command = \"" + programs.server() + "\"\n");
    const auto tools_ms = [&] {
        const auto start = Clock::now();
        Child child(home.command({"--alone", "tools"}));
        child.pass_over();
        errno = 0;
        if (child.wait() != 0) give_up("patchbay tools failed");
        return milliseconds_since(start);
    };
    tools_ms();
    std::vector<double> taken;
    for (int round = 0; round < repeat(51, effort); ++round) taken.push_back(tools_ms());
    rows.push_back({"24", "patchbay tools, 100 servers in the catalogue", "ms", kNone,
                    median(taken), kNone, 5});
}

}  // namespace

void measure_running_host(const Programs& programs, double effort, std::vector<Row>& rows) {
    measure_command(programs, effort, rows);
    measure_return(programs, effort, rows);
    measure_change(programs, effort, rows);
    measure_kept_tools(programs, effort, rows);
    measure_rest(programs, effort, rows);
}

}  // namespace bench
