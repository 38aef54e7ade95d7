// The GET stream of a session of the legacy era: what the server says without being asked. It is opened
// again when it ends, from the event that came last. Private to the plugin.
//
// Owns:    the request that carries it. Borrows the transport.
// Threads: inside a turn of the core.
// Errors:  a challenge, where the host can do something about it; else the server has no such stream.
// Source:  MCP 2025-11-25 basic/transports, "Listening for Messages from the Server".
#pragma once

#include "net/pace.hpp"
#include "net/refusal.hpp"
#include "net/task.hpp"
#include "retry.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::http {

class HttpTransport;

class SessionStream {
public:
    explicit SessionStream(HttpTransport& transport) : transport_(transport) {}

    // Unless it is there, or on its way.
    void open(std::chrono::milliseconds delay = {});
    // What comes is of another session.
    void restart();
    void close();
    // Other credentials may open what the last ones did not.
    void credentials_changed();

private:
    class Get;
    // When the next GET goes out after one that ended; nothing: there will be none.
    std::optional<std::chrono::milliseconds> pause_after(const Get& ended,
                                                         const net::Trouble* trouble);
    // What the refusal means. True: the stream may be there later.
    bool comes_back(net::Refusal& refusal, std::string_view session);

    HttpTransport& transport_;
    std::shared_ptr<Get> current_;
    std::string last_event_;
    long retry_ms_ = -1;  // what the server asked for
    transport::Retry retry_{std::chrono::milliseconds{1000}, std::chrono::seconds{30}};
    net::Pace pace_;
    bool opened_ = false;  // in this session, once
    bool challenged_ = false;
};

}  // namespace patchbay::http
