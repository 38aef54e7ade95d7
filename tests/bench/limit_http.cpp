#include "limit_http.hpp"

#include "http_frame.hpp"
#include "measure.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace bench {

namespace {

constexpr std::string_view kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"patchbay","version":"0.1.0"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"form":{}}}})";

// What all connections of one client say.
class Words {
public:
    Words(const std::string& url, int count, char** words) : url_(url) {
        for (int i = 0; i < count; ++i) {
            const std::string_view word = words[i];
            if (word == "modern")
                modern_ = true;
            else if (word.substr(0, 5) == "tool=")
                tool_ = word.substr(5);
            else if (word.substr(0, 6) == "bytes=")
                bytes_ = static_cast<std::size_t>(std::atoll(words[i] + 6));
            else
                give_up("what is \"" + std::string(word) + "\"?");
        }
        const std::string arguments = bytes_ > 0 ? "{\"bytes\":" + std::to_string(bytes_) + "}"
                                                 : R"({"message":"hello, world"})";
        call_members_ = "\"name\":\"" + tool_ + "\",\"arguments\":" + arguments;
        call_head_ = head("tools/call", tool_);
    }

    const std::string& url() const { return url_; }
    bool modern() const { return modern_; }
    std::size_t bytes() const { return bytes_; }
    // Of the session that initialize has begun; every request names it from now on.
    void use_session(std::string_view id) {
        session_ = "MCP-Session-Id: " + std::string(id) + "\r\n";
        call_head_ = head("tools/call", tool_);
    }

    // Into `request`, whose room is used again.
    void call(std::size_t id, std::string& request) const {
        const auto number = std::to_string(id);
        request = call_head_;
        finish(request, R"({"jsonrpc":"2.0","id":)", number, R"(,"method":"tools/call")",
               call_members_);
    }
    // `id` empty: a notification.
    std::string message(std::string_view id, const std::string& method,
                        const std::string& members) const {
        std::string request = head(method, {});
        const auto before = id.empty() ? R"({"jsonrpc":"2.0")" : R"({"jsonrpc":"2.0","id":)";
        finish(request, before, id, ",\"method\":\"" + method + "\"", members);
        return request;
    }
    std::string get() const {
        return "GET /mcp HTTP/1.1\r\nHost: " + authority() +
               "\r\nAccept: text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n" + session_ +
               "\r\n";
    }

private:
    std::string authority() const { return url_.substr(7, url_.find('/', 7) - 7); }
    std::string head(const std::string& method, const std::string& name) const {
        std::string head = "POST /mcp HTTP/1.1\r\nHost: " + authority();
        head +=
            "\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nAccept-Encoding: gzip\r\n";
        head += session_;
        head += modern_ ? "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n"
                        : "MCP-Protocol-Version: 2025-11-25\r\n";
        if (modern_ && !name.empty()) head += "Mcp-Name: " + name + "\r\n";
        return head + "Content-Length: ";
    }
    void finish(std::string& request, std::string_view before, std::string_view id,
                std::string_view method, std::string_view members) const {
        constexpr std::string_view kParams = ",\"params\":{", kEnd = "}}";
        const auto meta = modern_ ? kMeta : std::string_view();
        const bool both = !meta.empty() && !members.empty();
        request += std::to_string(before.size() + id.size() + method.size() + kParams.size() +
                                  members.size() + both + meta.size() + kEnd.size());
        request.append("\r\n\r\n").append(before).append(id).append(method).append(kParams);
        request.append(members).append(both ? "," : "").append(meta).append(kEnd);
    }

    const std::string url_;  // http://127.0.0.1:PORT/mcp: programs of the benchmark, nothing else
    bool modern_ = false;
    std::string tool_ = "echo", session_, call_members_, call_head_;
    std::size_t bytes_ = 0;
};

class Peer {
public:
    explicit Peer(const Words& words) : words_(words) {
        const auto& url = words.url();
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        address.sin_port =
            ::htons(static_cast<std::uint16_t>(std::atoi(url.c_str() + url.rfind(':') + 1)));
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int on = 1;
        if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
            give_up("cannot connect to " + url);
    }
    ~Peer() { ::close(fd_); }
    Peer(const Peer&) = delete;

    int fd() const { return fd_; }

    void call(std::size_t id) {
        words_.call(id, request_);
        say(request_);
    }
    void say(std::string_view request) const {
        if (::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(request.size()))
            give_up("send");
    }

    // The usual one is small and comes alone: one read has all of it.
    void answer() {
        if (words_.bytes() > 0) return long_answer();
        expect(more(), "hello, world");
    }
    // As `done` says that it is all there.
    template <class Done>
    std::string text_until(Done done) {
        std::string text;
        while (!done(text)) text += more();
        return text;
    }
    std::string whole_answer() {
        return text_until([](const auto& text) { return first_frame(text).size > 0; });
    }

private:
    std::string_view more() {
        const ssize_t got = ::recv(fd_, piece().data(), piece().size(), 0);
        if (got <= 0) give_up("the server is gone");
        return {piece().data(), static_cast<std::size_t>(got)};
    }
    static void expect(std::string_view text, std::string_view part) {
        errno = 0;
        if (text.find(part) == text.npos)
            give_up("unexpected answer: " + std::string(text.substr(0, 1'000)));
    }
    // Counted, and not kept.
    void long_answer() {
        std::string head;
        while (head.find("\r\n\r\n") == head.npos) head += more();
        expect(head, "HTTP/1.1 200");
        const auto length = std::string(between(head, "\r\nContent-Length: ", "\r"));
        const auto size = static_cast<std::size_t>(std::atoll(length.c_str()));
        if (size < words_.bytes()) give_up("unexpected answer: " + head.substr(0, 1'000));
        for (auto got = head.size() - head.find("\r\n\r\n") - 4; got < size;) got += more().size();
    }
    // Of all of them: the streams are many.
    static std::array<char, 64u << 10>& piece() {
        static std::array<char, 64u << 10> piece;
        return piece;
    }

    const Words& words_;
    int fd_ = -1;
    std::string request_;
};

// A legacy client begins with a session, and calls a tool once, which waits for its server.
void begin(Words& words) {
    Peer peer(words);
    if (!words.modern()) {
        peer.say(words.message("1", "initialize",
                               R"("protocolVersion":"2025-11-25","capabilities":{},)"
                               R"("clientInfo":{"name":"bench","version":"1"})"));
        words.use_session(between(peer.whole_answer(), "MCP-Session-Id: ", "\r"));
        peer.say(words.message("", "notifications/initialized", ""));
        peer.whole_answer();
    }
    peer.call(2);
    peer.answer();
}

void latency(const Words& words, std::size_t calls) {
    Peer peer(words);
    std::vector<double> times;
    times.reserve(calls);
    for (std::size_t i = 0; i < calls + calls / 10; ++i) {
        const auto start = Clock::now();
        peer.call(i + 3);
        peer.answer();
        const auto took = Clock::now() - start;
        if (i >= calls / 10) times.push_back(microseconds(took));
    }
    const double p50 = percentile(times, 0.5);
    std::printf("p50_us %.3f p99_us %.3f\n", p50, percentile(times, 0.99));
}

void throughput(const Words& words, std::size_t calls, std::size_t flight) {
    std::vector<std::unique_ptr<Peer>> peers;
    const int poll = ::epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i < flight; ++i) {
        peers.push_back(std::make_unique<Peer>(words));
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = peers.back().get();
        if (::epoll_ctl(poll, EPOLL_CTL_ADD, peers.back()->fd(), &event) != 0) give_up("epoll_ctl");
    }
    const auto start = Clock::now();
    std::size_t sent = 0, answered = 0;
    for (; sent < flight && sent < calls; ++sent) peers[sent]->call(sent + 3);
    std::vector<epoll_event> events(flight);
    while (answered < calls) {
        const int count = ::epoll_wait(poll, events.data(), static_cast<int>(flight), -1);
        if (count < 0 && errno != EINTR) give_up("epoll_wait");
        for (int i = 0; i < count; ++i) {
            auto& peer = *static_cast<Peer*>(events[static_cast<std::size_t>(i)].data.ptr);
            peer.answer();
            ++answered;
            if (sent < calls) peer.call(++sent + 2);
        }
    }
    const double seconds = microseconds(Clock::now() - start) / 1e6;
    ::close(poll);
    std::printf("calls_per_s %.0f\n", static_cast<double>(calls) / seconds);
}

// Of the modern era a request that is not answered, of the legacy one what GET opens.
void streams(const Words& words, std::size_t count) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<std::unique_ptr<Peer>> peers;
    const auto start = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
        peers.push_back(std::make_unique<Peer>(words));
        peers.back()->say(words.modern()
                              ? words.message(std::to_string(i + 1), "subscriptions/listen",
                                              R"("notifications":{"toolsListChanged":true})")
                              : words.get());
    }
    for (auto& peer : peers) {
        // A refusal says how long it is.
        const auto text = peer->text_until([&](const auto& got) {
            return got.find(words.modern() ? "acknowledged" : "\r\n\r\n") != got.npos ||
                   got.find("Content-Length") != got.npos;
        });
        errno = 0;
        if (text.find("text/event-stream") == text.npos) give_up("no stream: " + text);
    }
    std::printf("open_ms %.3f\n", microseconds(Clock::now() - start) / 1'000);
    std::fflush(stdout);
    std::getchar();
}

}  // namespace

bool http_limit(int argc, char** argv) {
    if (argc < 4) return false;
    const std::string mode = argv[2];
    const auto count = static_cast<std::size_t>(std::atoll(argv[3]));
    const int words_begin = mode == "throughput" ? 5 : 4;
    if (argc < words_begin) return false;
    Words words(argv[1], argc - words_begin, argv + words_begin);
    if (mode == "streams") return streams(words, count), true;
    begin(words);
    if (mode == "latency") return latency(words, count), true;
    if (mode != "throughput") return false;
    return throughput(words, count, static_cast<std::size_t>(std::atoll(argv[4]))), true;
}

}  // namespace bench
