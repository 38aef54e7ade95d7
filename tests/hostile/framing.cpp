// How a step looks over each transport, and where a request begins and ends.
#include "hostile/peer.hpp"
#include "hostile/wire.hpp"

#include <cstdlib>

namespace patchbay::hostile {

namespace {

// The raw value of "id", and the text of "method"; the host writes both before anything that could
// hold them too.
std::string id_in(const std::string& message) {
    const auto at = message.find("\"id\":");
    if (at == std::string::npos) return {};
    return message.substr(at + 5, message.find_first_of(",}", at) - at - 5);
}
std::string method_in(const std::string& message) {
    const auto at = message.find("\"method\":\"");
    if (at == std::string::npos) return {};
    return message.substr(at + 10, message.find('"', at + 10) - at - 10);
}

// One message over a stream that goes both ways. Idle begins with the first call's answer.
void converse(Peer& peer, const std::string& message) {
    auto& session = *peer.session;
    const auto method = method_in(message), id = id_in(message);
    if (method.empty() || id.empty()) return;
    if (method == "subscriptions/listen") return;  // open for as long as nothing has changed
    peer.perform(session.answer(method, id));
    if (method == "tools/call") peer.perform(session.unasked(Phase::Idle));
}

class Lines : public Framing {
public:
    void opened(Peer& peer) override {
        peer.session = peer.find("");
        peer.perform(peer.session->unasked(Phase::Connect));
    }
    void received(Peer& peer, std::string& bytes) override {
        for (std::size_t end; (end = bytes.find('\n')) != std::string::npos;) {
            const auto line = bytes.substr(0, end);
            bytes.erase(0, end + 1);
            converse(peer, line);
        }
    }
};

// ---- HTTP

struct HttpRequest {
    std::string head, body;
    bool is(const char* method) const { return head.rfind(std::string(method) + " ", 0) == 0; }
    std::string path() const {
        const auto begin = head.find(' ') + 1;
        return head.substr(begin, head.find(' ', begin) - begin);
    }
    std::string cell() const {
        auto last = path();
        last = last.substr(0, last.find('?'));
        return last.substr(last.rfind('/') + 1);
    }
    std::string field(const std::string& name) const {
        const auto at = head.find("\r\n" + name + ": ");
        if (at == std::string::npos) return {};
        const auto begin = at + name.size() + 4;
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
};

std::optional<HttpRequest> take_request(std::string& bytes) {
    const auto end = bytes.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    HttpRequest request{bytes.substr(0, end + 2), {}};
    const auto size = static_cast<std::size_t>(std::atol(request.field("Content-Length").c_str()));
    if (bytes.size() < end + 4 + size) return std::nullopt;
    request.body = bytes.substr(end + 4, size);
    bytes.erase(0, end + 4 + size);
    return request;
}

const char* const kEvents =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string event(const std::string& message) {
    return "event: message\r\ndata: " + message + "\r\n\r\n";
}

// Messages as events, each a chunk of a body.
class Events : public Framing {
protected:
    std::string framed(const std::string& message) const override {
        return wire::chunk(event(message));
    }
    std::string first_part(const std::string& begin) const override {
        return wire::chunk("data: " + begin);
    }
    std::string next_part(const std::string& text) const override { return wire::chunk(text); }
};

// Streamable HTTP: one message is a body of its own, anything else a stream of events. Nobody can
// misbehave in Connect before the path has told the cell: then the first answer is no HTTP.
class Http : public Events {
public:
    void received(Peer& peer, std::string& bytes) override {
        while (auto request = take_request(bytes)) {
            peer.session = peer.find(request->cell());
            if (!peer.session) {
                peer.write(wire::head("404 Not Found", {}));
            } else if (peer.session->deaf) {
                return peer.mute();
            } else if (peer.session->misbehaves_in(Phase::Connect)) {
                bare_ = true;
                peer.perform(peer.session->unasked(Phase::Connect));
            } else {
                answer(peer, *request);
            }
        }
    }

private:
    void answer(Peer& peer, const HttpRequest& request) {
        auto& session = *peer.session;
        if (request.is("GET") && request.path() != "/" + request.cell())
            return peer.write(wire::head("401 No", {}));  // what metadata there should be
        if (request.is("GET") && session.cell.row->resumes &&
            !request.field("Last-Event-ID").empty())
            return peer.perform(session.resumed());
        if (request.is("GET")) {
            const auto steps = session.unasked(Phase::Idle, Session::Times::Always);
            if (steps.empty()) return peer.write(wire::head("405 No", {}));
            return stream(peer, steps, true);
        }
        const auto method = method_in(request.body), id = id_in(request.body);
        if (request.is("DELETE")) return peer.write(wire::head("200 OK", {}));
        if (method.empty() || id.empty()) return peer.write(wire::head("202 Accepted", {}));
        if (method == "subscriptions/listen")
            return stream(peer, session.unasked(Phase::Idle, Session::Times::Always), true);
        const auto steps = session.answer(method, id);
        if (steps.empty()) return peer.mute();
        const auto first = steps.front().kind;
        if (first == Step::Kind::Raw || first == Step::Kind::RawFlood || first == Step::Kind::Act)
            return peer.perform(steps);
        if (steps.size() > 1 || first != Step::Kind::Message) return body(peer, steps);
        const bool begins = method == "initialize";
        peer.write(
            wire::whole("200 OK", "application/json", steps.front().text,
                        begins ? "MCP-Session-Id: of-" + session.cell.row->name + "\r\n" : ""));
    }
    // Half a body, or one without end, is no stream of events.
    void body(Peer& peer, const Steps& steps) {
        const auto& first = steps.front();
        const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        if (first.kind == Step::Kind::Close) return peer.close();
        if (first.kind == Step::Kind::Half) {
            peer.write(head + "Content-Length: " + std::to_string(first.text.size()) + "\r\n\r\n" +
                       first.text.substr(0, first.text.size() / 2));
            peer.mute();
            return peer.perform({steps.begin() + 1, steps.end()});
        }
        if (first.kind == Step::Kind::Endless) {
            peer.write(head + "Transfer-Encoding: chunked\r\n\r\n" + wire::chunk(first.text));
            peer.flood([this] { return piece(); });
            return peer.mute();
        }
        stream(peer, steps, false);
    }
    void stream(Peer& peer, const Steps& steps, bool stays) {
        peer.write(kEvents);
        peer.perform(steps);
        if (!stays) peer.write("0\r\n\r\n");
    }
};

// HTTP with SSE: the answers of POSTs come over the stream.
class Sse : public Events {
public:
    void received(Peer& peer, std::string& bytes) override {
        while (auto request = take_request(bytes)) {
            auto* session = peer.session = peer.find(request->cell());
            if (!session) {
                peer.write(wire::head("404 Not Found", {}));
            } else if (session->deaf) {
                return peer.mute();
            } else if (request->is("GET")) {
                session->stream = &peer;
                if (session->misbehaves_in(Phase::Connect)) {
                    bare_ = true;
                    peer.perform(session->unasked(Phase::Connect));
                    continue;
                }
                peer.write(std::string(kEvents) + wire::chunk("event: endpoint\r\ndata: /" +
                                                              request->cell() + "\r\n\r\n"));
            } else {
                peer.write(wire::head("202 Accepted", {}));
                if (session->stream) converse(*session->stream, request->body);
            }
        }
    }
};

// ---- WebSocket

class WebSocket : public Framing {
public:
    void received(Peer& peer, std::string& bytes) override {
        if (!upgraded_) {
            const auto request = take_request(bytes);
            if (!request) return;
            upgraded_ = true;
            peer.session = peer.find(request->cell());
            if (!peer.session) return peer.close();
            peer.session->accept = wire::ws_accept(request->field("Sec-WebSocket-Key"));
            bare_ = peer.session->misbehaves_in(Phase::Connect);
            if (bare_) return peer.perform(peer.session->unasked(Phase::Connect));
            peer.write(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
                "Upgrade\r\nSec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Accept: " +
                peer.session->accept + "\r\n\r\n");
        }
        while (const auto message = take_message(bytes)) converse(peer, *message);
    }

protected:
    std::string framed(const std::string& message) const override {
        return wire::ws_frame(wire::kWsText, message);
    }
    std::string first_part(const std::string& begin) const override {
        return wire::ws_frame(wire::kWsText, begin, false);
    }
    std::string next_part(const std::string& text) const override {
        return wire::ws_frame(0, text, false);
    }

private:
    // The host's frames are masked, and each of its messages is one frame.
    static std::optional<std::string> take_message(std::string& bytes) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
        if (bytes.size() < 2) return std::nullopt;
        std::size_t size = byte(1) & 0x7f, at = 2;
        const std::size_t wide = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (bytes.size() < at + wide) return std::nullopt;
        if (wide) size = 0;
        for (std::size_t i = 0; i < wide; ++i) size = size << 8 | byte(at++);
        if (bytes.size() < at + 4 + size) return std::nullopt;
        const std::string mask = bytes.substr(at, 4);
        std::string text = bytes.substr(at + 4, size);
        for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(text[i] ^ mask[i % 4]);
        const bool is_text = (byte(0) & 0xf) == wire::kWsText;
        bytes.erase(0, at + 4 + size);
        return is_text ? text : std::string();
    }
    bool upgraded_ = false;
};

}  // namespace

std::unique_ptr<Framing> make_framing(Transport transport) {
    switch (transport) {
        case Transport::Http:
            return std::make_unique<Http>();
        case Transport::Sse:
            return std::make_unique<Sse>();
        case Transport::Ws:
            return std::make_unique<WebSocket>();
        default:
            return std::make_unique<Lines>();
    }
}

}  // namespace patchbay::hostile
