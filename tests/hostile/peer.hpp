// One connection of a hostile server: what was read, what is still to be written, and the framing
// that turns steps into bytes and bytes into requests. Knows no sockets but its two descriptors.
//
// Owns:    its framing and what waits to be written; the descriptors are its maker's.
// Threads: one.
// Limits:  what a flood writes is made as it is read: kFill bytes at a time.
#pragma once

#include "hostile/misbehaviour.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::hostile {

inline constexpr std::size_t kFill = 64u << 10;

class Peer;

// What every connection of a cell shares: behind HTTP a session has many connections.
struct Session {
    explicit Session(Cell of, std::string at = {}) : cell(of), origin(std::move(at)) {}
    // What is done about a request: what a good server does, but in the cell's phase.
    Steps answer(const std::string& method, const std::string& id);
    // What is done unasked, in the phases Connect and Idle.
    Steps unasked(Phase phase);
    bool misbehaves_in(Phase phase) const { return cell.phase == phase; }

    const Cell cell;
    const std::string origin;
    bool idle_done = false;
    Peer* stream = nullptr;  // sse: the one that carries what the server says
};

class Framing {
public:
    virtual ~Framing() = default;
    virtual void opened(Peer&) {}
    // Takes whole requests from the front of what was received, and answers them.
    virtual void received(Peer& peer, std::string& bytes) = 0;
    virtual std::string frame(const std::string& message) = 0;
    virtual std::string half(const std::string& message) = 0;
    // The beginning of a frame without end, and each piece of it.
    virtual std::string endless(const std::string& begin) = 0;
    virtual std::string piece() = 0;
};

class Peer {
public:
    // Gives the session of a cell by name; null: there is none.
    using Find = std::function<Session*(const std::string& cell)>;
    Peer(int in, int out, std::unique_ptr<Framing> framing, Find find);
    ~Peer();
    Peer(const Peer&) = delete;

    // ---- for the loop that watches the descriptors
    bool wants_to_read() const { return !deaf_; }
    bool wants_to_write() const { return sent_ < sending_.size() || !output_.empty(); }
    bool over() const { return over_; }
    void readable();
    void writable();
    void close_now() { over_ = true; }  // nobody is there any more

    // ---- for framings
    void perform(const Steps& steps);
    void write(std::string bytes);
    void flood(std::function<std::string()> next);  // until it gives nothing
    void mute() { muted_ = true; }                  // not another byte after what waits
    void close();                                   // after what waits
    Session* find(const std::string& cell) { return find_(cell); }
    Session* session = nullptr;
    const int in, out;

private:
    struct Output {
        std::string bytes;
        std::function<std::string()> next;
    };
    bool fill();

    std::unique_ptr<Framing> framing_;
    const Find find_;
    std::string received_, sending_;
    std::size_t sent_ = 0;
    std::deque<Output> output_;
    bool muted_ = false, deaf_ = false, closing_ = false, over_ = false;
};

std::unique_ptr<Framing> make_framing(Transport transport);

}  // namespace patchbay::hostile
