// Waits on a loopback socket for the one redirect that ends a sign-in in a browser, and answers it
// with a page that says so. Everything else that connects is turned away: any page and any program
// of this machine can come here, so a redirect counts only if it knows what the sign-in began with.
//
// Owns:    the socket and its connections. Threads: [loop].
// Errors:  none: what makes no sense gets a 4xx, and the listener goes on waiting.
// Limits:  kMostConnections at once, kMostHeadBytes and kPatience for each.
// Source:  RFC 8252 section 7.3. The door to Boost.Beast, which parses the request.
#pragma once

#include "core/loop.hpp"
#include "core/result.hpp"
#include "core/watch.hpp"

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace patchbay::auth {

// A listening socket on 127.0.0.1; `port` 0: any. [any]
Result<int> listen_on_loopback(unsigned port);
// http://127.0.0.1:PORT/callback of such a socket. [any]
std::string redirect_uri_of(int socket);

class RedirectListener {
public:
    static constexpr std::size_t kMostConnections = 8;

    // With a connection that has not asked yet.
    static constexpr std::chrono::seconds kPatience{10};

    // An authorization server may put a long error_description into the redirect's address.
    static constexpr std::size_t kMostHeadBytes = 256u << 10;

    // True: this query ends the sign-in. False: it is a stranger's, and the listener goes on.
    using Fits = std::function<bool(const std::string& query)>;
    // Takes `socket` over. `came` is called once, with a query string that fits, never from inside
    // here.
    RedirectListener(core::Loop& loop, int socket, Fits fits,
                     std::function<void(std::string query)> came,
                     std::chrono::milliseconds patience = kPatience);
    ~RedirectListener();
    RedirectListener(const RedirectListener&) = delete;

private:
    struct Peer;

    void accept();
    void readable(Peer& peer);
    void answer(Peer& peer);
    void reply(Peer& peer, const std::string& text);
    void drop(Peer& peer);

    core::Loop& loop_;
    const int socket_;
    const std::string authority_;  // 127.0.0.1:PORT
    Fits fits_;
    std::function<void(std::string)> came_;
    const std::chrono::milliseconds patience_;
    core::Watch watch_{loop_};
    std::list<std::unique_ptr<Peer>> peers_;
};

}  // namespace patchbay::auth
