// Poco's client session on a connection that is there, for what needs the library's own streams
// (WebSocket). Its calls block, but not for ever: a limit is set per step.
//
// Threads: one at a time.
// Errors:  Poco's exceptions.
// Limits:  a read ends at the limit, plus a second for every 16 KiB.
#pragma once

#include "net/dial.hpp"

#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/StreamSocketImpl.h>

#include <array>
#include <chrono>

namespace patchbay::net {

using Clock = std::chrono::steady_clock;

// A socket, plain or TLS, whose reads end at a limit however slowly the bytes drip.
class GuardedSocketImpl : public Poco::Net::StreamSocketImpl {
public:
    explicit GuardedSocketImpl(const Poco::Net::StreamSocket& inner);

    int receiveBytes(void* buffer, int length, int flags) override;
    int sendBytes(const void* buffer, int length, int flags) override;
    int available() override;
    void close() override;
    void limit(Clock::time_point limit) { limit_ = limit; }
    bool secure() const override { return inner_.secure(); }

    // Byte by byte, however many are asked for: nothing is read ahead of what is looked at.
    void read_singly(bool singly) { singly_ = singly; }
    // The first bytes that were read since begin_frame(), and how many of them there were.
    using Beginning = std::array<unsigned char, 10>;
    void begin_frame() { beginning_ = {}, seen_ = 0; }
    const Beginning& beginning() const { return beginning_; }
    std::size_t seen() const { return seen_; }

protected:
    ~GuardedSocketImpl() override;

private:
    int receive_some(void* buffer, int length, int flags);
    int receive_secure(void* buffer, int length, int flags);

    Poco::Net::StreamSocket inner_;
    Clock::time_point limit_ = Clock::time_point::max();
    Beginning beginning_{};
    std::size_t seen_ = 0;
    bool singly_ = false;
};

// Never connects by itself: what it is given is all it has.
class BlockingSession : public Poco::Net::HTTPClientSession {
public:
    explicit BlockingSession(const Dialed& dialed);

    GuardedSocketImpl& guard() { return *guard_; }
    void limit(std::chrono::seconds time);  // 0: none
    // Bytes are there, or the end.
    bool readable() const;

protected:
    void connect(const Poco::Net::SocketAddress&) override;

private:
    BlockingSession(const Dialed& dialed, GuardedSocketImpl* guard);
    GuardedSocketImpl* const guard_;  // the session's socket's
};

}  // namespace patchbay::net
