// One connection of an HTTP server: its requests, one after the other, and their answers. Internal
// to this room. The door to Boost.Beast, which parses what comes.
//
// Owns:    its stream. Borrows the server, which must outlive it.
// Threads: [loop].
// Limits:  those of the server; while an answer is on its way kAheadBytes are read of what follows.
#pragma once

#include "core/deadline.hpp"
#include "core/lifetime.hpp"
#include "http/byte_stream.hpp"
#include "http/server.hpp"

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::http {

class Connection {
public:
    static constexpr std::size_t kAheadBytes = 64u << 10;

    // `peer`: as in Request.
    Connection(Server& server, std::unique_ptr<ByteStream> stream, std::string peer);
    ~Connection();
    Connection(const Connection&) = delete;

    // There are too many: this one is told so, whatever it asks.
    void refuse_all();
    void stop();  // after the answer that is on its way
    bool written() const { return out_.empty(); }

    std::list<std::unique_ptr<Connection>>::iterator place;  // among the server's

private:
    class Turn;
    class Parser;
    enum class State { Open, LastWords, Closed };

    void on_events(unsigned events);
    void readable();
    void parse();
    bool accept_head();  // false: it was refused
    void dispatch();
    // An answer of our own, behind which nothing more is read.
    void refuse(unsigned status, std::string_view why);

    // Of the turn
    void answer(unsigned status, const Headers& headers, std::string body);
    void begin(const Headers& headers);
    void write(std::string_view bytes);
    void end();

    std::string head(unsigned status, const Headers& headers) const;
    void put(std::string bytes);
    void flush();
    void written_all();
    void linger();
    void close();
    void wait_for(unsigned events);
    void limit(std::chrono::seconds most, unsigned status);
    void on_late();

    Server& server_;
    std::unique_ptr<ByteStream> stream_;  // null: closed
    const std::string peer_;
    core::Loop::WatchId watch_ = 0;
    unsigned waiting_for_ = 0;
    core::Deadline limit_;
    unsigned late_status_ = 0;  // of who is not in time; 0: it is closed without a word
    State state_ = State::Open;
    std::unique_ptr<Parser> parser_;             // while a request is being read
    std::string in_;                             // that no parser has taken
    std::shared_ptr<Turn> turn_;                 // the request that is being answered
    std::vector<std::string> out_;               // none is small but the last
    std::size_t out_bytes_ = 0, out_begin_ = 0;  // begin: in the first of them
    bool keep_ = true, chunked_ = true, full_ = false, ended_ = false;
    bool flush_planned_ = false, head_only_ = false;
    bool ready_ = false;  // the stream is
    core::Lifetime lifetime_;
};

}  // namespace patchbay::http
