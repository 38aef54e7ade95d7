// The connections of one server, and which of them each caller has.
//
// Owns:    the connections; those that are to go are handed to the Departures. Borrows the context and
//          those, which must outlive it.
// Threads: [loop]. What a connection that goes ends may call back into the pool.
// Limits:  core::Limits connections_per_server, with those that still close; config::Server
//          idle_timeout of a shared one that nobody holds.
// Source:  decisions/0022-whose-a-connection-is.md, decisions/0029-whose-era-it-is.md.
#pragma once

#include "connection/connection.hpp"
#include "connection/departures.hpp"
#include "connection/tenure.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace patchbay::connection {

class ServerConnections {
public:
    static constexpr std::chrono::seconds kRestartPause{5};  // of one connection
    // Connections that close while others have taken their places, beyond connections_per_server.
    static constexpr std::size_t kMostMakingRoom = 8;

    ServerConnections(const Context& context, registry::ServerSpec spec, Departures& departures);
    ServerConnections(const ServerConnections&) = delete;

    // The connection that the caller has from now on, connected or not. Good until the caller goes or
    // the next ConnectionPool::apply(). It prefers the caller's era, or there is nothing to gain by
    // one that does, or no room for it. Where there are too many, one that its holder has not used makes room, and the
    // holder has another one when it comes for it. Limit: there is none.
    Result<std::reference_wrapper<Connection>> lease(const Caller& caller);
    // The connection that the caller has is closed at once, its calls end with it, and whoever held it
    // has another one, which is connecting. Limit: that has happened within kRestartPause.
    Result<void> restart(const Caller& caller);
    Connection* held_by(CallerNumber caller) const;  // null: it has none
    // One that is ready and has listed its tools to the end; null: there is none.
    const Connection* listed() const;
    Status status() const;
    State state() const;  // that of status(), for much less
    std::vector<Connection*> all() const;
    const registry::ServerSpec& spec() const { return spec_; }

    // The pool's own.
    void begin();                              // a spare, where one is to be kept from the start
    void amend(registry::ServerSpec spec);     // an equal one
    void redefine(registry::ServerSpec spec);  // those in use are opened again
    void release(CallerNumber caller);         // it goes
    void retire_all();                         // the server goes
    void refuse_more() { closing_ = true; }    // the host goes

private:
    struct Slot {
        Slot(core::Loop& loop, Tenure as) : tenure(as), idle(loop) {}
        std::unique_ptr<Connection> connection;
        Tenure tenure;
        core::Timer idle;                                    // while nobody holds it
        std::optional<core::Clock::time_point> restarted{};  // that it came by
    };
    const Slot* best() const;  // null: there is none

    bool is_shared() const;
    bool keeps_spare() const;
    Slot* find(Tenure::Use use) const;
    // The one that the caller is to have; null: none that is there.
    Slot* find_for(const Caller& caller) const;
    bool may_be_leased(const Slot& slot) const;
    bool serves(const Slot& slot, protocol::Era era) const;
    bool serves(const Slot& slot, const Manner& manner) const;
    Manner manner_for(const Caller& caller) const;
    bool is_one_too_many(const Slot& slot) const;
    std::optional<Error> why_no_more() const;
    bool take_unused();
    Slot& open(Manner manner);
    void ensure_spare();
    void begin_idle(Slot& slot);
    void retire(const Connection* connection);
    // In place of that connection, with what it has wished there. False: it has gone, or there is no room.
    bool lease_anew(CallerNumber holder, const Connection& former);

    const Context& context_;
    registry::ServerSpec spec_;
    std::shared_ptr<Starts> starts_ = std::make_shared<Starts>();  // of that definition
    Departures& departures_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::unordered_map<CallerNumber, Slot*> leases_;
    Manner spare_manner_;  // of the caller that came last
    bool closing_ = false;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
