// The hostile servers of one drill, all on one thread and on ports of loopback: one port for each cell
// over tcp, one path for each behind HTTP.
//
// Owns:    its thread, sockets and sessions, until the object ends.
// Threads: made and asked on one thread; serves on its own.
// Errors:  a socket that cannot be had aborts the test.
#pragma once

#include "hostile/peer.hpp"

#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::hostile {

class Server {
public:
    explicit Server(const std::vector<Cell>& cells);
    ~Server();
    Server(const Server&) = delete;

    int port_of(const Cell& cell) const { return ports_.at(cell.row->name); }
    // What came for this cell: requests and connections, and calls of its tool.
    std::size_t visits_of(const Cell& cell) const { return sessions_.at(cell.row->name)->visits; }
    std::size_t calls_of(const Cell& cell) const { return sessions_.at(cell.row->name)->calls; }

private:
    struct Listener {
        int fd;
        Session* session;  // null: the path tells
    };
    int listen(Session* session);
    void serve();
    void accept(const Listener& listener);

    std::map<std::string, std::unique_ptr<Session>> sessions_;
    std::map<std::string, int> ports_;
    std::vector<Listener> listeners_;
    std::list<std::unique_ptr<Peer>> peers_;
    const int stop_;
    std::thread thread_;
};

}  // namespace patchbay::hostile
