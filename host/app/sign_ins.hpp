// Signing in to a server by its id, and out of it; and who is signed in where.
//
// Owns:    the one sign-in under way. Borrows all it is given. Threads: [loop].
// Errors:  name the server; of one that is not configured also the nearest.
#pragma once

#include "app/expander.hpp"
#include "app/login.hpp"
#include "app/server_auth.hpp"

#include <functional>
#include <string>
#include <vector>

namespace patchbay::app {

class SignIns {
public:
    using Done = OneSignIn::Done;
    using Warn = std::function<void(const std::string&)>;  // tells the person

    SignIns(core::Loop& loop, const config::Config& config, plugin::Catalogue& plugins,
            ServerAuth& server_auth, auth::SecretStore& secrets, Expander& expander, Warn warn)
        : loop_(loop),
          config_(config),
          plugins_(plugins),
          server_auth_(server_auth),
          secrets_(secrets),
          expander_(expander),
          warn_(std::move(warn)),
          signing_(loop) {}

    // Whatever is stored.
    void sign_in(const std::string& server, const std::string& scope, Done done);
    void sign_out(const std::string& server, Done done);
    void cancel() { signing_.cancel(); }
    // Of the sign-in that went well last: the server answers without credentials.
    bool was_needless() const { return signing_.was_needless(); }
    // What is stored, sorted by server; also of servers that are not configured any more.
    Result<std::vector<Login>> list() const;
    // A login of this server was stored by this process.
    bool has_stored(const std::string& server) const { return secrets_.has_put(server); }

private:
    using Begin = std::function<void(OneSignIn::Make make, const std::string& url)>;

    const config::Server* server(const std::string& id) const;      // null: not configured
    const config::Proposal* proposal(const std::string& id) const;  // null: none is waiting
    void tell_unknown(const std::string& id, const Done& done) const;
    // With everything expanded for `server`, begins; or `done` hears why not.
    void with_method(const config::Server& server, Done done, Begin then);

    core::Loop& loop_;
    const config::Config& config_;
    plugin::Catalogue& plugins_;
    ServerAuth& server_auth_;
    auth::SecretStore& secrets_;
    Expander& expander_;
    const Warn warn_;
    OneSignIn signing_;
};

}  // namespace patchbay::app
