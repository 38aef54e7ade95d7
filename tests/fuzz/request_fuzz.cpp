// Foreign bytes as what a client sends to our HTTP server on one connection, whole and in two pieces:
// what is a request is fit to be looked at, each is answered, and the connection ends.
#include "fuzz/require.hpp"
#include "http/server.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

using namespace patchbay;

namespace {

constexpr std::size_t kMostBody = 4'096;

struct Handler final : http::Handler {
    void on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) override {
        FUZZ_REQUIRE(!request.method.empty() && request.target.starts_with('/'));
        FUZZ_REQUIRE(request.count("host") <= 1 && request.count("content-length") <= 1);
        FUZZ_REQUIRE(!(request.count("content-length") && request.count("transfer-encoding")));
        for (const auto& [name, value] : request.headers) {
            FUZZ_REQUIRE(!name.empty());
            FUZZ_REQUIRE(name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ \r\n:") == name.npos);
            FUZZ_REQUIRE(value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos);
        }
        // Some are answered without what they hold.
        if (request.method == "DELETE") return exchange->answer(403, {}, "no");
        exchange->read_body([this, exchange, request](std::string body) {
            FUZZ_REQUIRE(body.size() <= kMostBody);
            ++requests;
            told += request.method + " " + request.target + " " + body + "\n";
            exchange->answer(200, {{"Content-Type", "text/plain"}}, "ok");
        });
    }
    std::size_t requests = 0;
    std::string told;
};

struct Rig {
    Rig() {
        http::Limits limits;
        limits.body_bytes = kMostBody;
        server.emplace(loop, *http::Listener::open(*http::parse_address("127.0.0.1:0")), handler,
                       limits);
    }
    core::Loop loop;
    Handler handler;
    std::optional<http::Server> server;
};

// Everything that came back.
std::string exchanged(Rig& rig, std::string_view first, std::string_view second) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Or so many ports would wait that none is left.
    const linger at_once{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(rig.server->address().port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    FUZZ_REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0);
    std::string got;
    bool ended = false;
    const auto turn = [&](const auto& done) {
        return rig.loop.run_until(
            [&] {
                char block[4'096];
                for (;;) {
                    const auto count = ::recv(fd, block, sizeof block, MSG_DONTWAIT);
                    if (count > 0) {
                        got.append(block, static_cast<std::size_t>(count));
                        continue;
                    }
                    ended = ended || count == 0 || (errno != EAGAIN && errno != EINTR);
                    return done();
                }
            },
            core::Clock::now() + std::chrono::seconds(20));
    };
    ::send(fd, first.data(), first.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (!second.empty()) {
        bool turned = false;
        rig.loop.post([&] { turned = true; });
        turn([&] { return turned; });
        ::send(fd, second.data(), second.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    ::shutdown(fd, SHUT_WR);
    FUZZ_REQUIRE(turn([&] { return ended; }));
    ::close(fd);
    return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Rig rig;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (size > 64u << 10) return 0;
    rig.handler.requests = 0;
    rig.handler.told.clear();
    const auto got = exchanged(rig, text, {});
    FUZZ_REQUIRE(got.empty() || got.starts_with("HTTP/1.1 "));
    const auto told = rig.handler.told;
    // Cut in two anywhere, they mean the same.
    rig.handler.told.clear();
    const auto middle = size / 2;
    exchanged(rig, text.substr(0, middle), text.substr(middle));
    FUZZ_REQUIRE(rig.handler.told == told);
    return 0;
}
