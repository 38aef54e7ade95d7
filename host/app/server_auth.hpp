// Which auth method a server uses, with which settings: `auth`, `oauth`, or, for a server behind a
// URL that says nothing, oauth when it asks for it.
//
// Owns:    nothing. Borrows all it is given. Threads: [loop].
// Errors:  Invalid and NotFound, in the words of the configuration.
// Source:  config/README.md.
#pragma once

#include "auth/secret_store.hpp"
#include "config/load.hpp"
#include "connection/context.hpp"
#include "core/spelling.hpp"
#include "plugin/loading/catalogue.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {

class ServerAuth final : public connection::CredentialSource {
public:
    ServerAuth(const config::Config& config, plugin::Catalogue& plugins,
               const auth::SecretStore& secrets, const config::Environment& environment)
        : config_(config), plugins_(plugins), secrets_(secrets), environment_(environment) {}

    std::optional<connection::AuthChoice> choice(const config::Server& server) const override;
    void prepare(const connection::AuthMethod& method, connection::Prepared ready) override;
    // `method`: with its settings expanded.
    Result<std::unique_ptr<plugin::Authenticator>> authenticator(
        const config::Server& server, const connection::AuthMethod& method,
        std::shared_ptr<plugin::Signer> signer, plugin::AuthenticatorEvents& events) override;
    std::optional<std::string> variable(const std::string& name) const override;

    // Its method with the settings as they are written, of the transport's too.
    Result<connection::AuthMethod> method_of(const config::Server& server) const;
    // Of a server that is given its credentials: where they are set, since nobody can sign in to it.
    // Empty: somebody may.
    std::string why_no_sign_in(const config::Server& server) const;
    // `server` as the file sees it that its [auth.*] table is written in: what may be expanded there,
    // and the program that was approved with it.
    config::Server spoken_by_its_table(const config::Server& server) const;
    // Invalid, NotFound: the method that such a table names.
    Result<std::string> method_named_by(const boost::json::object& table) const;
    // Servers of `config` whose sign-in cannot work as it is written are errors and leave it; such
    // a table that no server uses is a warning. What waits for `${...}` is judged when the server is
    // connected. Names are offered as long as `hints` lasts.
    void check(config::Config& config, core::Effort& hints) const;

private:
    using Method = connection::AuthMethod;
    Result<Method> method_of(const config::Config& config, const config::Server& server,
                             core::Effort& hints) const;
    Result<Method> method_of_table(const boost::json::object& table) const;
    Result<void> judge_as_written(const Result<Method>& method) const;
    // Judges settings by the method's schema.
    Result<void> judge(const Method& method, const boost::json::object& settings) const;
    Result<boost::json::value> schema_of(const std::string& method) const;
    bool is_stored(const std::string& server) const;

    const config::Config& config_;
    plugin::Catalogue& plugins_;
    const auth::SecretStore& secrets_;
    const config::Environment& environment_;
    mutable std::optional<std::set<std::string>> stored_;  // read once
};

config::SettingsValidator compile_schema(const boost::json::value& schema);

}  // namespace patchbay::app
