#include "handshake.hpp"

#include "ascii.hpp"
#include "net/outgoing.hpp"
#include "net/refusal.hpp"
#include "random_bytes.hpp"

#include <patchbay/cpp/base64.hpp>

#include <Poco/SHA1Engine.h>

#include <algorithm>
#include <poll.h>
#include <string_view>

namespace patchbay::ws {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytesPerSecond = 16u << 10;
constexpr std::string_view kSubprotocol = "mcp";

[[noreturn]] void fail(const std::string& why) {
    throw net::Trouble(PATCHBAY_E_PROTOCOL, "the WebSocket handshake failed: " + why);
}

template <class Bytes>
std::string base64(const Bytes& bytes) {
    return sdk::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// What a server makes of a key.
std::string answer_to(const std::string& key) {
    Poco::SHA1Engine engine;
    engine.update(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    return base64(engine.digest());
}

// A field of that name, of which there may be several, lists `option`.
bool lists(const net::Head& answer, std::string_view name, std::string_view option) {
    for (const auto& [each, value] : answer.fields) {
        if (!ascii::same(each, name)) continue;
        for (std::string_view rest = value; !rest.empty();) {
            auto item = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), item.size() + 1));
            while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
            while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
            if (ascii::same(item, option)) return true;
        }
    }
    return false;
}

// Sends what the socket takes of `bytes`, off their front.
void send_some(net::ByteStream& stream, std::string_view& bytes) {
    while (!bytes.empty()) {
        const auto put = stream.write(bytes);
        if (!put) bytes = {};  // receiving tells why
        if (!put || *put == 0) return;
        bytes.remove_prefix(*put);
    }
}

// The head of what is answered to `request` by `limit`; `rest` is what came behind it.
net::Head ask(net::ByteStream& stream, std::string_view request, Clock::time_point limit,
              std::string& rest) {
    net::HeadParser parser;
    char buffer[net::ByteStream::kPiece];
    for (;;) {
        send_some(stream, request);
        if (auto piece = stream.receive(buffer)) {
            if (piece->empty()) {
                parser.finish();
                fail("the server closed the connection without an answer");
            }
            limit += std::chrono::milliseconds(piece->size() * 1000 / kBytesPerSecond);
            if (parser.feed(*piece)) {
                rest = *piece;
                return parser.take();
            }
        }
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
        if (left <= 0) fail("no answer in time");
        const auto events = POLLIN | (stream.wants_to_write() ? POLLOUT : 0);
        pollfd wait{stream.fd(), static_cast<short>(events), 0};
        // Whatever it says: the next round finds out.
        static_cast<void>(::poll(&wait, 1, static_cast<int>(left)));
    }
}

}  // namespace

Handshake::Handshake(const net::Url& url) : url_(url), key_(base64(RandomBytes().take<16>())) {}

std::string Handshake::perform(net::ByteStream& stream, const net::HeaderList& fields,
                               std::chrono::milliseconds limit) const {
    std::string rest;
    const auto answer = [&] {
        try {
            return ask(stream, request(fields), Clock::now() + limit, rest);
        } catch (const net::Trouble& trouble) {
            if (trouble.code == PATCHBAY_E_PROTOCOL) throw;
            fail(trouble.text);
        }
    }();
    judge(answer);
    return rest;
}

std::string Handshake::request(const net::HeaderList& fields) const {
    net::Outgoing request;
    request.method = "GET";
    request.headers.set("Connection", "Upgrade");
    request.headers.set("Upgrade", "websocket");
    request.headers.set("Sec-WebSocket-Version", "13");
    request.headers.set("Sec-WebSocket-Key", key_);
    request.headers.set("Sec-WebSocket-Protocol", kSubprotocol);
    return request.head(url_.target, url_.authority(), fields, {});
}

void Handshake::judge(const net::Head& answer) const {
    const auto code = net::code_of_status(answer.status);
    if (answer.status != 101) {
        if (code != PATCHBAY_OK) throw net::Refusal{code, answer, {}, url_.text(), 0};
        fail("the server answered HTTP " + std::to_string(answer.status) + " " + answer.reason +
             ", which opens no WebSocket");
    }
    if (!lists(answer, "Connection", "Upgrade") || !lists(answer, "Upgrade", "websocket"))
        fail("the server does not say that it upgrades the connection to a WebSocket");
    if (answer.value("Sec-WebSocket-Accept") != answer_to(key_))
        fail("the server's Sec-WebSocket-Accept does not answer the key that it was sent");
    for (const auto& [name, value] : answer.fields) {
        if (value.empty()) continue;
        if (ascii::same(name, "Sec-WebSocket-Extensions"))
            throw net::Trouble(PATCHBAY_E_PROTOCOL,
                               "the server chose a WebSocket extension, and none was offered");
        if (ascii::same(name, "Sec-WebSocket-Protocol") && value != kSubprotocol)
            throw net::Trouble(PATCHBAY_E_PROTOCOL,
                               "the server chose another WebSocket subprotocol than \"mcp\"");
    }
}

}  // namespace patchbay::ws
