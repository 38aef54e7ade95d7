// The inside of a Connection, for its own source and for what takes a connection over (WebSocket).
#pragma once

#include "net/body_decoder.hpp"
#include "net/connection.hpp"

#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Net/StreamSocketImpl.h>

#include <optional>

namespace patchbay::net {

// A socket, plain or TLS, whose reads end at a limit however slowly the bytes drip.
class GuardedSocketImpl : public Poco::Net::StreamSocketImpl {
public:
    explicit GuardedSocketImpl(const Poco::Net::StreamSocket& inner);

    int receiveBytes(void* buffer, int length, int flags) override;
    int sendBytes(const void* buffer, int length, int flags) override;
    int available() override;
    void close() override;
    void limit(Clock::time_point limit) { limit_ = limit; }
    bool secure() const { return inner_.secure(); }

protected:
    ~GuardedSocketImpl() override;

private:
    int receive_secure(void* buffer, int length, int flags);
    void extend(std::size_t bytes);

    Poco::Net::StreamSocket inner_;
    Clock::time_point limit_ = Clock::time_point::max();
};

struct GuardedSocket : Poco::Net::StreamSocket {
    explicit GuardedSocket(GuardedSocketImpl* impl) : StreamSocket(impl) {}
};

// Never connects by itself: what it is given is all it has.
class Session : public Poco::Net::HTTPClientSession {
public:
    explicit Session(const Poco::Net::StreamSocket& socket) : HTTPClientSession(socket) {
        setKeepAlive(true);
    }
    using HTTPClientSession::buffered;
    using HTTPClientSession::read;

protected:
    void connect(const Poco::Net::SocketAddress&) override {
        throw Poco::Net::ConnectionAbortedException("the connection is closed");
    }
};

struct Connection::Impl {
    explicit Impl(const Poco::Net::StreamSocket& socket)
        : guard(new GuardedSocketImpl(socket)),
          session(GuardedSocket(guard)),
          secure(guard->secure()) {}

    void limit(std::chrono::seconds time) {
        guard->limit(time.count() == 0 ? Clock::time_point::max() : Clock::now() + time);
    }

    GuardedSocketImpl* guard;  // the session's socket's
    Session session;
    const bool secure;
    std::optional<Proxy> proxy;          // requests name the whole URL then
    std::optional<BodyDecoder> decoder;  // of the answer in progress
    bool keeps = false;
};

}  // namespace patchbay::net
