// Frames that do not end, and floods.
#include "hostile/peer.hpp"
#include "hostile/rows/rows.hpp"

#include <sys/socket.h>

namespace patchbay::hostile::rows {

namespace {

std::string ping(std::size_t number) {
    return "{\"jsonrpc\":\"2.0\",\"id\":\"p" + std::to_string(number) + "\",\"method\":\"ping\"}";
}

// The answer repeats the id: no socket holds what nobody reads of these.
std::string long_ping(std::size_t number) {
    return "{\"jsonrpc\":\"2.0\",\"id\":\"" + std::string(16'000, 'p') + std::to_string(number) +
           "\",\"method\":\"ping\"}";
}

}  // namespace

std::vector<Misbehaviour> floods() {
    const auto before_answer = [](std::function<std::string(std::size_t)> each) {
        return [each](const Asked& asked) { return Steps{flood(each), message(asked.good())}; };
    };
    // As many as a server may leave open.
    const auto few_before_answer = [](std::function<std::string(std::size_t)> each) {
        return [each](const Asked& asked) {
            return Steps{flood(each, kServerRequests / 2), message(asked.good())};
        };
    };
    // Behind HTTP a call has a stream of its own: another's end is nothing to it.
    const std::vector<Misbehaviour::Exception> one_stream{
        {{Transport::Http}, {Phase::Idle}, {}, Fate::Works}};
    return {
        {"CloseAtOnce",
         kAlways,
         [](const Asked&) { return Steps{kClose}; },
         Fate::Fails,
         {},
         {},
         {},
         one_stream},
        {"HalfAFrameThenClose",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{half(asked.good()), kClose};
         },
         Fate::Fails,
         {},
         {},
         {},
         one_stream},
        {"HalfAFrameThenSilence",
         kAnswersAndIdle,
         [](const Asked& asked) { return Steps{half(asked.good())}; },
         Fate::TimesOut,
         {},
         {},
         {},
         {{{Transport::Http}, {Phase::Idle}, {}, Fate::Works}}},
        {"SilenceFromTheStart",
         {Phase::Connect},
         [](const Asked&) { return Steps{half("")}; },
         Fate::TimesOut},
        {"AnswerThenClose",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message(asked.good()), kClose};
         },
         Fate::Fails,
         {},
         {},
         {},
         {{{Transport::Http}, {}, {}, Fate::Works}, {{}, {Phase::Call}, {}, Fate::Works}}},
        {"EndlessFrame",
         kAlways,
         [](const Asked& asked) {
             return Steps{{Step::Kind::Endless,
                           "{\"jsonrpc\":\"2.0\",\"id\":" + asked.id + ",\"result\":{\"a\":\"",
                           {},
                           0}};
         },
         Fate::Fails,
         "(limit message_bytes",
         {},
         {},
         one_stream},
        {"TextThatIsNoMessage",
         kAlways,
         [](const Asked& asked) {
             const auto text = message("Listening on port 3000 ...");
             // Nobody has asked yet, and an answer may be taken for one to the first request.
             if (asked.phase == Phase::Connect) return Steps{text};
             return Steps{text, message(asked.good())};
         },
         Fate::Works,
         {},
         kLines},
        {"AsksWithoutReading",
         kAnswersAndIdle,
         [](const Asked& asked) {
             // More than sockets hold; then it reads, and whoever put up with all that is answered.
             return Steps{kDeaf, flood(long_ping, 2 * kFlood),
                          act([](Peer& peer) { peer.session->deaf = false; }),
                          message(asked.good())};
         },
         Fate::Fails,
         "(limit server_request",
         {},
         {Era::Legacy}},
        {"AsksWithOddIds", kAnswersAndIdle, few_before_answer([](std::size_t i) {
             constexpr const char* kIds[] = {
                 "null", "{}", "[1]", "true", "1e308", "-0", "1.5", "\"\"", "18446744073709551616"};
             return "{\"jsonrpc\":\"2.0\",\"id\":" + std::string(kIds[i % std::size(kIds)]) +
                    ",\"method\":\"ping\"}";
         }),
         Fate::Fails, "the id is neither a string nor a number"},
        {"ResetAtOnce",
         kAlways,
         [](const Asked&) { return Steps{act([](Peer& peer) { peer.reset(); })}; },
         Fate::Fails,
         {},
         kSockets,
         {},
         one_stream},
        {"ResetAmidAFrame",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{raw(asked.good().substr(0, 20)), act([](Peer& peer) { peer.reset(); })};
         },
         Fate::Fails,
         {},
         kSockets,
         {},
         one_stream},
        // The other direction stays open, and says nothing.
        {"HalfClosed",
         kAlways,
         [](const Asked&) { return Steps{act([](Peer& peer) { peer.shut(SHUT_WR); })}; },
         Fate::Fails,
         {},
         kSockets,
         {},
         one_stream},
        {"AsksManyAndAnswers",
         kAnswersAndIdle,
         [](const Asked& asked) {
             // They count until it is known that this era has none.
             const auto count = asked.phase == Phase::Begin ? kServerRequests / 2 : kFlood;
             return Steps{flood(ping, count), message(asked.good())};
         },
         Fate::Works,
         {},
         {},
         {Era::Modern}},
        {"AsksForInputOfEveryKind", kAnswersAndIdle, few_before_answer([](std::size_t i) {
             constexpr const char* kMethods[] = {"sampling/createMessage", "elicitation/create",
                                                 "roots/list", "no/such", ""};
             return "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(i) + ",\"method\":\"" +
                    kMethods[i % std::size(kMethods)] +
                    "\",\"params\":" + (i % 2 ? "{\"messages\":7}" : "[]") + "}";
         }),
         Fate::Works},
        {"LogFlood", kAnswersAndIdle, before_answer([](std::size_t i) {
             return notification("message", "{\"level\":\"info\",\"data\":\"" +
                                                std::string(200, 'x') + std::to_string(i) + "\"}");
         }),
         Fate::Works},
        {"ProgressFlood", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{flood([id = asked.id](std::size_t i) {
                              return notification("progress",
                                                  "{\"progressToken\":" + id +
                                                      ",\"progress\":" + std::to_string(i) + "}");
                          }),
                          message(asked.good())};
         },
         Fate::Works},
        {"ProgressOfWrongTypes", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{
                 message(notification("progress", "[]")),
                 message(notification("progress", "{\"progressToken\":{},\"progress\":[]}")),
                 message(notification("progress", "{\"progressToken\":" + asked.id +
                                                      ",\"progress\":1e999,\"total\":{}}")),
                 message(asked.good())};
         },
         Fate::Works},
        {"ListChangedStorm", kAnswersAndIdle,
         before_answer([](std::size_t) { return notification("tools/list_changed", "{}"); }),
         Fate::Works},
        {"CancelledStorm", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{flood([id = asked.id](std::size_t) {
                              return notification("cancelled", "{\"requestId\":" + id + "}");
                          }),
                          message(asked.good())};
         },
         Fate::Works},
        {"AnswersNobodyAsked", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{flood([](std::size_t i) {
                              return "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(500'000 + i) +
                                     ",\"result\":{}}";
                          }),
                          message(asked.good())};
         }},
    };
}

}  // namespace patchbay::hostile::rows
