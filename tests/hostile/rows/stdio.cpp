// What only a program can do.
#include "hostile/peer.hpp"
#include "hostile/rows/rows.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::hostile::rows {

namespace {

Step exits_with(int code) {
    return act([code](Peer&) { ::_exit(code); });
}
Step dies_by(int number) {
    return act([number](Peer&) { std::raise(number); });
}
// Waits for whoever should read it.
Step complains(std::string piece, std::size_t count) {
    return act([piece = std::move(piece), count](Peer&) {
        for (std::size_t i = 0; i < count; ++i) std::fwrite(piece.data(), 1, piece.size(), stderr);
    });
}

}  // namespace

std::vector<Misbehaviour> over_stdio() {
    const std::vector<Transport> stdio{Transport::Stdio};
    const auto ends = [&](std::string name, Step end, std::string says, Fate fate = Fate::Fails) {
        return Misbehaviour{
            std::move(name), kAlways, [end](const Asked&) { return Steps{end}; }, fate,
            std::move(says), stdio};
    };
    const auto ends_amid = [&](std::string name, Step end, std::string says) {
        return Misbehaviour{std::move(name),
                            kAnswersAndIdle,
                            [end](const Asked& asked) {
                                return Steps{raw(asked.good().substr(0, 30)), end};
                            },
                            Fate::Fails,
                            std::move(says),
                            stdio};
    };
    const auto answers_after = [&](std::string name, std::function<Step()> before) {
        return Misbehaviour{std::move(name),
                            kAnswersAndIdle,
                            [before](const Asked& asked) {
                                return Steps{before(), message(asked.good())};
                            },
                            Fate::Works,
                            {},
                            stdio};
    };
    return {
        ends("ExitsWithNothing", exits_with(0), "exited with code 0"),
        ends("ExitsWithAnError", exits_with(1), "exited with code 1"),
        ends("ExitsWithTheMost", exits_with(255), "exited with code 255"),
        ends("DiesBySegv", dies_by(SIGSEGV), "signal 11 (SIGSEGV)"),
        ends("DiesByKill", dies_by(SIGKILL), "signal 9 (SIGKILL)"),
        ends_amid("ExitsAmidAnAnswer", exits_with(0), "exited with code 0"),
        ends_amid("FailsAmidAnAnswer", exits_with(1), "exited with code 1"),
        ends_amid("DiesAmidAnAnswer", dies_by(SIGKILL), "signal 9 (SIGKILL)"),
        ends("StopsItself", dies_by(SIGSTOP), "", Fate::TimesOut),
        ends("ClosesItsOutput", act([](Peer& peer) { peer.shut(SHUT_WR); }), ""),
        // Nothing more is sent to it, so nothing tells.
        {"ClosesItsInput",
         kAnswers,
         [](const Asked&) { return Steps{act([](Peer& peer) { peer.shut(SHUT_RD); })}; },
         Fate::TimesOut,
         {},
         stdio},
        ends("ClosesBothAndStays", act([](Peer& peer) {
                 peer.shut(SHUT_RD);
                 peer.shut(SHUT_WR);
             }),
             ""),
        // What is left of it holds its pipes open.
        ends("LeavesAChild", act([](Peer&) {
                 if (::fork() != 0) ::_exit(0);
                 ::setsid();
                 for (;;) ::pause();
             }),
             ""),
        ends("WillNotGo", act([](Peer& peer) {
                 for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_IGN);
                 peer.shut(SHUT_RD);
                 for (;;) ::pause();
             }),
             "", Fate::TimesOut),
        answers_after("ComplainsWithoutEnd",
                      [] { return complains(std::string(1u << 20, 'x'), 100); }),
        answers_after("ComplainsInLines",
                      [] { return complains("something is wrong\n", 100'000); }),
        answers_after("ComplainsInBytes",
                      [] {
                          std::string bytes;
                          for (int i = 0; i < 1'024; ++i) bytes += static_cast<char>(i * 7);
                          return complains(bytes, 2'000);
                      }),
        answers_after("ComplainsInEscapes",
                      [] { return complains("\x1b[2J\x1b]0;x\a\r\xff\n", 1'000); }),
        answers_after("ClosesItsErrors", [] { return act([](Peer&) { ::close(2); }); }),
    };
}

}  // namespace patchbay::hostile::rows
