// The servers that a user knows of, and why there is none of a name: what every operation of this
// room stands on.
//
// Borrows everything it is made of, which must outlive it. Threads: [loop].
// Errors:  those it makes say where the server is turned off or broken, or name the nearest.
#pragma once

#include "config/config.hpp"
#include "connection/connection_pool.hpp"
#include "policy/unmatched_rules.hpp"
#include "router/router.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::service {

// Raw names of the tools of those servers whose list is known and whole.
policy::KnownTools listed_tools(connection::ConnectionPool& pool);
// Those, and of servers that have listed nothing by now what an earlier host was told.
policy::KnownTools known_tools(connection::ConnectionPool& pool,
                               const catalogue::Catalogue& catalogue);

// Behind what was not found: `; FILE is exclusive, so no other file counts`, `; FILE: not read, since
// ...`, or nothing.
std::string passed_over(const config::Config& config);
// That `name` is what a file calls a server whose id is another; nothing: it is not.
std::optional<Error> called_otherwise(const config::Config& config, const std::string& name);

class Servers {
public:
    // `catalogue`: where what servers list besides tools is kept; null: nowhere. `folder`: in which programs are run
    // that name none.
    Servers(const config::Config& config, connection::ConnectionPool& connections,
            router::Router& router, catalogue::Catalogue* catalogue = nullptr,
            std::string folder = {})
        : config_(config),
          connections_(connections),
          router_(router),
          catalogue_(catalogue),
          folder_(std::move(folder)) {}

    const config::Config& config() const { return config_; }
    connection::ConnectionPool& connections() const { return connections_; }
    router::Router& router() const { return router_; }
    catalogue::Catalogue* catalogue() const { return catalogue_; }
    // Of what that server lists besides tools.
    catalogue::Origin origin_of(const registry::ServerSpec& spec) const;

    // Of all that are configured, disabled and broken ones included, sorted by id.
    std::vector<connection::Status> statuses() const;
    // Rules of the configuration that match no tool, as far as servers have listed theirs.
    std::vector<config::Diagnostic> rule_warnings() const;

    // Whether there is such a server to use; true of the empty name, which stands for all.
    bool has(std::string_view server) const;
    // Why there is no such server: out of order, disabled, or not there; names the others.
    Error no_such_server(const std::string& server) const;
    // That no server at all can be asked: none is configured, or in which states they are. Invalid
    // where the configuration has something wrong.
    Error nobody_to_ask() const;
    // `error`, or Invalid where what was not found may be in what the configuration has wrong.
    // `server`: whose it would be; empty: nobody knows.
    Error missing(Error error, std::string_view server) const;
    // Whether the configuration has an error about `server`, about anything when that is empty.
    bool misconfigured(std::string_view server = {}) const;

private:
    const config::Config& config_;
    connection::ConnectionPool& connections_;
    router::Router& router_;
    catalogue::Catalogue* const catalogue_;
    const std::string folder_;
};

}  // namespace patchbay::service
