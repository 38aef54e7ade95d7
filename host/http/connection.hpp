// One connection of an HTTP server: its requests, one after the other, and their answers, in time. Internal
// to this room. What the bytes mean is RequestReader's and AnswerWriter's matter.
//
// Owns:    its stream. Borrows the server, which must outlive it.
// Threads: [loop].
// Limits:  those of the server; while an answer is on its way kAheadBytes are read of what follows.
#pragma once

#include "core/deadline.hpp"
#include "core/lifetime.hpp"
#include "core/watch.hpp"
#include "http/answer_writer.hpp"
#include "http/byte_stream.hpp"
#include "http/incoming_body.hpp"
#include "http/request_reader.hpp"
#include "http/server.hpp"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::http {

class Connection {
public:
    static constexpr std::size_t kAheadBytes = 64u << 10;

    // `peer`: as in Request.
    Connection(Server& server, std::unique_ptr<ByteStream> stream, std::string peer);
    ~Connection();
    Connection(const Connection&) = delete;

    // There are too many: this one is told so, whatever it asks.
    void refuse_all() { reader_.refuse_all(); }
    void stop();  // after the answer that is on its way
    bool written() const { return writer_.empty(); }

    std::list<std::unique_ptr<Connection>>::iterator place;  // among the server's

private:
    class Turn;
    enum class State { Open, LastWords, Closed };

    void on_events(unsigned events);
    void readable();
    void take_requests();
    void dispatch();
    void read_body(std::function<void(std::string)> then);
    // An answer of our own, behind which nothing more is read.
    void refuse(unsigned status, std::string_view why);
    // Nothing of what was said is in the log: `why` is in our own words alone.
    void log_refusal(unsigned status, std::string_view why) const;
    void send_answer(unsigned status, const Headers& headers, std::string body);

    // Of the turn
    void answer(unsigned status, const Headers& headers, std::string body);
    void begin(const Headers& headers);
    void write(std::string_view bytes);
    void end();

    void plan_flush();
    void flush();
    void written_all();
    void linger();
    void close();
    void limit(std::chrono::seconds most, unsigned status);
    void on_late();

    Server& server_;
    std::unique_ptr<ByteStream> stream_;  // null: closed
    const std::string peer_;
    core::Watch watch_;
    core::Deadline limit_;
    unsigned late_status_ = 0;  // of who is not in time; 0: it is closed without a word
    State state_ = State::Open;
    RequestReader reader_;
    IncomingBody body_;
    std::shared_ptr<Turn> turn_;  // the request that is being answered
    AnswerWriter writer_;
    bool keep_ = true, ended_ = false;  // the answer has, and may not be written yet
    bool flush_planned_ = false;
    bool ready_ = false;  // the stream is
    std::string asked_;   // "POST /mcp", for the log; empty: nothing is logged, or it is unreadable
    core::Lifetime lifetime_;
};

}  // namespace patchbay::http
