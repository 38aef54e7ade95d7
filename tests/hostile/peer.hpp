// One connection of a hostile server: what was read, what is still to be written, and the framing
// that turns steps into bytes and bytes into requests. Knows no sockets but its two descriptors.
//
// Owns:    its framing and what waits to be written; the descriptors are its maker's.
// Threads: one.
// Limits:  what a flood writes is made as it is read: kFill bytes at a time.
#pragma once

#include "hostile/misbehaviour.hpp"

#include <atomic>
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
    // The same for the GET that takes the stream of an answer up again.
    Steps resumed() { return cell.row->act(asked("GET", "1")); }
    // What is done unasked, in the phases Connect and Idle: there once, or on each stream anew.
    enum class Times { Once, Always };
    Steps unasked(Phase phase, Times times = Times::Once);
    bool misbehaves_in(Phase phase) const { return cell.phase == phase; }

    const Cell cell;
    const std::string origin;
    std::string accept;  // ws: what the key of the handshake asks for
    bool idle_done = false;
    bool deaf = false;  // answers nothing that comes from now on, over whatever connection
    // Requests and connections, and those of a tool. The drill reads what the server counts.
    std::atomic<std::size_t> visits{0}, calls{0};
    std::function<void()> on_call = [] {};  // before anything is done about it
    Peer* stream = nullptr;                 // sse: the one that carries what the server says

private:
    Asked asked(const std::string& method, const std::string& id);
    std::size_t misbehaved_ = 0;
};

class Framing {
public:
    virtual ~Framing() = default;
    virtual void opened(Peer&) {}
    // Takes whole requests from the front of what was received, and answers them.
    virtual void received(Peer& peer, std::string& bytes) = 0;
    std::string frame(const std::string& message) const {
        return bare_ ? Framing::framed(message) : framed(message);
    }
    std::string half(const std::string& message) const {
        const auto whole = frame(message);
        return whole.substr(0, whole.size() / 2);
    }
    // The beginning of a frame without end, and each piece of it.
    std::string endless(const std::string& begin) const {
        return bare_ ? begin : first_part(begin);
    }
    std::string piece() const {
        const std::string text(kFill, 'x');
        return bare_ ? text : next_part(text);
    }

protected:
    // Of lines, unless the transport has other frames.
    virtual std::string framed(const std::string& message) const { return message + "\n"; }
    virtual std::string first_part(const std::string& begin) const { return begin; }
    virtual std::string next_part(const std::string& text) const { return text; }
    bool bare_ = false;  // in no frame: the transport is not set up
};

class Peer {
public:
    // Gives the session of a cell by name; null: there is none.
    using Find = std::function<Session*(const std::string& cell)>;
    Peer(int in, int out, std::unique_ptr<Framing> framing, Find find);
    ~Peer();
    Peer(const Peer&) = delete;

    // ---- for the loop that watches the descriptors
    bool wants_to_read() const { return !shut_ && !(session && session->deaf); }
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
    void then(std::function<void()> act);           // after what waits is written
    void shut(int how);                             // SHUT_RD or SHUT_WR; the other direction stays
    void reset();  // a socket: nothing that waits in it is delivered
    Session* find(const std::string& cell) { return find_(cell); }
    Session* session = nullptr;
    const int in, out;

private:
    struct Output {
        std::string bytes;
        std::function<std::string()> next;
        std::function<void()> act = {};
    };
    bool fill();

    std::unique_ptr<Framing> framing_;
    const Find find_;
    std::string received_, sending_;
    std::size_t sent_ = 0;
    std::deque<Output> output_;
    bool muted_ = false, shut_ = false, closing_ = false, over_ = false;
};

std::unique_ptr<Framing> make_framing(Transport transport);

}  // namespace patchbay::hostile
