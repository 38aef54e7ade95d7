// Foreign bytes as what a WebSocket server says: the fields of its handshake up to an empty line
// (none: the right ones; ACCEPT stands for the answer to the key), then frames, then the end. The
// channel is opened at most once and closed once, what it hands on is UTF-8 within the limit, and
// the plugin keeps the contract of plugin.h.
#include "fuzz/require.hpp"
#include "support/plugin_host.hpp"
#include "support/scratch_folder.hpp"
#include "support/ws_handshake.hpp"
#include "utf8.hpp"

#include <cstdint>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using namespace patchbay;

// On a Unix socket, so that no port is used up; a thread that serves one connection after the other.
class Server {
public:
    explicit Server(const std::string& where) : path(where) {
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        FUZZ_REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        FUZZ_REQUIRE(::listen(listener_, 8) == 0);
        std::thread([this] { serve(); }).detach();
    }
    static Server& one() {
        static const test::ScratchFolder folder;
        static auto& server = *new Server(folder / "ws");
        return server;
    }
    void say(std::string fields, std::string frames) {
        const std::scoped_lock lock(mutex_);
        fields_ = std::move(fields);
        frames_ = std::move(frames);
    }

    const std::string path;

private:
    [[noreturn]] void serve() {
        for (;;) {
            const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0) continue;
            std::string head;
            for (char byte; head.find("\r\n\r\n") == head.npos && ::recv(fd, &byte, 1, 0) == 1;)
                head += byte;
            const auto answer = answer_to(head);
            static_cast<void>(!::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL));
            ::shutdown(fd, SHUT_WR);
            for (char piece[4096]; ::recv(fd, piece, sizeof piece, 0) > 0;) {
            }
            ::close(fd);
        }
    }
    std::string answer_to(const std::string& head) {
        const std::scoped_lock lock(mutex_);
        return test::ws_answer(head, fields_) + frames_;
    }

    int listener_ = -1;
    std::mutex mutex_;  // guards what follows
    std::string fields_, frames_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Neither is ever destroyed: workers of the plugin may outlive any input.
    static auto& loop = *new core::Loop;
    static auto& host = *new test::PluginHost(loop, "ws", patchbay_plugin_entry_0);
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto end = text.find("\n\n");
    std::string fields;
    if (end != text.npos) {
        for (const char letter : text.substr(0, end))
            fields += letter == '\n' ? std::string("\r\n") : std::string(1, letter);
        if (!fields.empty()) fields += "\r\n";
    }
    if (fields.empty()) fields = "Sec-WebSocket-Accept: ACCEPT\r\nSec-WebSocket-Protocol: mcp\r\n";
    Server::one().say(fields, std::string(text.substr(end == text.npos ? 0 : end + 2)));

    test::PluginChannel channel(loop, host);
    FUZZ_REQUIRE(channel.open(R"({"url":"ws://localhost/mcp","unix_socket":")" +
                              Server::one().path + "\"}") == PATCHBAY_OK);
    FUZZ_REQUIRE(channel.until([&] { return channel.closed(); }));
    for (const auto& message : channel.sorted_messages())
        FUZZ_REQUIRE(!message.empty() && ws::is_utf8(message) && message.size() <= size);
    FUZZ_REQUIRE(channel.end.status != PATCHBAY_OK && !channel.end.text.empty());
    FUZZ_REQUIRE(channel.faults.empty() && host.misbehaviour().empty());
    channel.destroy();
    return 0;
}
