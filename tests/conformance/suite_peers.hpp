// The servers of the transport suite: one kind for each bundled transport, each of which plays the
// same modes. They know the transport, not MCP.
#pragma once

#include "conformance/peers.hpp"
#include "support/scratch_folder.hpp"
#include "support/scripted_http.hpp"
#include "support/ws_server.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::test {

enum class Mode {
    Echo,    // every message back
    Silent,  // reads, never answers
    Deaf,    // never reads
    Late,    // reads nothing before hear(), then as Echo
    Count,   // `number` messages {"n":0}.., then as Echo
    Odd,     // {"n":0}, {"n":1}, [{"n":2}], {"n":3} among what a transport passes over
    Cut,     // {"n":0} and half a message, then it leaves
    Flood,   // a message of `number` bytes that does not end
    Leave,   // leaves without a word
};

class SuitePeer {
public:
    virtual ~SuitePeer() = default;
    virtual std::string settings() const = 0;  // the transport's, for a channel to it
    virtual void hear() {}
    // How many messages have reached it, of a server that can tell.
    virtual std::size_t heard() const { return 0; }
};

inline std::string numbered(long n) {
    return "{\"n\":" + std::to_string(n) + "}";
}
constexpr std::size_t kFloodPiece = 64u << 10;

// ---- stdio, tcp: tests/servers/line_peer.c

class LinePeer final : public SuitePeer {
public:
    LinePeer(const std::string& plugin, Mode mode, long number) {
        static constexpr const char* kWords[] = {"echo", "silent", "deaf",  "late", "count",
                                                 "odd",  "cut",    "flood", "exit"};
        std::vector<std::string> words{kWords[static_cast<std::size_t>(mode)]};
        if (mode == Mode::Late) {
            fifo_ = folder_ / "say";
            if (::mkfifo(fifo_.c_str(), 0600) != 0) throw std::runtime_error(fifo_);
            words.push_back(fifo_);
        }
        if (mode == Mode::Count || mode == Mode::Flood) words.push_back(std::to_string(number));
        if (mode == Mode::Leave) words.push_back("3");
        settings_ = peer_settings(plugin, std::move(words), ",\"stop_grace_ms\":200");
    }
    ~LinePeer() override {
        if (opened_ >= 0) ::close(opened_);
    }
    std::string settings() const override { return settings_; }
    // For both directions: it waits for nobody.
    void hear() override { opened_ = ::open(fifo_.c_str(), O_RDWR | O_CLOEXEC); }

private:
    const ScratchFolder folder_;
    std::string settings_, fifo_;
    int opened_ = -1;
};

// ---- http, sse

class HttpPeer : public SuitePeer {
public:
    explicit HttpPeer(ScriptedHttp::Script script) : server_(std::move(script)) {}
    std::string settings() const override { return "{\"url\":\"" + server_.url() + "\"}"; }
    void hear() override { server_.hear(true); }
    std::size_t heard() const override { return server_.count("POST"); }

protected:
    using Answer = ScriptedHttp::Answer;
    using Request = ScriptedHttp::Request;
    using Then = ScriptedHttp::Answer::Then;

    static std::string event(const std::string& data) { return "data: " + data + "\n\n"; }
    static std::string events(long number) {
        std::string all;
        for (long i = 0; i < number; ++i) all += event(numbered(i));
        return all;
    }
    static constexpr const char* kOddEvents =
        ": a comment\n\ndata: {\"n\":0}\r\n\r\nevent: ping\ndata: {\"n\":77}\n\n"
        "id: 7\nretry: 5\n\ndata: {\"n\":1}\r\rdata\n\nnonsense\n\nevent: message\n"
        "data: [{\"n\":2}]\nunknown: field\n\n\xef\xbb\xbf: no mark here\n\ndata:{\"n\":3}\n\n";

    ScriptedHttp server_;
};

// Its answers are JSON; those of `streams`, and of every mode that says more than one thing, are
// streams of events.
class StreamableHttpPeer final : public HttpPeer {
public:
    StreamableHttpPeer(Mode mode, long number, bool streams)
        : HttpPeer([=](const Request& request) { return answer(request, mode, number, streams); }) {
        if (mode == Mode::Deaf || mode == Mode::Late) server_.hear(false);
    }

private:
    static Answer answer(const Request& request, Mode mode, long number, bool streams) {
        if (!request.is("POST")) return {ScriptedHttp::empty("405 Method Not Allowed")};
        switch (mode) {
            case Mode::Count:
                return {ScriptedHttp::stream(events(number))};
            case Mode::Odd:
                return {ScriptedHttp::stream(kOddEvents)};
            case Mode::Cut:
                if (!streams)  // in a framing of its own, which is cut off as well
                    return {ScriptedHttp::stream(event(numbered(0)) + "data: {\"n\":", ""),
                            Then::Close};
                return {ScriptedHttp::events(event(numbered(0)) + "data: {\"n\":"), Then::Close};
            case Mode::Leave:
                return {{}, Then::Close};
            case Mode::Silent:
                return {};
            case Mode::Flood: {
                Answer flood{streams ? ScriptedHttp::events("data: ")
                                     : "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"};
                flood.piece = std::string(kFloodPiece, 'a');
                flood.times = static_cast<std::size_t>(number) / kFloodPiece;
                return flood;
            }
            default:
                return {streams ? ScriptedHttp::stream(event(request.body))
                                : ScriptedHttp::json(request.body)};
        }
    }
};

class SsePeer final : public HttpPeer {
public:
    SsePeer(Mode mode, long number)
        : HttpPeer([=](const Request& request) { return answer(request, mode, number); }) {}

private:
    static Answer answer(const Request& request, Mode mode, long number) {
        if (request.is("POST")) {
            if (mode == Mode::Silent) return {};
            Answer echo{ScriptedHttp::empty("202 Accepted")};
            echo.on_stream = event(request.body);
            return echo;
        }
        Answer answer{ScriptedHttp::events("event: endpoint\ndata: /messages\n\n")};
        switch (mode) {
            case Mode::Deaf:
            case Mode::Late:
                answer.then = Then::Deafen;
                break;
            case Mode::Count:
                answer.bytes += events(number);
                break;
            case Mode::Odd:
                answer.bytes += kOddEvents;
                break;
            case Mode::Cut:
                answer.bytes += event(numbered(0)) + "data: {\"n\":";
                answer.then = Then::Close;
                break;
            case Mode::Leave:
                answer.then = Then::Close;
                break;
            case Mode::Flood:
                answer.bytes += "data: ";
                answer.piece = std::string(kFloodPiece, 'a');
                answer.times = static_cast<std::size_t>(number) / kFloodPiece;
                break;
            default:
                break;
        }
        return answer;
    }
};

// ---- ws

class WsPeer final : public SuitePeer {
public:
    WsPeer(Mode mode, long number) : server_(play(mode, number)) {}
    std::string settings() const override { return "{\"url\":\"" + server_.url() + "\"}"; }
    void hear() override { server_.read_on(); }
    std::size_t heard() const override { return server_.frames().size(); }

private:
    static WsServer::Play play(Mode mode, long number) {
        WsServer::Play play;
        play.reads = mode != Mode::Deaf && mode != Mode::Late;
        play.echoes = mode != Mode::Silent;
        play.leaves = mode == Mode::Cut || mode == Mode::Leave;
        const auto text = [](const std::string& payload) { return WsServer::text(payload); };
        if (mode == Mode::Count)
            for (long i = 0; i < number; ++i) play.frames += text(numbered(i));
        if (mode == Mode::Odd)  // pings, a pong, and a message in pieces with one between them
            play.frames = "\x89\x03you" + text(numbered(0)) + "\x8a" + std::string(1, 0) +
                          WsServer::text("{\"n\"", true, false) + "\x89" + std::string(1, 0) +
                          WsServer::text(":1}", false) + WsServer::text("", true, false) +
                          WsServer::text("", false) + text("[{\"n\":2}]") + text(numbered(3));
        if (mode == Mode::Cut) play.frames = text(numbered(0)) + text(numbered(1)).substr(0, 5);
        if (mode == Mode::Flood) {
            play.frames = WsServer::text("{", true, false);
            play.piece = WsServer::text(std::string(kFloodPiece, 'a'), false, false);
            play.times = static_cast<std::size_t>(number) / kFloodPiece;
        }
        return play;
    }

    WsServer server_;
};

}  // namespace patchbay::test
