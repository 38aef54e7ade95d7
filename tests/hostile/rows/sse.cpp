// HTTP with SSE.
#include "hostile/rows/rows.hpp"
#include "hostile/wire.hpp"

namespace patchbay::hostile::rows {

std::vector<Misbehaviour> over_sse() {
    const auto stream = [](std::string name, std::string text, Fate fate = Fate::Fails) {
        return Misbehaviour{std::move(name),
                            {Phase::Connect},
                            [text](const Asked&) {
                                return Steps{
                                    raw("HTTP/1.1 200 OK\r\nContent-Type: "
                                        "text/event-stream\r\n\r\n" +
                                        text)};
                            },
                            fate,
                            {},
                            {Transport::Sse}};
    };
    std::vector<Misbehaviour> rows{
        stream("EndpointOfAnotherOrigin", "event: endpoint\ndata: http://127.0.0.2:9/x\n\n"),
        stream("EndpointThatIsAFile", "event: endpoint\ndata: file:///etc/passwd\n\n"),
        stream("EndpointOfBytes", "event: endpoint\ndata: /\x01\xff\n\n"),
        stream("EndpointHuge", "event: endpoint\ndata: /" + std::string(1u << 20, 'x') + "\n\n"),
        stream("MessageBeforeTheEndpoint", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
               Fate::TimesOut),
        stream("NoEndpoint", ": nothing\n\n", Fate::TimesOut),
    };
    const auto beside = [&rows](std::string name, std::string events, Fate fate = Fate::Works) {
        rows.push_back({std::move(name),
                        kAnswersAndIdle,
                        [events](const Asked& asked) {
                            return Steps{raw(wire::chunk(events)), message(asked.good())};
                        },
                        fate,
                        {},
                        {Transport::Sse}});
    };
    beside("EndpointAgain", "event: endpoint\ndata: http://127.0.0.2:9/x\n\n", Fate::Fails);
    beside("OddEventIds", "id: \x01\x7f\ndata:\n\nid:  " + std::string(9'000, 'i') + "\ndata:\n\n");
    beside("EventsOfUnknownKind", "event: banana\ndata: {}\n\nretry: -5\nretry: 1e9\n\n");
    return rows;
}

}  // namespace patchbay::hostile::rows
