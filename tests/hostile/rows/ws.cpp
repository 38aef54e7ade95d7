// WebSocket.
#include "hostile/rows/rows.hpp"
#include "hostile/wire.hpp"

namespace patchbay::hostile::rows {

std::vector<Misbehaviour> over_ws() {
    using namespace wire;
    const auto row = [](std::string name, std::string bytes, Fate fate = Fate::Fails,
                        std::string says = {}) {
        return Misbehaviour{std::move(name),
                            kAnswersAndIdle,
                            [bytes](const Asked&) { return Steps{raw(bytes)}; },
                            fate,
                            std::move(says),
                            {Transport::Ws}};
    };
    std::vector<Misbehaviour> rows{
        row("MaskedFrame", masked_ws_frame(kWsText, "{}"), Fate::Fails, "masked"),
        row("ReservedBits", ws_frame(kWsText | 0x40, "{}")),
        row("UnknownOpcode", ws_frame(0x3, "{}")),
        row("UnknownControl", ws_frame(0xb, "{}")),
        row("BinaryMessage", ws_frame(kWsBinary, "{}"), Fate::Fails, "not text"),
        row("RestWithoutBeginning", ws_frame(0x0, "{}")),
        row("BeginningTwice", ws_frame(kWsText, "{", false) + ws_frame(kWsText, "}", false)),
        row("LongPing", ws_frame(kWsPing, std::string(126, 'p'))),
        row("PingInParts", ws_frame(kWsPing, "p", false)),
        row("LengthOfExabytes", std::string("\x81\x7f\x3f\xff\xff\xff\xff\xff\xff\xff", 10),
            Fate::Fails, "limit message_bytes"),
        row("LengthNegative", std::string("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10)),
        row("LengthInTooManyBytes", std::string("\x81\x7e\x00\x02{}", 6)),
        row("TextThatIsNotUtf8", ws_frame(kWsText, "\"\xc3\x28\"")),
        row("CloseWithACode", ws_frame(kWsClose, "\x03\xf3out of ideas"), Fate::Fails, "1011"),
        row("CloseWithAReservedCode", ws_frame(kWsClose, "\x03\xedx")),
        row("CloseOfOneByte", ws_frame(kWsClose, "x")),
    };
    rows.push_back(
        {"PingFlood",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{
                 raw_flood([](std::size_t) { return ws_frame(kWsPing, std::string(100, 'p')); },
                           kFlood),
                 message(asked.good())};
         },
         Fate::Works,
         {},
         {Transport::Ws}});
    rows.push_back(
        {"PingFloodWithoutReading",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{
                 kDeaf,
                 raw_flood([](std::size_t) { return ws_frame(kWsPing, std::string(125, 'p')); },
                           20'000),
                 message(asked.good())};
         },
         Fate::TimesOut,
         {},
         {Transport::Ws},
         {},
         {{{}, {Phase::Call}, {}, Fate::Works}}});
    rows.push_back(
        {"EmptyPartsForEver",
         kAnswersAndIdle,
         [](const Asked&) {
             return Steps{raw(ws_frame(kWsText, "{", false)),
                          raw_flood([](std::size_t) { return ws_frame(0x0, "", false); }, 100'000)};
         },
         Fate::TimesOut,
         {},
         {Transport::Ws},
         {},
         {{{}, {Phase::Idle}, {}, Fate::Breaks, "a new message inside another one"}}});
    rows.push_back({"EmptyPartInTheMiddle",
                    kAnswersAndIdle,
                    [](const Asked& asked) {
                        const auto text = asked.good();
                        return Steps{raw(ws_frame(kWsText, text.substr(0, 5), false) +
                                         ws_frame(0x0, "", false) + ws_frame(0x0, text.substr(5)))};
                    },
                    Fate::Works,
                    {},
                    {Transport::Ws}});
    const auto upgrade = [&rows](std::string name, std::string bytes) {
        rows.push_back({std::move(name),
                        {Phase::Connect},
                        [bytes](const Asked&) { return Steps{raw(bytes)}; },
                        Fate::Fails,
                        {},
                        {Transport::Ws}});
    };
    const std::string switching =
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    upgrade("NoUpgrade", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    upgrade("UpgradeRefused", "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
    upgrade("UpgradeRedirected",
            "HTTP/1.1 302 There\r\nLocation: ws://127.0.0.2:9/\r\nContent-Length: 0\r\n\r\n");
    upgrade("WrongAccept", switching + "Sec-WebSocket-Accept: bm8=\r\n\r\n");
    upgrade("HugeUpgrade", switching + "X-Long: " + std::string(2u << 20, 'x') + "\r\n\r\n");
    // The right answer to the key, and something nobody offered beside it.
    const auto offered = [&](std::string name, std::string field) {
        rows.push_back({std::move(name),
                        {Phase::Connect},
                        [switching, field](const Asked& asked) {
                            return Steps{raw(switching + "Sec-WebSocket-Accept: " + asked.accept +
                                             "\r\n" + field + "\r\n")};
                        },
                        Fate::Fails,
                        {},
                        {Transport::Ws}});
    };
    offered("ExtensionNobodyOffered",
            "Sec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Extensions: permessage-deflate\r\n");
    offered("ProtocolNobodyOffered", "Sec-WebSocket-Protocol: banana\r\n");
    return rows;
}

}  // namespace patchbay::hostile::rows
