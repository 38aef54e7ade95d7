// A hostile server as a program:  hostile_server ROW PHASE ERA
// With HOSTILE_CALLS in its environment each call of its tool adds a byte to that file.
#include "hostile/peer.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

int main(int argc, char** argv) {
    using namespace patchbay::hostile;
    std::optional<Cell> chosen;
    for (const auto phase : kPhases) {
        for (const auto era : kEras) {
            if (argc != 4 || std::strcmp(argv[2], name_of(phase)) != 0 ||
                std::strcmp(argv[3], name_of(era)) != 0)
                continue;
            for (const auto& cell : cells_of(Transport::Stdio, phase, era))
                if (cell.row->name == argv[1]) chosen = cell;
        }
    }
    if (!chosen) {
        std::fprintf(stderr, "usage: hostile_server ROW PHASE ERA, of tests/hostile/rows\n");
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    for (const int fd : {0, 1}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    Session session(*chosen);
    if (const char* file = std::getenv("HOSTILE_CALLS")) {
        const int calls = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        session.on_call = [calls] {
            if (::write(calls, ".", 1) != 1) std::abort();  // a call that is not counted
        };
    }
    Peer peer(0, 1, make_framing(Transport::Stdio), [&](const std::string&) { return &session; });
    while (!peer.over()) {
        pollfd waits[] = {{peer.wants_to_read() ? 0 : -1, POLLIN, 0},
                          {peer.wants_to_write() ? 1 : -1, POLLOUT, 0}};
        ::poll(waits, 2, -1);
        if (waits[0].revents) peer.readable();
        if (waits[1].revents) peer.writable();
    }
}
