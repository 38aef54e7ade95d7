// What reaches a server or its auth method: settings with `${...}` in them replaced by values, which
// are masked in every output from then on.
//
// Owns:    the threads that wait for secrets in files and programs; what is masked, by server, until
//          its next expansion.
// Threads: [loop]; the threads of its own see copies alone.
// Errors:  those of config::expand and expand_auth; that of the auth method does not keep the server's
//          own settings back.
#pragma once

#include "app/server_auth.hpp"
#include "config/load.hpp"
#include "connection/context.hpp"
#include "core/loop.hpp"
#include "core/secrets.hpp"
#include "core/worker.hpp"

#include <functional>
#include <map>
#include <string>

namespace patchbay::app {

class Expander final : public connection::SettingsExpander {
public:
    // All three outlive it.
    Expander(core::Loop& loop, const config::Environment& environment, const ServerAuth& auth);

    // With the auth method that the server signs in with, when it does.
    void expand(const config::Server& server, Then then) override;
    // At once, or later where a file or a program has to be waited for. `method`: how `server` is
    // signed in to, as it is written.
    void expand(const config::Server& server, const Result<connection::AuthMethod>& method,
                Then then);

private:
    const config::Environment& environment_;
    const ServerAuth& auth_;
    std::map<std::string, core::Secrets> masked_;
    core::Worker waiting_;  // the last member: its end waits for what runs there
};

}  // namespace patchbay::app
