// A server that is wrong in a way of its own for as long as it runs:  faulty_server FAULT
//   exits      ends at every third call, in turn before the answer, behind it, and by a signal
//   mute       answers all but calls
//   dead       answers nothing once its tools are listed
//   noisy      10 MB a second on stderr
//   storm      10,000 times a second that its tools have changed, or FAULTY_CHANGES times in 10 ms
//   many       100,000 tools
//   others     other tools in each list, and says so behind each call
// Speaks 2025-11-25 over stdio. Each list of its tools adds a byte to the file FAULTY_LISTS. How many calls were
// answered is in FAULTY_CALLS, so that it outlives the process.
#include <boost/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace json = boost::json;

constexpr int kTurnMs = 10;
constexpr std::size_t kNoise = 100'000;  // a turn
constexpr int kChanges = 100;            // a turn
constexpr int kManyTools = 100'000;

const char kChanged[] = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"
                        "\n";

// One more byte in the file of that name; how many there were.
long count(const char* variable) {
    const char* file = std::getenv(variable);
    if (!file) return 0;
    const int fd = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0 || ::write(fd, ".", 1) != 1) std::abort();
    ::close(fd);
    return info.st_size;
}

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto put = ::write(fd, text.data(), text.size());
        if (put <= 0) std::exit(0);
        text.remove_prefix(static_cast<std::size_t>(put));
    }
}

class Server {
public:
    explicit Server(std::string fault) : fault_(std::move(fault)) {}

    void take(std::string_view line) {
        const auto message = json::parse({line.data(), line.size()}).as_object();
        const auto* id = message.if_contains("id");
        const auto* method = message.if_contains("method");
        if (!id || !method || silent_) return;
        const auto& name = method->as_string();
        if (name == "initialize")
            answer(*id, {{"protocolVersion", "2025-11-25"},
                         {"capabilities", {{"tools", {{"listChanged", true}}}}},
                         {"serverInfo", {{"name", "faulty"}, {"version", "1"}}}});
        else if (name == "ping")
            answer(*id, {});
        else if (name == "tools/list")
            list(*id);
        else if (name == "tools/call")
            call(*id);
        else
            say({{"jsonrpc", "2.0"},
                 {"id", *id},
                 {"error", {{"code", -32601}, {"message", "no such method"}}}});
    }
    // Every kTurnMs.
    void turn() {
        if (!listed_) return;
        if (fault_ == "noisy") write_all(2, noise_);
        if (fault_ == "storm") write_all(1, changes_);
    }

private:
    static void say(const json::object& message) { write_all(1, json::serialize(message) + "\n"); }
    static void answer(const json::value& id, json::object result) {
        say({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
    }
    void list(const json::value& id) {
        const auto lists = count("FAULTY_LISTS");
        json::array tools{{{"name", "do"}, {"inputSchema", {{"type", "object"}}}}};
        const auto add = [&](const std::string& name) {
            tools.push_back({{"name", name}, {"inputSchema", {{"type", "object"}}}});
        };
        if (fault_ == "others") add("tool_" + std::to_string(lists));
        if (fault_ == "many")
            for (int i = 0; i < kManyTools; ++i) add("tool_" + std::to_string(i));
        answer(id, {{"tools", std::move(tools)}});
        listed_ = true;
        silent_ = fault_ == "dead";
    }
    void call(const json::value& id) {
        const auto calls = count("FAULTY_CALLS");
        if (fault_ == "mute") return;
        const bool ends = fault_ == "exits" && calls % 3 == 2;
        const auto how = calls / 3 % 3;
        if (ends && how == 0) std::exit(3);
        if (ends && how == 1) std::raise(SIGKILL);
        answer(id, {{"content", {{{"type", "text"}, {"text", "done"}}}}});
        if (ends) std::exit(0);
        if (fault_ == "others") write_all(1, kChanged);
    }

    const std::string fault_;
    std::string noise_ = std::string(kNoise - 1, 'n') + "\n";
    std::string changes_ = [] {
        std::string all;
        const char* wanted = std::getenv("FAULTY_CHANGES");
        const int changes = wanted ? std::atoi(wanted) : kChanges;
        for (int i = 0; i < changes; ++i) all += kChanged;
        return all;
    }();
    bool listed_ = false, silent_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: faulty_server FAULT, of those in its source\n");
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    Server server(argv[1]);
    std::string input;
    auto next = std::chrono::steady_clock::now();
    for (;;) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= next) {
            server.turn();
            next = now + std::chrono::milliseconds(kTurnMs);
        }
        pollfd ready{0, POLLIN, 0};
        if (::poll(&ready, 1, kTurnMs) <= 0) continue;
        char bytes[64u << 10];
        const auto got = ::read(0, bytes, sizeof bytes);
        if (got <= 0) return 0;
        input.append(bytes, static_cast<std::size_t>(got));
        for (std::size_t end; (end = input.find('\n')) != input.npos; input.erase(0, end + 1))
            server.take(std::string_view(input).substr(0, end));
    }
}
