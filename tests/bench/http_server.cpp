// The peer of the HTTP rows: an MCP server of the 2025-11-25 revision that looks for members by their
// text, as the host and the limit program send them.
//   patchbay-bench-http-server plain     GET: 405
//                              streams   GET: a stream that stays open and silent, each with the line
//                                        "stream"
//                              silent    the same without the line
//                              stalls    from the first tools/call on nothing is read or answered
#include "http_loop.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kInitialized =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"bench","version":"1"}})";
constexpr std::string_view kTools =
    R"({"tools":[{"name":"echo","description":"Says it again","inputSchema":)"
    R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}]})";
constexpr std::string_view kStream =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

class Server final : public bench::HttpLoop {
public:
    enum class Mode { Plain, Streams, Silent, Stalls };
    explicit Server(Mode mode) : mode_(mode) {}

private:
    void on_request(int client, const bench::HttpFrame& request) override {
        client_ = client;
        if (request.head.front() == 'P')
            post(request.body);
        else if (request.head.front() != 'G')
            answer(client, "200 OK", "", {});
        else if (mode_ == Mode::Streams || mode_ == Mode::Silent)
            open_stream();
        else
            answer(client, "405 Method Not Allowed", "", {});
    }

    void open_stream() {
        say(client_, kStream);
        if (mode_ == Mode::Silent) return;
        std::puts("stream");
        std::fflush(stdout);
    }

    void post(std::string_view body) {
        const auto method = bench::between(body, "\"method\":\"", "\"");
        const auto id = bench::between(body, "\"id\":", ",}");
        if (method == "tools/call") {
            if (mode_ == Mode::Stalls) stall();
            result(id, R"({"content":[{"type":"text","text":")",
                   bench::between(body, "\"message\":\"", "\""), "\"}]}");
        } else if (method == "initialize") {
            result(id, kInitialized, "", "", "MCP-Session-Id: bench\r\n");
        } else if (method == "tools/list") {
            result(id, kTools);
        } else if (method == "ping") {
            result(id, "{}");
        } else if (id.empty()) {
            answer(client_, "202 Accepted", "", {});
        } else {
            json("", {R"({"jsonrpc":"2.0","id":)", id,
                      R"(,"error":{"code":-32601,"message":"no such method"}})"});
        }
    }

    void result(std::string_view id, std::string_view first, std::string_view second = "",
                std::string_view third = "", std::string_view header = "") {
        json(header, {R"({"jsonrpc":"2.0","id":)", id, ",\"result\":", first, second, third, "}"});
    }

    void json(std::string_view header, std::initializer_list<std::string_view> body) {
        answer(client_, "200 OK", std::string("Content-Type: application/json\r\n").append(header),
               body);
    }

    const Mode mode_;
    int client_ = -1;  // whose request is answered
};

std::optional<Server::Mode> mode_of(std::string_view word) {
    if (word == "plain") return Server::Mode::Plain;
    if (word == "streams") return Server::Mode::Streams;
    if (word == "silent") return Server::Mode::Silent;
    if (word == "stalls") return Server::Mode::Stalls;
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto mode = mode_of(argc == 2 ? argv[1] : "");
    if (!mode) {
        std::fputs("usage: patchbay-bench-http-server plain | streams | silent | stalls\n", stderr);
        return 64;
    }
    std::make_unique<Server>(*mode)->run();
}
