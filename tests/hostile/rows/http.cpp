// HTTP.
#include "hostile/rows/rows.hpp"
#include "hostile/wire.hpp"

namespace patchbay::hostile::rows {

std::vector<Misbehaviour> over_http() {
    using namespace wire;
    const auto bytes = [](std::string text) {
        return [text](const Asked&) { return Steps{raw(text), kClose}; };
    };
    const auto row = [](std::string name, std::function<Steps(const Asked&)> act,
                        Fate fate = Fate::Fails, std::string says = {},
                        std::size_t most_calls = 1) {
        return Misbehaviour{std::move(name),
                            kAnswers,
                            std::move(act),
                            fate,
                            std::move(says),
                            {Transport::Http},
                            {},
                            {},
                            most_calls};
    };
    const std::string ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    const std::string events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    std::vector<Misbehaviour> rows{
        row("NoHttp", bytes("SSH-2.0-OpenSSH_9.2\r\n")),
        row(
            "RedirectToAnotherOrigin",
            [](const Asked&) {
                return Steps{raw(head("307 There", {"Location: http://127.0.0.2:9/mcp"}))};
            },
            Fate::Fails, "a redirect to another origin"),
        row(
            "RedirectLoop",
            [](const Asked& asked) {
                if (asked.nth > kTired) return Steps{message(asked.good())};
                return Steps{raw(head("307 Again", {"Location: /" + asked.cell}))};
            },
            Fate::Fails, "more than 3 redirects", 4),
        row("RedirectToAFile",
            [](const Asked&) {
                return Steps{raw(head("308 There", {"Location: file:///etc/passwd"}))};
            }),
        row("RedirectToNowhere", [](const Asked&) { return Steps{raw(head("302 There", {}))}; }),
        row("UnauthorizedForEver",
            [](const Asked& asked) {
                return Steps{
                    raw(head("401 No", {"WWW-Authenticate: Bearer resource_metadata=\"" +
                                        asked.origin + "/.well-known/x/" + asked.cell + "\""}))};
            }),
        row("ForbiddenForEver",
            [](const Asked&) {
                return Steps{raw(head("403 No", {"WWW-Authenticate: Bearer error=\"insufficient_"
                                                 "scope\", scope=\"a b\""}))};
            }),
        row("UnauthorizedByALargeChallenge",
            [](const Asked&) {
                return Steps{
                    raw(head("401 No", {"WWW-Authenticate: " + std::string(60'000, '"')}))};
            }),
        row("UnauthorizedAtLength",
            [](const Asked&) {
                return Steps{raw(whole("401 No", "text/html", std::string(1u << 20, 'x'),
                                       "WWW-Authenticate: Bearer\r\n"))};
            }),
        row(
            "BadRequestAboutASession",
            [](const Asked& asked) {
                return Steps{
                    raw(whole("400 Bad", "application/json",
                              asked.error(R"({"code":-32000,"message":"no such session"})")))};
            },
            Fate::Fails, "no such session"),
        row(
            "FoundAtAnotherOrigin",
            [](const Asked&) {
                return Steps{raw(head("302 There", {"Location: http://127.0.0.2:9/mcp"}))};
            },
            Fate::Fails, "a redirect to another origin"),
        row(
            "SessionForgottenForEver",
            [](const Asked&) { return Steps{raw(head("404 Not Found", {}))}; }, Fate::Fails, {}, 2),
        row("TooManyRequests",
            [](const Asked&) {
                return Steps{raw(head("429 Slow", {"Retry-After: 99999999999999999999"}))};
            }),
        row("ServerError",
            [](const Asked&) {
                return Steps{raw(whole("500 Oops", "text/plain", "\x1b[2Jboom"))};
            }),
        row("RefusedAtLength",
            [](const Asked&) {
                return Steps{raw(whole("500 Oops", "text/plain", std::string(1u << 20, 'x')))};
            }),
        row("AcceptedAndNothingMore",
            [](const Asked&) { return Steps{raw(head("202 Accepted", {}))}; }),
        row("NoContent",
            [](const Asked&) { return Steps{raw("HTTP/1.1 204 No Content\r\n\r\n")}; }),
        row(
            "Html", [](const Asked&) { return Steps{raw(whole("200 OK", "text/html", "<html>"))}; },
            Fate::Fails, "text/html"),
        row(
            "InformationForEver",
            [](const Asked& asked) {
                return Steps{
                    raw_flood(
                        [](std::size_t) { return std::string("HTTP/1.1 100 Continue\r\n\r\n"); },
                        100'000),
                    raw(whole("200 OK", "application/json", asked.good()))};
            },
            Fate::Fails, "interim answers without end"),
        row(
            "HeadersForEver",
            [ok](const Asked& asked) {
                return Steps{
                    raw(ok),
                    raw_flood(
                        [](std::size_t i) { return "X-" + std::to_string(i) + ": and more\r\n"; },
                        100'000),
                    raw("Content-Length: " + std::to_string(asked.good().size()) + "\r\n\r\n" +
                        asked.good())};
            },
            Fate::Fails, "more than 100 header fields"),
        row(
            "HeaderWithoutEnd",
            [ok](const Asked&) {
                return Steps{raw(ok + "X-Long: "),
                             raw_flood([](std::size_t) { return std::string(4096, 'x'); }, 10'000),
                             kClose};
            },
            Fate::Fails, "a line of its header is too long"),
        row("LengthTwice",
            [ok](const Asked& asked) {
                return Steps{
                    raw(ok + "Content-Length: 2\r\nContent-Length: 200\r\n\r\n" + asked.good()),
                    kClose};
            }),
        row(
            "LengthAndChunks",
            [ok](const Asked& asked) {
                return Steps{raw(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                 chunk(asked.good()) + "0\r\n\r\n"),
                             kClose};
            },
            Fate::Fails, "both Transfer-Encoding and Content-Length"),
        row("LengthNegative", bytes(ok + "Content-Length: -5\r\n\r\n{}")),
        row("LengthHuge", bytes(ok + "Content-Length: 99999999999999999999\r\n\r\n{}")),
        row("ChunkHuge", bytes(ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}")),
        row("ChunkNegative", bytes(ok + "Transfer-Encoding: chunked\r\n\r\n-5\r\n{}\r\n")),
        row("ChunkOfEndlessName",
            [ok](const Asked&) {
                return Steps{raw(ok + "Transfer-Encoding: chunked\r\n\r\n1;x="),
                             raw_flood([](std::size_t) { return std::string(4096, 'x'); }, 10'000),
                             kClose};
            }),
        row("ChunksOfOneByte",
            [ok](const Asked&) {
                return Steps{
                    raw(ok + "Transfer-Encoding: chunked\r\n\r\n"),
                    raw_flood([](std::size_t) { return std::string("1\r\nx\r\n"); }, 20'000),
                    kClose};
            }),
        row(
            "TrailersForEver",
            [ok](const Asked& asked) {
                return Steps{
                    raw(ok + "Transfer-Encoding: chunked\r\n\r\n" + chunk(asked.good()) + "0\r\n"),
                    raw_flood(
                        [](std::size_t i) { return "X-" + std::to_string(i) + ": and more\r\n"; },
                        100'000),
                    raw("\r\n")};
            },
            Fate::Fails, "more than 100 trailers"),
        row(
            "GzipBomb",
            [ok](const Asked&) {
                const auto bomb = gzip_bomb(256u << 20);
                return Steps{raw(ok + "Content-Encoding: gzip\r\nContent-Length: " +
                                 std::to_string(bomb.size()) + "\r\n\r\n" + bomb)};
            },
            Fate::Fails, "limit message_bytes"),
        row(
            "GzipBombOfEvents",
            [events](const Asked&) {
                const auto bomb = gzip_bomb(256u << 20);
                return Steps{raw(events + "Content-Encoding: gzip\r\nContent-Length: " +
                                 std::to_string(bomb.size()) + "\r\n\r\n" + bomb)};
            },
            Fate::Fails, "limit message_bytes"),
        // Each event is small, and none is too much.
        row("GzipBombOfSmallEvents",
            [events](const Asked&) {
                const auto bomb = gzip_bomb(8u << 20, ": x\n\n\n\n\n");
                return Steps{raw(events + "Content-Encoding: gzip\r\nContent-Length: " +
                                 std::to_string(bomb.size()) + "\r\n\r\n" + bomb)};
            }),
        row("GzipBombOfMessages",
            [events](const Asked&) {
                const auto bomb = gzip_bomb(1u << 20, "data:1\n\n");
                return Steps{raw(events + "Content-Encoding: gzip\r\nContent-Length: " +
                                 std::to_string(bomb.size()) + "\r\n\r\n" + bomb)};
            }),
        row("GzipThatIsNone",
            bytes(ok + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone")),
        row(
            "EventWithoutEnd",
            [events](const Asked&) {
                return Steps{raw(events + "\r\ndata: "),
                             raw_flood([](std::size_t) { return std::string(4096, 'x'); }, 10'000),
                             kClose};
            },
            Fate::Fails, "limit message_bytes"),
        row(
            "EventsWithOddIds",
            [events](const Asked& asked) {
                return Steps{
                    raw(events + "\r\nid: \x01\x7f\r\ndata: " + notification("message", "{}") +
                        "\r\n\r\nid:  " + std::string(9'000, 'i') + "\r\ndata: " + asked.good() +
                        "\r\n\r\n"),
                    kClose};
            },
            Fate::Works),
        row("StreamThatEndsWithRetryZero",
            [events](const Asked&) {
                return Steps{raw(events + "\r\nretry: 0\r\nid: 1\r\ndata:\r\n\r\n"), kClose};
            }),
        row("StreamThatCannotBeResumed",
            [events](const Asked&) {
                return Steps{raw(events + "\r\nretry: 10\r\nid: 1\r\ndata:\r\n\r\n"), kClose};
            }),
        row("StreamWithoutAnswer",
            [events](const Asked&) {
                return Steps{raw(events + "\r\n: nothing\r\n\r\n"), kClose};
            }),
        row("SessionIdOfAMegabyte",
            [](const Asked& asked) {
                return Steps{raw(whole("200 OK", "application/json", asked.good(),
                                       "MCP-Session-Id: " + std::string(1u << 20, 's') + "\r\n")),
                             kClose};
            }),
    };
    rows.push_back(
        {"StreamThatIsResumedInVain",
         {Phase::Call},
         [events](const Asked& asked) {
             if (asked.nth == 1)
                 return Steps{raw(events + "\r\nretry: 0\r\nid: 1\r\ndata:\r\n\r\n"), kClose};
             // Where it would go on for ever, it is found out by what it says then.
             return Steps{raw(head(asked.nth > 30 ? "405 No" : "503 Busy", {}))};
         },
         Fate::Fails,
         "HTTP 503",
         {Transport::Http},
         {Era::Legacy}});
    rows.back().resumes = true;
    // On the stream that the host listens to, beside its calls.
    const auto listening = [&rows](std::string name, std::string text) {
        rows.push_back({std::move(name),
                        {Phase::Idle},
                        [text](const Asked&) {
                            return Steps{raw(text), kClose};
                        },
                        Fate::Works,
                        {},
                        {Transport::Http}});
    };
    listening("ListeningStreamOfOddIds",
              chunk("id: \x01\x7f\ndata:\n\nid:  " + std::string(9'000, 'i') + "\ndata:\n\n"));
    listening("ListeningStreamWithRetryZero", chunk("retry: 0\nid: 1\ndata:\n\n"));
    rows.back().most_visits = 60;  // the pauses between its streams grow from 100 ms to 5 s
    listening("ListeningStreamOfABadChunk", "zz\r\nwhat\r\n");
    return rows;
}

}  // namespace patchbay::hostile::rows
