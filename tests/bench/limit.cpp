// The limit: the least that a client of this protocol can do on this machine. Raw pipes, blocking
// calls, a text search instead of a parser, no configuration, and no supervisor unless one is named; the
// same server, and the same messages that the host sends. A SERVER that is an URL is spoken to by limit_http.cpp.
//   patchbay-bench-limit SERVER latency CALLS | throughput CALLS FLIGHT | servers N [SUPERVISOR] | once
#include "limit_http.hpp"
#include "measure.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using bench::Child;
using namespace std::string_literals;

constexpr const char* kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"patchbay","version":"0.1.0"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{}}}})";

std::string request(std::size_t id, const char* method, const std::string& members) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(id) + ",\"method\":\"" + method +
           "\",\"params\":{" + members + (members.empty() ? "" : ",") + kMeta + "}}\n";
}

std::string echo_request(std::size_t id) {
    return request(id, "tools/call", R"("name":"echo","arguments":{"message":"hello, world"})");
}

void expect(std::string_view line, std::string_view part) {
    errno = 0;
    if (line.find(part) == std::string_view::npos)
        bench::give_up("unexpected answer: " + std::string(line));
}

std::unique_ptr<Child> connected(const std::string& server) {
    auto child = std::make_unique<Child>(std::vector<std::string>{server});
    child->write(request(1, "server/discover", ""));
    expect(child->read_line(), "supportedVersions");
    child->write(request(2, "tools/list", ""));
    expect(child->read_line(), "\"tools\":[");
    return child;
}

void latency(const std::string& server, std::size_t calls) {
    const auto child = connected(server);
    std::vector<double> times;
    times.reserve(calls);
    for (std::size_t i = 0; i < calls + calls / 10; ++i) {
        const auto start = bench::Clock::now();
        child->write(echo_request(i + 3));
        const auto line = child->read_line();
        const auto took = bench::Clock::now() - start;
        expect(line, "hello, world");
        if (i >= calls / 10) times.push_back(bench::microseconds(took));
    }
    const double p50 = bench::percentile(times, 0.5);
    std::printf("p50_us %.3f p99_us %.3f\n", p50, bench::percentile(times, 0.99));
}

void throughput(const std::string& server, std::size_t calls, std::size_t flight) {
    const auto child = connected(server);
    const auto start = bench::Clock::now();
    std::size_t sent = 0, answered = 0;
    while (answered < calls) {
        std::string round;
        while (sent < calls && sent - answered < flight) round += echo_request(++sent + 2);
        if (!round.empty()) child->write(round);
        answered += child->read_lines();
    }
    const double seconds = bench::microseconds(bench::Clock::now() - start) / 1e6;
    std::printf("calls_per_s %.0f\n", static_cast<double>(calls) / seconds);
}

// Alone, or under the program that ends all of its tree when this one is gone. Its control socket stays open as long
// as this process.
std::unique_ptr<Child> started(const std::string& server, const std::string& supervisor) {
    if (supervisor.empty()) return std::make_unique<Child>(std::vector{server});
    int control[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
        bench::give_up("socketpair");
    auto child =
        std::make_unique<Child>(std::vector{supervisor, "namespace"s, server, server}, control[1]);
    ::close(control[1]);
    return child;
}

// All started before the first is spoken to; each answer is followed by the next request at once.
void servers(const std::string& server, std::size_t count, const std::string& supervisor) {
    std::vector<std::unique_ptr<Child>> children;
    std::vector<pollfd> watched;
    for (std::size_t i = 0; i < count; ++i) {
        children.push_back(started(server, supervisor));
        children.back()->write(request(1, "server/discover", ""));
        watched.push_back({children.back()->out(), POLLIN, 0});
    }
    std::vector<int> answers(count, 0);
    for (std::size_t left = count; left > 0;) {
        if (::poll(watched.data(), watched.size(), 60'000) <= 0)
            bench::give_up("servers are silent");
        for (std::size_t i = 0; i < count; ++i) {
            if (watched[i].revents == 0) continue;
            const auto line = children[i]->read_line();
            if (++answers[i] == 1) {
                expect(line, "supportedVersions");
                children[i]->write(request(2, "tools/list", ""));
            } else {
                expect(line, "\"tools\":[");
                watched[i].fd = -1;
                --left;
            }
        }
    }
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();  // stays until its stdin ends, so that its memory can be read
    std::_Exit(0);   // the supervisors see to the rest
}

void once(const std::string& server) {
    const auto child = connected(server);
    child->write(echo_request(3));
    expect(child->read_line(), "hello, world");
    std::puts("hello, world");
}

}  // namespace

int main(int argc, char** argv) {
    const auto is = [&](const char* mode, int arguments) {
        return argc == 3 + arguments && std::strcmp(argv[2], mode) == 0;
    };
    const auto number = [&](int index) {
        return static_cast<std::size_t>(std::atoll(argv[index]));
    };
    const bool http = argc > 1 && std::strncmp(argv[1], "http://", 7) == 0;
    if (http && bench::http_limit(argc, argv)) return 0;
    if (is("latency", 1))
        latency(argv[1], number(3));
    else if (is("throughput", 2))
        throughput(argv[1], number(3), number(4));
    else if (is("servers", 1))
        servers(argv[1], number(3), {});
    else if (is("servers", 2))
        servers(argv[1], number(3), argv[4]);
    else if (is("once", 0))
        once(argv[1]);
    else {
        std::fputs(
            "usage: patchbay-bench-limit SERVER latency CALLS | throughput CALLS FLIGHT | servers "
            "N [SUPERVISOR] | once\n"
            "       patchbay-bench-limit URL latency CALLS | throughput CALLS FLIGHT | streams "
            "COUNT [modern] [tool=NAME] [bytes=COUNT]\n",
            stderr);
        return 64;
    }
}
