// What auth plugins may ask of the host: a person's consent, and a safe place for what a sign-in
// left. This room declares it and carries the calls over the C ABI; room `auth` does it.
//
// Threads: [loop], except where it says [any].
#pragma once

#include "core/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace patchbay::plugin {

class Consent {
public:
    // A listening socket on the loopback interface, and the redirect URI that leads to it.
    struct Reserved {
        int socket = -1;
        std::string redirect_uri;
    };
    using Answer = std::function<void(Result<std::string> query)>;

    virtual ~Consent() = default;
    // `port` 0: any. The socket is the caller's to close. [any]
    virtual Result<Reserved> reserve(unsigned port) = 0;
    // Shows `url` to the person who uses `server`; the answer is the redirect's query string, and
    // comes once, unless it is withdrawn. Takes the socket over. Never 0.
    virtual std::uint64_t authorize(const std::string& server, Reserved reserved,
                                    const std::string& url, Answer answer) = 0;
    virtual void withdraw(std::uint64_t id) = 0;
};

class Secrets {
public:
    using Got = std::function<void(Result<std::string> record)>;
    using Done = std::function<void(Result<void>)>;

    virtual ~Secrets() = default;
    // The record that `plugin` put for `server`, a JSON object; empty: none.
    virtual void get(const std::string& plugin, const std::string& server, Got got) = 0;
    // On disk when `done` says so. An empty record erases.
    virtual void put(const std::string& plugin, const std::string& server,
                     const std::string& record, Done done) = 0;
    // One holder for a server among all threads and processes of this user. `done` comes later,
    // unless it is unlocked before. Never 0.
    virtual std::uint64_t lock(const std::string& server, std::chrono::milliseconds limit,
                               Done done) = 0;
    virtual void unlock(std::uint64_t id) = 0;
};

// Null: not offered, plugins are answered UNSUPPORTED.
struct SignIn {
    Consent* consent = nullptr;
    Secrets* secrets = nullptr;
};

}  // namespace patchbay::plugin
